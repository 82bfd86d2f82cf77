// SPDX-License-Identifier: Apache-2.0
//! Programs with one known mistake each, and one without: what `dial9-view issues` is held to.

use crate::Slice;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Keeps the CPU for so long, as parsing or hashing would.
fn compute(long: Duration) {
    let until = Instant::now() + long;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Tasks that do nothing wrong: a little work every few milliseconds.
fn well_behaved(slice: Slice, cnt: u64, work: Duration) -> Vec<JoinHandle<()>> {
    (0..cnt)
        .map(|i| {
            tokio::spawn(async move {
                while !slice.is_over() {
                    compute(work);
                    sleep(Duration::from_millis(2 + i % 3)).await;
                }
            })
        })
        .collect()
}

/// A blocking call of 100 ms inside a poll.
fn blocking(slice: Slice) -> Vec<JoinHandle<()>> {
    vec![tokio::spawn(async move {
        while !slice.is_over() {
            std::thread::sleep(Duration::from_millis(100));
            sleep(Duration::from_millis(30)).await;
        }
    })]
}

/// A std Mutex held for 2 ms inside the polls of several tasks: one worker holds it, the other one
/// waits in the kernel, and one CPU is enough for both.
fn convoy(slice: Slice) -> Vec<JoinHandle<()>> {
    let shared = Arc::new(Mutex::new(0u64));
    (0..3)
        .map(|_| {
            let shared = shared.clone();
            tokio::spawn(async move {
                while !slice.is_over() {
                    {
                        let mut sum = shared.lock().expect("no holder panics");
                        compute(Duration::from_millis(2));
                        *sum += 1;
                    }
                    sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect()
}

/// One task that wakes 1,000 others at once, of which one finds something to do.
fn storm(slice: Slice) -> Vec<JoinHandle<()>> {
    let bell = Arc::new(Notify::new());
    let mut jobs: Vec<_> = (0..1000)
        .map(|_| {
            let bell = bell.clone();
            tokio::spawn(async move {
                while !slice.is_over() {
                    bell.notified().await;
                }
            })
        })
        .collect();
    jobs.push(tokio::spawn(async move {
        while !slice.is_over() {
            sleep(Duration::from_millis(25)).await;
            bell.notify_waiters();
        }
        // whoever began to listen behind the last bell
        sleep(Duration::from_millis(100)).await;
        bell.notify_waiters();
    }));
    jobs
}

/// `what`: blocking, convoy, storm, busy (wants much of two CPUs) or healthy.
pub async fn run(what: &str, slice: Slice) {
    let mut jobs = match what {
        "blocking" => blocking(slice),
        "convoy" => convoy(slice),
        "storm" => storm(slice),
        _ => Vec::new(),
    };
    let work = if what == "busy" { 500 } else { 20 };
    jobs.extend(well_behaved(slice, 8, Duration::from_micros(work)));
    for job in jobs {
        job.await.expect("no task here panics");
    }
}
