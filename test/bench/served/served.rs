// SPDX-License-Identifier: Apache-2.0
//! The HTTP server of test/targets/rich, with dial9's own recorder inside or not: what is measured
//! beside dial9-agent (peers.sh).
//!   served plain|dial9|traced [DIR]
//! plain: no recorder runs. dial9: it records this runtime with its defaults into DIR; tasks are
//! spawned by tokio::spawn, so it has no wakes. traced: they are spawned by dial9's own spawn.
//! Says "listening PORT"; runs until a signal kills it.

#[path = "../../targets/rich/http.rs"]
mod http;

use dial9_tokio_telemetry::telemetry::{
    recorder, Dial9HandleTokioExt, DiskBuffer, TokioAttachOptions,
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::runtime::Builder;

const DISK_SZ: u64 = 1024 << 20; // DIAL9_MAX_DISK_USAGE_MB

static IS_TRACED: AtomicBool = AtomicBool::new(false);

pub fn stopped() -> bool {
    false
}

#[derive(Clone, Copy)]
pub struct Slice;

impl Slice {
    pub fn is_over(&self) -> bool {
        false
    }
}

/// What the server calls for its tasks: those of rich log every task, these do not.
mod calls {
    use super::{Relaxed, IS_TRACED};
    use std::future::{poll_fn, Future};
    use std::pin::pin;
    use std::task::Poll;
    use tokio::task::JoinHandle;

    pub struct Job<T> {
        pub handle: JoinHandle<T>,
    }

    impl<T> Job<T> {
        pub async fn join(self) -> Option<T> {
            self.handle.await.ok()
        }
    }

    pub fn spawn<F>(_label: &'static str, future: F) -> Job<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let handle = match IS_TRACED.load(Relaxed) {
            true => dial9_tokio_telemetry::spawn(future),
            false => tokio::spawn(future),
        };
        Job { handle }
    }

    pub fn spawn_blocking<R: Send + 'static>(
        _label: &'static str,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Job<R> {
        Job { handle: tokio::task::spawn_blocking(work) }
    }

    pub async fn unless<A: Future, B: Future>(first: A, second: B) -> Option<A::Output> {
        let (mut first, mut second) = (pin!(first), pin!(second));
        poll_fn(move |cx| {
            if let Poll::Ready(out) = first.as_mut().poll(cx) {
                return Poll::Ready(Some(out));
            }
            second.as_mut().poll(cx).map(|_| None)
        })
        .await
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().worker_threads(2);
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["plain"] => builder.build().expect("runtime").block_on(http::serve(Slice, 0)),
        [how @ ("dial9" | "traced"), dir] => {
            IS_TRACED.store(how == "traced", Relaxed);
            let buffer = DiskBuffer::builder().base_path(dir).max_total_size(DISK_SZ).build();
            let recorder = recorder(buffer.expect("trace directory")).build();
            // task tracking: on, as in its environment's defaults (DIAL9_TASK_TRACKING_ENABLED)
            let options = TokioAttachOptions::builder().task_tracking_enabled(true).build();
            let rt = recorder.handle().attach_tokio_runtime(builder, options).expect("runtime");
            rt.block_on(http::serve(Slice, 0))
        }
        _ => {
            eprintln!("usage: served plain | dial9 DIR | traced DIR");
            std::process::exit(2)
        }
    }
}
