// SPDX-License-Identifier: Apache-2.0
//! The ordinary workloads. All spawn through dial9 but where the name says plain.

use crate::Slice;
use dial9_tokio_telemetry::{spawn, spawn_in};
use dial9_tokio_telemetry::telemetry::JoinSetExt;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, Barrier, Notify, Semaphore};
use tokio::task::{yield_now, JoinSet};
use tokio::time::{interval, sleep, timeout};

/// Pairs of tasks that hand a number to and fro, each about `rate` round trips a second.
pub async fn pingpong(slice: Slice, pairs: usize, rate: f64) {
    let start = Instant::now();
    let mut jobs = Vec::new();
    for _ in 0..pairs {
        let (ping_tx, mut ping_rx) = mpsc::channel::<u64>(1);
        let (pong_tx, mut pong_rx) = mpsc::channel::<u64>(1);
        jobs.push(spawn(async move {
            while let Some(n) = ping_rx.recv().await {
                if pong_tx.send(n).await.is_err() {
                    break;
                }
            }
        }));
        jobs.push(spawn(async move {
            let mut sent = 0u64;
            while !slice.is_over() {
                if sent as f64 >= start.elapsed().as_secs_f64() * rate {
                    sleep(Duration::from_millis(1)).await;
                    continue;
                }
                if ping_tx.send(sent).await.is_err() || pong_rx.recv().await.is_none() {
                    break;
                }
                sent += 1;
            }
        }));
    }
    for job in jobs {
        let _ = job.await;
    }
}

/// The same with tokio's own spawn: dial9 has no wakes of these.
pub async fn plain(slice: Slice) {
    let (ping_tx, mut ping_rx) = mpsc::channel::<u64>(1);
    let (pong_tx, mut pong_rx) = mpsc::channel::<u64>(1);
    let pong = tokio::spawn(async move {
        while let Some(n) = ping_rx.recv().await {
            if pong_tx.send(n).await.is_err() {
                break;
            }
        }
    });
    let ping = tokio::spawn(async move {
        let mut n = 0;
        while !slice.is_over() {
            for _ in 0..8 {
                if ping_tx.send(n).await.is_err() || pong_rx.recv().await.is_none() {
                    return;
                }
                n += 1;
            }
            sleep(Duration::from_millis(2)).await;
        }
    });
    let _ = ping.await;
    let _ = pong.await;
}

pub async fn timers(slice: Slice, tasks: u64) {
    let mut jobs = Vec::new();
    for i in 0..tasks {
        jobs.push(spawn(async move {
            while !slice.is_over() {
                sleep(Duration::from_micros(1000 + 300 * (i % 16))).await;
            }
        }));
    }
    jobs.push(spawn(async move {
        let mut tick = interval(Duration::from_millis(2));
        while !slice.is_over() {
            tick.tick().await;
            let never = Notify::new();
            let _ = timeout(Duration::from_millis(1), never.notified()).await;
        }
    }));
    for job in jobs {
        let _ = job.await;
    }
}

/// Tasks that wake themselves inside their poll.
pub async fn yields(slice: Slice) {
    let jobs: Vec<_> = (0..4)
        .map(|_| {
            spawn(async move {
                while !slice.is_over() {
                    for _ in 0..16 {
                        yield_now().await;
                    }
                    sleep(Duration::from_millis(2)).await;
                }
            })
        })
        .collect();
    for job in jobs {
        let _ = job.await;
    }
}

/// Polls as short as polls get, in bursts; a yield is Pending at once.
pub async fn tiny(slice: Slice) {
    let jobs: Vec<_> = (0..2)
        .map(|_| {
            spawn(async move {
                while !slice.is_over() {
                    for _ in 0..200 {
                        yield_now().await;
                    }
                    sleep(Duration::from_millis(8)).await;
                }
            })
        })
        .collect();
    for job in jobs {
        let _ = job.await;
    }
}

pub async fn joinset(slice: Slice) {
    while !slice.is_over() {
        let mut set = JoinSet::new();
        for i in 0..16u64 {
            set.spawn_traced(async move {
                yield_now().await;
                sleep(Duration::from_micros(100 * (i % 4))).await;
                i
            });
        }
        while set.join_next().await.is_some() {}
    }
}

