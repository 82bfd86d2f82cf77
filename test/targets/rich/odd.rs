// SPDX-License-Identifier: Apache-2.0
//! The awkward behaviours: aborts, panics, blocking inside polls, polls inside polls.

use crate::calls::{hooked, spawn, spawn_blocking, spawn_in, spawn_local, Job};
use crate::truth::{aborting, Spot, Victim};
use crate::Slice;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::task::{block_in_place, JoinSet, LocalSet};
use tokio::time::sleep;

/// Never ready, never woken; notes where it was polled.
struct Stuck(Arc<Spot>);

impl Future for Stuck {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0.mark();
        Poll::Pending
    }
}

/// Stays inside its first poll until released, then is never ready.
struct Spinner {
    spot: Arc<Spot>,
    release: Arc<AtomicBool>,
}

impl Future for Spinner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.spot.mark();
        while !self.release.load(SeqCst) {
            std::hint::spin_loop();
        }
        Poll::Pending
    }
}

async fn settled(spots: &[Arc<Spot>]) {
    while !spots.iter().all(|spot| spot.is_over()) {
        sleep(Duration::from_micros(500)).await;
    }
}

/// Aborts of tasks that are idle, inside a poll, and not yet polled; each state is certain, so
/// that the recorder's poll count is too.
pub async fn abort(slice: Slice) {
    while !slice.is_over() {
        let spots: Vec<Arc<Spot>> = (0..4).map(|_| Arc::default()).collect();
        let stuck: Vec<Job<()>> =
            spots.iter().map(|spot| spawn("abort-idle", Stuck(spot.clone()))).collect();
        settled(&spots).await;
        stuck.iter().for_each(|job| job.abort(Victim::Idle));

        let (spot, release) = (Arc::new(Spot::default()), Arc::new(AtomicBool::new(false)));
        let busy =
            spawn("abort-running", Spinner { spot: spot.clone(), release: release.clone() });
        while !spot.is_marked() {
            sleep(Duration::from_micros(200)).await;
        }
        busy.abort(Victim::Running);
        release.store(true, SeqCst);

        let release = Arc::new(AtomicBool::new(false));
        let fresh = spawn("abort-fresh", Spinner { spot, release: release.clone() });
        fresh.abort(Victim::Fresh);
        release.store(true, SeqCst);

        let queued = spawn_blocking("abort-blocking", || ());
        queued.abort(Victim::Fresh);
        queued.join().await;

        for job in stuck.into_iter().chain([busy, fresh]) {
            job.join().await;
        }
        joinset_abort().await;
    }
}

/// abort_all of idle tasks of a JoinSet.
async fn joinset_abort() {
    let mut set = JoinSet::new();
    let spots: Vec<Arc<Spot>> = (0..4).map(|_| Arc::default()).collect();
    let tasks: Vec<u64> = spots
        .iter()
        .map(|spot| spawn_in(&mut set, "joinset-abort", Stuck(spot.clone())).0)
        .collect();
    settled(&spots).await;
    for idx in tasks {
        // one record each; the call that aborts them is the next one
        aborting(idx, Victim::Idle, || ());
    }
    set.abort_all();
    while set.join_next().await.is_some() {}
}

/// `count` panics, one after another, each caught by Tokio; 0 = until the slice ends.
pub async fn panics(slice: Slice, count: u64, say: bool) {
    if cfg!(panic = "abort") {
        return;
    }
    let mut n = 0;
    while (count == 0 && !slice.is_over()) || n < count {
        let job = spawn("panic", async move {
            tokio::task::yield_now().await;
            if n < u64::MAX {
                panic!("task panic {n}");
            }
        });
        let err = job.handle.await.expect_err("the task panics");
        if say {
            println!("caught: is_panic={} is_cancelled={}", err.is_panic(), err.is_cancelled());
        }
        n += 1;
        sleep(Duration::from_millis(1)).await;
    }
}

/// The main future panics while tasks run.
pub async fn panic_exit(slice: Slice) {
    for _ in 0..4 {
        spawn("panic-exit", async move {
            while !slice.is_over() {
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
    while !slice.is_over() {
        sleep(Duration::from_millis(1)).await;
    }
    panic!("the main future panics");
}

pub async fn in_place(slice: Slice) {
    let mut jobs = Vec::new();
    for i in 0..2u64 {
        jobs.push(spawn("block_in_place", async move {
            while !slice.is_over() {
                block_in_place(|| std::thread::sleep(Duration::from_millis(2 + i)));
                sleep(Duration::from_millis(1)).await;
            }
        }));
    }
    for job in jobs {
        job.join().await;
    }
}

/// The mistake the recorder is to find: a blocking call inside a poll.
pub async fn sleep_in_poll(slice: Slice) {
    let neighbour = spawn("poll-neighbour", async move {
        while !slice.is_over() {
            sleep(Duration::from_millis(1)).await;
        }
    });
    let sinner = spawn("sleep-in-poll", async move {
        while !slice.is_over() {
            std::thread::sleep(Duration::from_millis(20));
            sleep(Duration::from_millis(5)).await;
        }
    });
    sinner.join().await;
    neighbour.join().await;
}

/// A std Mutex held for 3 ms inside polls of several tasks.
pub async fn lock(slice: Slice) {
    let shared = Arc::new(Mutex::new(0u64));
    let mut jobs = Vec::new();
    for _ in 0..3 {
        let shared = shared.clone();
        jobs.push(spawn("lock", async move {
            while !slice.is_over() {
                {
                    let mut sum = shared.lock().unwrap();
                    let until = Instant::now() + Duration::from_millis(3);
                    while Instant::now() < until {
                        *sum += 1;
                    }
                }
                sleep(Duration::from_micros(500)).await;
            }
        }));
    }
    for job in jobs {
        job.join().await;
    }
}

/// Polls inside a poll: block_in_place, and in it a LocalSet, then a whole other runtime. The
/// LocalSet's tasks do not yield: there, some Tokio versions (1.32.1) hand the deferred wake to
/// the worker that waits for this very poll, and hang.
pub async fn nested(slice: Slice) {
    let job = spawn("nested-outer", async move {
        while !slice.is_over() {
            block_in_place(|| {
                Handle::current().block_on(LocalSet::new().run_until(async {
                    let first = spawn_local("nested-local", async {
                        sleep(Duration::from_micros(100)).await;
                        sleep(Duration::from_micros(200)).await;
                    });
                    let second = spawn("nested-sibling", sleep(Duration::from_micros(50)));
                    first.join().await;
                    second.join().await;
                }));
                let inner = hooked(Builder::new_current_thread()).build().expect("runtime");
                inner.block_on(async {
                    let job = spawn("nested-runtime", async {
                        tokio::task::yield_now().await;
                        sleep(Duration::from_micros(200)).await;
                    });
                    job.join().await;
                });
            });
            sleep(Duration::from_millis(1)).await;
        }
    });
    job.join().await;
}
