// SPDX-License-Identifier: Apache-2.0
//! The awkward workloads: aborts, panics, blocking inside polls, polls inside polls.

use crate::{flows_of, Slice};
use dial9_tokio_telemetry::telemetry::JoinSetExt;
use dial9_tokio_telemetry::{spawn, spawn_local};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::{block_in_place, spawn_blocking, yield_now, JoinSet, LocalSet};
use tokio::time::sleep;

/// Aborts of tasks that are idle, in a poll, and not yet polled.
pub async fn abort(slice: Slice) {
    while !slice.is_over() {
        let idle: Vec<_> = (0..4).map(|_| spawn(std::future::pending::<()>())).collect();
        let (inside, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let busy = {
            let (inside, release) = (inside.clone(), release.clone());
            spawn(async move {
                inside.store(true, SeqCst);
                // a bound, should the other worker be away
                let until = Instant::now() + Duration::from_millis(50);
                while !release.load(SeqCst) && Instant::now() < until {
                    std::hint::spin_loop();
                }
                yield_now().await;
            })
        };
        while !inside.load(SeqCst) {
            sleep(Duration::from_micros(200)).await;
        }
        busy.abort();
        release.store(true, SeqCst);
        sleep(Duration::from_millis(2)).await;
        let fresh = spawn(std::future::pending::<()>());
        fresh.abort();
        idle.iter().for_each(|job| job.abort());
        for job in idle.into_iter().chain([busy, fresh]) {
            let _ = job.await;
        }
        let mut set = JoinSet::new();
        for _ in 0..4 {
            set.spawn_traced(std::future::pending::<()>());
        }
        sleep(Duration::from_millis(1)).await;
        set.abort_all();
        while set.join_next().await.is_some() {}
    }
}

pub async fn panics(slice: Slice) {
    while !slice.is_over() {
        let job = spawn(async move {
            yield_now().await;
            if slice.len > Duration::ZERO {
                panic!("as planned");
            }
        });
        let _ = job.await;
        sleep(Duration::from_millis(1)).await;
    }
}

pub async fn blocking(slice: Slice) {
    while !slice.is_over() {
        let waiter = spawn(async {
            let jobs: Vec<_> = (0..6u64)
                .map(|i| spawn_blocking(move || std::thread::sleep(Duration::from_micros(200 * i))))
                .collect();
            for job in jobs {
                let _ = job.await;
            }
        });
        let _ = waiter.await;
    }
}

pub async fn in_place(slice: Slice) {
    let jobs: Vec<_> = (0..2u64)
        .map(|i| {
            spawn(async move {
                while !slice.is_over() {
                    block_in_place(|| std::thread::sleep(Duration::from_millis(2 + i)));
                    sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    let neighbour = spawn(async move {
        while !slice.is_over() {
            sleep(Duration::from_millis(1)).await;
            yield_now().await;
        }
    });
    for job in jobs.into_iter().chain([neighbour]) {
        let _ = job.await;
    }
}

pub async fn sleep_in_poll(slice: Slice) {
    let neighbour = spawn(async move {
        while !slice.is_over() {
            sleep(Duration::from_millis(1)).await;
        }
    });
    let sinner = spawn(async move {
        while !slice.is_over() {
            std::thread::sleep(Duration::from_millis(20));
            sleep(Duration::from_millis(5)).await;
        }
    });
    flows_of::pingpong(slice, 2, 1000.0).await;
    let _ = sinner.await;
    let _ = neighbour.await;
}

/// One poll that sleeps through the whole slice while neighbours go on.
pub async fn long_poll(slice: Slice) {
    let neighbour = spawn(async move {
        while !slice.is_over() {
            sleep(Duration::from_millis(2)).await;
        }
    });
    let inside = Arc::new(AtomicBool::new(false));
    let long = {
        let inside = inside.clone();
        spawn(async move {
            yield_now().await;
            inside.store(true, SeqCst);
            std::thread::sleep(slice.len);
            yield_now().await;
        })
    };
    // only then: what its worker was about to poll next would wait for it, and nobody can steal that
    while !inside.load(SeqCst) {
        sleep(Duration::from_millis(1)).await;
    }
    flows_of::pingpong(slice, 2, 1000.0).await;
    let _ = long.await;
    let _ = neighbour.await;
}

/// A std Mutex held for 2 ms inside polls of several tasks.
pub async fn lock(slice: Slice) {
    let shared = Arc::new(Mutex::new(0u64));
    let jobs: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            spawn(async move {
                while !slice.is_over() {
                    {
                        let mut sum = shared.lock().unwrap();
                        let until = Instant::now() + Duration::from_millis(2);
                        while Instant::now() < until {
                            *sum += 1;
                        }
                    }
                    sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    for job in jobs {
        let _ = job.await;
    }
}

/// Polls inside a poll: a LocalSet in block_in_place. dial9 sees the outer one only.
pub async fn nested(slice: Slice) {
    let job = spawn(async move {
        while !slice.is_over() {
            block_in_place(|| {
                Handle::current().block_on(LocalSet::new().run_until(async {
                    let first = spawn_local(async {
                        sleep(Duration::from_micros(200)).await;
                    });
                    let second = spawn(sleep(Duration::from_micros(50)));
                    let _ = first.await;
                    let _ = second.await;
                }));
            });
            sleep(Duration::from_millis(1)).await;
        }
    });
    let _ = job.await;
}

/// Local tasks inside block_on: Tokio has no hooks there, dial9 records their wakes only.
pub async fn localset(slice: Slice) {
    let run = async move {
        while !slice.is_over() {
            let jobs: Vec<_> = (0..8)
                .map(|_| {
                    spawn_local(async {
                        yield_now().await;
                        sleep(Duration::from_micros(300)).await;
                    })
                })
                .collect();
            for job in jobs {
                let _ = job.await;
            }
        }
    };
    LocalSet::new().run_until(run).await;
}
