// SPDX-License-Identifier: Apache-2.0
//! The ordinary behaviours: messages, timers, spawning, joining, blocking jobs.

use crate::calls::{spawn, spawn_blocking, spawn_in, spawn_local};
use crate::{truth, Slice};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, Barrier, Notify, Semaphore};
use tokio::task::{yield_now, JoinSet, LocalSet};
use tokio::time::{interval, sleep, timeout};

/// Pairs of tasks that hand a number to and fro until the slice ends: paced to `rate` polls a
/// second over all pairs, or without pause with rate 0. A round trip is two polls, each with one
/// wake before it. Returns the polls per second reached.
pub async fn pingpong(slice: Slice, pairs: u64, rate: u64) -> f64 {
    let (start, polls) = (Instant::now(), truth::poll_cnt());
    let trips_per_s = rate as f64 / (2 * pairs) as f64;
    let mut jobs = Vec::new();
    for _ in 0..pairs {
        let (ping_tx, mut ping_rx) = mpsc::channel::<u64>(1);
        let (pong_tx, mut pong_rx) = mpsc::channel::<u64>(1);
        jobs.push(spawn("pong", async move {
            let mut sum = 0;
            while let Some(n) = ping_rx.recv().await {
                sum += n;
                if pong_tx.send(n).await.is_err() {
                    break;
                }
            }
            sum
        }));
        jobs.push(spawn("ping", async move {
            let mut sent = 0u64;
            while !slice.is_over() {
                if rate > 0 && sent >= (start.elapsed().as_secs_f64() * trips_per_s) as u64 {
                    sleep(Duration::from_millis(1)).await;
                    continue;
                }
                if ping_tx.send(sent).await.is_err() || pong_rx.recv().await.is_none() {
                    break;
                }
                sent += 1;
            }
            sent
        }));
    }
    for job in jobs {
        job.join().await;
    }
    (truth::poll_cnt() - polls) as f64 / start.elapsed().as_secs_f64()
}

pub async fn timers(slice: Slice, tasks: u64) {
    let mut jobs = Vec::new();
    for i in 0..tasks {
        jobs.push(spawn("sleeper", async move {
            let mut n = 0u64;
            while !slice.is_over() {
                sleep(Duration::from_micros(1000 + 300 * (i % 16))).await;
                n += 1;
            }
            n
        }));
    }
    jobs.push(spawn("ticker", async move {
        let mut tick = interval(Duration::from_millis(2));
        let mut late = 0u64;
        while !slice.is_over() {
            tick.tick().await;
            let never = Notify::new();
            late += u64::from(timeout(Duration::from_millis(1), never.notified()).await.is_err());
        }
        late
    }));
    for job in jobs {
        job.join().await;
    }
}

/// Spawns from `lanes` tasks, `rate` a second over all or without pause with rate 0; returns the
/// spawns per second reached.
pub async fn storm(slice: Slice, lanes: u64, rate: u64) -> f64 {
    let start = Instant::now();
    let per_lane = rate as f64 / lanes as f64;
    let mut jobs = Vec::new();
    for _ in 0..lanes {
        jobs.push(spawn("storm-lane", async move {
            let mut spawned = 0u64;
            let mut batch = Vec::with_capacity(64);
            while !slice.is_over() {
                if rate > 0 && spawned >= (start.elapsed().as_secs_f64() * per_lane) as u64 {
                    sleep(Duration::from_millis(1)).await;
                    continue;
                }
                for i in 0..64u64 {
                    batch.push(spawn("storm", async move { std::hint::black_box(i) }));
                }
                spawned += batch.len() as u64;
                for job in batch.drain(..) {
                    job.join().await;
                }
            }
            spawned
        }));
    }
    let mut spawned = 0;
    for job in jobs {
        spawned += job.join().await.unwrap_or(0);
    }
    spawned as f64 / start.elapsed().as_secs_f64()
}

pub async fn joinset(slice: Slice) {
    while !slice.is_over() {
        let mut set = JoinSet::new();
        for i in 0..16u64 {
            spawn_in(&mut set, "joinset", async move {
                yield_now().await;
                sleep(Duration::from_micros(100 * (i % 4))).await;
                i
            });
        }
        let mut sum = 0;
        while let Some(out) = set.join_next().await {
            sum += out.unwrap_or(0);
        }
        std::hint::black_box(sum);
    }
}

/// Tasks nobody holds a handle of; the slice ends when all have ended.
pub async fn detached(slice: Slice) {
    let gate = std::sync::Arc::new(Semaphore::new(64));
    while !slice.is_over() {
        for _ in 0..8 {
            let Ok(permit) = gate.clone().acquire_owned().await else { return };
            let job = spawn("detached", async move {
                sleep(Duration::from_millis(1)).await;
                yield_now().await;
                drop(permit);
            });
            drop(job.handle);
        }
        sleep(Duration::from_millis(1)).await;
    }
    let _ = gate.acquire_many(64).await;
    // the permit goes back inside the last poll: let that poll end
    sleep(Duration::from_millis(5)).await;
}

pub async fn blocking(slice: Slice) {
    while !slice.is_over() {
        let mut jobs = Vec::new();
        for i in 0..6u64 {
            jobs.push(spawn_blocking("blocking", move || {
                std::thread::sleep(Duration::from_micros(200 * i));
                i
            }));
        }
        let waiter = spawn("blocking-waiter", async move {
            let mut sum = 0;
            for job in jobs {
                sum += job.join().await.unwrap_or(0);
            }
            sum
        });
        waiter.join().await;
    }
}

/// Synchronisation: barrier, oneshot and semaphore between tasks of one runtime.
pub async fn meeting(slice: Slice) {
    while !slice.is_over() {
        let barrier = std::sync::Arc::new(Barrier::new(4));
        let mut jobs = Vec::new();
        for i in 0..4u64 {
            let barrier = barrier.clone();
            let (tx, rx) = oneshot::channel::<u64>();
            jobs.push(spawn("barrier", async move {
                barrier.wait().await;
                let _ = tx.send(i);
                i
            }));
            jobs.push(spawn("oneshot", async move { rx.await.unwrap_or(0) }));
        }
        for job in jobs {
            job.join().await;
        }
        sleep(Duration::from_micros(200)).await;
    }
}

/// Local tasks: a LocalSet run inside the runtime's block_on.
pub async fn localset(slice: Slice) {
    let local = LocalSet::new();
    local
        .run_until(async move {
            while !slice.is_over() {
                let cell = std::rc::Rc::new(std::cell::Cell::new(0u64));
                let mut jobs = Vec::new();
                for i in 0..8u64 {
                    let cell = cell.clone();
                    jobs.push(spawn_local("local", async move {
                        yield_now().await;
                        cell.set(cell.get() + i);
                        sleep(Duration::from_micros(300)).await;
                    }));
                }
                for job in jobs {
                    job.join().await;
                }
            }
        })
        .await;
}
