// SPDX-License-Identifier: Apache-2.0
//! Tokio inside a shared object, for a foreign program to load (`load.py`): the runtime, its
//! tasks and its thread-local storage all live in the library, none of it in the executable.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering::*};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

static POLLS: AtomicI32 = AtomicI32::new(0);

struct Counted<F>(Pin<Box<F>>);

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        POLLS.fetch_add(1, Relaxed);
        self.0.as_mut().poll(cx)
    }
}

fn spawn<F>(future: F) -> JoinHandle<u64>
where
    F: Future<Output = u64> + Send + 'static,
{
    tokio::spawn(Counted(Box::pin(future)))
}

/// Runs a multi_thread runtime of two workers for `secs` seconds: one message pair and eight
/// timer tasks, all ended by themselves. Returns the number of polls its tasks had in this call,
/// which is what a recorder attached before it must count, or -1 when no runtime can be made.
#[no_mangle]
pub extern "C" fn tokio_ext_run(secs: u32) -> i64 {
    let end = Instant::now() + Duration::from_secs(u64::from(secs));
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(rt) = built else { return -1 };
    POLLS.store(0, SeqCst);
    rt.block_on(async move {
        let (tx, mut rx) = mpsc::channel::<u64>(4);
        let receiver = spawn(async move {
            let mut sum = 0u64;
            while let Some(n) = rx.recv().await {
                sum = sum.wrapping_add(n);
            }
            sum
        });
        let sender = spawn(async move {
            let mut n = 0;
            while Instant::now() < end && tx.send(n).await.is_ok() {
                n += 1;
                sleep(Duration::from_millis(1)).await;
            }
            n
        });
        let mut jobs = vec![receiver, sender];
        for i in 0..8 {
            jobs.push(spawn(async move {
                while Instant::now() < end {
                    sleep(Duration::from_millis(2 + i)).await;
                }
                i
            }));
        }
        for job in jobs {
            let _ = job.await;
        }
    });
    drop(rt);
    i64::from(POLLS.load(SeqCst))
}