/// Tasks nobody holds a handle of.
pub async fn detached(slice: Slice) {
    let gate = Arc::new(Semaphore::new(64));
    while !slice.is_over() {
        for _ in 0..8 {
            let Ok(permit) = gate.clone().acquire_owned().await else { return };
            drop(spawn(async move {
                sleep(Duration::from_millis(1)).await;
                yield_now().await;
                drop(permit);
            }));
        }
        sleep(Duration::from_millis(2)).await;
    }
    let _ = gate.acquire_many(64).await;
}

/// Barrier and oneshot between tasks.
pub async fn meeting(slice: Slice) {
    while !slice.is_over() {
        let barrier = Arc::new(Barrier::new(4));
        let mut jobs = Vec::new();
        for i in 0..4u64 {
            let barrier = barrier.clone();
            let (tx, rx) = oneshot::channel::<u64>();
            jobs.push(spawn(async move {
                barrier.wait().await;
                let _ = tx.send(i);
            }));
            jobs.push(spawn(async move {
                let _ = rx.await;
            }));
        }
        for job in jobs {
            let _ = job.await;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

/// Wakes from threads that no runtime owns.
pub async fn foreign(slice: Slice) {
    let bells: Vec<Arc<Notify>> = (0..4).map(|_| Arc::default()).collect();
    let mut jobs = Vec::new();
    for bell in &bells {
        let bell = bell.clone();
        jobs.push(spawn(async move {
            while !slice.is_over() {
                bell.notified().await;
            }
        }));
    }
    let ringers: Vec<_> = (0..2usize)
        .map(|i| {
            let bells = bells.clone();
            std::thread::spawn(move || {
                while !slice.is_over() {
                    for bell in &bells {
                        bell.notify_one();
                    }
                    std::thread::sleep(Duration::from_micros(500 + 70 * i as u64));
                }
                // one ring each is left for those that wait
                std::thread::sleep(Duration::from_millis(2));
                bells.iter().for_each(|bell| bell.notify_one());
            })
        })
        .collect();
    for job in jobs {
        let _ = job.await;
    }
    for ringer in ringers {
        let _ = ringer.join();
    }
}

/// Every worker sleeps in a poll while a thread outside spawns: the global queue stands.
pub async fn backlog(slice: Slice) {
    let handle = tokio::runtime::Handle::current();
    let workers = handle.metrics().num_workers();
    while !slice.is_over() {
        let inside = Arc::new(AtomicUsize::new(0));
        let sleepers: Vec<_> = (0..workers)
            .map(|_| {
                let inside = inside.clone();
                spawn(async move {
                    inside.fetch_add(1, SeqCst);
                    std::thread::sleep(Duration::from_millis(100));
                })
            })
            .collect();
        let handle = handle.clone();
        let outside = std::thread::spawn(move || {
            while inside.load(SeqCst) < workers {
                std::thread::sleep(Duration::from_micros(200));
            }
            (0..400).map(|i| spawn_in(&handle, async move { black_box(i) })).collect::<Vec<_>>()
        });
        for job in sleepers {
            let _ = job.await;
        }
        for job in outside.join().expect("thread") {
            let _ = job.await;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Spawns without pause from two tasks; spawns a second.
pub async fn storm(slice: Slice) -> f64 {
    let start = Instant::now();
    let lanes: Vec<_> = (0..2)
        .map(|_| {
            spawn(async move {
                let mut spawned = 0u64;
                let mut batch = Vec::with_capacity(64);
                while !slice.is_over() {
                    for i in 0..64u64 {
                        batch.push(spawn(async move { black_box(i) }));
                    }
                    spawned += batch.len() as u64;
                    for job in batch.drain(..) {
                        let _ = job.await;
                    }
                }
                spawned
            })
        })
        .collect();
    let mut spawned = 0;
    for lane in lanes {
        spawned += lane.await.unwrap_or(0);
    }
    spawned as f64 / start.elapsed().as_secs_f64()
}

/// `count` tasks that are idle when this returns and stay alive to the end of the runtime; each
/// wakes once a minute or so.
pub async fn crowd(count: u64) {
    let gate = Arc::new(Semaphore::new(0));
    for i in 0..count {
        let gate = gate.clone();
        spawn(async move {
            gate.add_permits(1);
            drop(gate);
            loop {
                sleep(Duration::from_millis(2_000 + i % 58_000)).await;
            }
        });
    }
    let _ = gate.acquire_many(count as u32).await;
}
