// SPDX-License-Identifier: Apache-2.0
//! Who drives what: each mode a shape in which threads and runtimes do not match one to one.

use crate::calls::{spawn, spawn_blocking, spawn_local, spawn_on, Job};
use crate::truth;
use crate::{ready, write_log, Args, Until};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, LocalOptions, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{block_in_place, yield_now, LocalSet};
use tokio::time::sleep;

pub fn single() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("runtime")
}

pub fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().expect("runtime")
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Two tasks that pass messages until the time is over, and a timer beside them.
pub async fn chatter(until: Until) {
    let (tx, mut rx) = mpsc::channel::<u32>(4);
    let receiver = spawn("receiver", async move { while rx.recv().await.is_some() {} });
    let sender = spawn("sender", async move {
        let mut n = 0;
        while !until.is_over() && tx.send(n).await.is_ok() {
            n += 1;
            yield_now().await;
            if n % 8 == 0 {
                sleep(millis(1)).await;
            }
        }
    });
    let timer = spawn("timer", async move {
        while !until.is_over() {
            sleep(millis(2)).await;
        }
    });
    for job in [receiver, sender, timer] {
        job.join().await;
    }
}

/// Idle at the end: no notification is under way when its runtime goes.
fn settle() {
    std::thread::sleep(millis(20));
    truth::mark("shutdown");
}

/// One current_thread runtime, four threads in block_on at once: the core goes from one to the
/// next whenever a driver's own future is done.
pub fn shared_core(args: &Args) {
    let rt = single();
    let until = ready(args);
    let handle = rt.handle().clone();
    std::thread::scope(|scope| {
        for i in 0..4u64 {
            let rt = &rt;
            scope.spawn(move || {
                while !until.is_over() {
                    rt.block_on(async {
                        let job = spawn("driven", async move {
                            for _ in 0..3 {
                                sleep(millis(1 + i)).await;
                                yield_now().await;
                            }
                        });
                        job.join().await;
                    });
                }
            });
        }
        // a thread of its own that only spawns: whoever drives at the moment polls these
        scope.spawn(move || {
            while !until.is_over() {
                spawn_on(&handle, "outside", async { sleep(millis(1)).await });
                std::thread::sleep(millis(2));
            }
        });
    });
    rt.block_on(async { sleep(millis(20)).await });
    settle();
    drop(rt);
    write_log(args);
}

/// Two LocalRuntimes, each on a thread of its own, with tasks that are not Send, and Send ones.
pub fn local_runtime(args: &Args) {
    let until = ready(args);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let rt = Builder::new_current_thread()
                    .enable_all()
                    .build_local(LocalOptions::default())
                    .expect("runtime");
                rt.block_on(async move {
                    let jobs: Vec<Job<()>> = (0..3u64)
                        .map(|i| {
                            let rc = std::rc::Rc::new(i);
                            spawn_local("not-send", async move {
                                while !until.is_over() {
                                    sleep(millis(1 + *rc)).await;
                                    yield_now().await;
                                }
                            })
                        })
                        .collect();
                    chatter(until).await;
                    spawn_blocking("pool", || std::thread::sleep(millis(1))).join().await;
                    for job in jobs {
                        job.join().await;
                    }
                });
                settle();
            });
        }
    });
    write_log(args);
}

/// What actor and web frameworks do: threads with a current_thread runtime and a LocalSet each,
/// that get their work over channels from a multi_thread runtime, whose main thread drives one
/// more LocalSet.
pub fn local_sets(args: &Args) {
    let rt = multi(2);
    let (made, lines): (Vec<_>, Vec<_>) =
        (0..2).map(|_| mpsc::unbounded_channel::<oneshot::Sender<u64>>()).unzip();
    let mut threads = Vec::new();
    for mut line in lines {
        threads.push(std::thread::spawn(move || {
            let (own, set) = (single(), LocalSet::new());
            set.block_on(&own, async move {
                while let Some(reply) = line.recv().await {
                    spawn_local("local-job", async move {
                        sleep(millis(1)).await;
                        yield_now().await;
                        let _ = reply.send(1);
                    });
                }
                sleep(millis(20)).await;
            });
        }));
    }
    let until = ready(args);
    let set = LocalSet::new();
    rt.block_on(set.run_until(async move {
        let asker = spawn("asker", async move {
            let mut n = 0;
            while !until.is_over() {
                let (tx, rx) = oneshot::channel();
                let _ = made[n % made.len()].send(tx);
                let _ = rx.await;
                n += 1;
            }
        });
        let local = spawn_local("local-main", async move {
            while !until.is_over() {
                sleep(millis(2)).await;
            }
        });
        asker.join().await;
        local.join().await;
    }));
    for thread in threads {
        thread.join().expect("a thread with a LocalSet ends");
    }
    settle();
    drop(set);
    drop(rt);
    write_log(args);
}

/// Runtimes within tasks of the blocking pool: a current_thread one driven by such a task for its
/// whole life, and the outer runtime's own handle blocked on there.
pub fn in_blocking(args: &Args) {
    let rt = multi(2);
    let until = ready(args);
    rt.block_on(async move {
        let inner = spawn_blocking("drives-runtime", move || {
            let own = single();
            own.block_on(chatter(until));
            own.block_on(async { sleep(millis(5)).await });
        });
        let waits = spawn_blocking("blocks-on-handle", move || {
            while !until.is_over() {
                Handle::current().block_on(async {
                    spawn("from-pool", sleep(millis(1))).join().await;
                });
            }
        });
        chatter(until).await;
        inner.join().await;
        waits.join().await;
    });
    settle();
    drop(rt);
    write_log(args);
}

/// Workers handed over all the time: more tasks in block_in_place than there are workers, some of
/// them waiting there for tasks that only another thread can poll.
pub fn hand_off(args: &Args) {
    let rt = multi(2);
    let until = ready(args);
    rt.block_on(async move {
        let mut jobs = Vec::new();
        for i in 0..6u64 {
            jobs.push(spawn("hands-off", async move {
                while !until.is_over() {
                    block_in_place(|| std::thread::sleep(millis(1 + i % 3)));
                    yield_now().await;
                    block_in_place(|| {
                        Handle::current().block_on(async {
                            spawn("waited-for", async { yield_now().await }).join().await;
                        })
                    });
                    sleep(millis(1)).await;
                }
            }));
        }
        chatter(until).await;
        // the future of block_on itself, on the main thread, which is no worker
        block_in_place(|| std::thread::sleep(millis(2)));
        for job in jobs {
            job.join().await;
        }
    });
    settle();
    drop(rt);
    write_log(args);
}

/// rayon's threads compute, wake tasks that wait for the result, and spawn tasks themselves.
pub fn rayon_beside(args: &Args) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("pool");
    let rt = multi(2);
    let until = ready(args);
    rt.block_on(async {
        let handle = Handle::current();
        let (late, mut spawned) = mpsc::unbounded_channel::<()>();
        let mut n = 0u64;
        while !until.is_over() {
            let (tx, rx) = oneshot::channel::<u64>();
            let (handle, late) = (handle.clone(), late.clone());
            pool.spawn(move || {
                let (a, b) = rayon::join(|| work(n), || work(n + 1));
                spawn_on(&handle, "by-rayon", async move {
                    yield_now().await;
                    let _ = late.send(());
                });
                let _ = tx.send(a ^ b);
            });
            let waiter = spawn("waits-for-rayon", async move { rx.await.unwrap_or(0) });
            waiter.join().await;
            spawned.recv().await;
            n += 1;
        }
    });
    settle();
    drop(rt);
    drop(pool);
    write_log(args);
}

fn work(seed: u64) -> u64 {
    (0..20_000).fold(seed, |x, n| std::hint::black_box(x.rotate_left(7) ^ n))
}

/// Threads made before the recording that are idle until after it began, threads and runtimes made
/// while it goes on, and runtimes of which each lives for a moment only.
pub fn before_and_after(args: &Args) {
    let old = multi(2);
    let (go, gone) = std::sync::mpsc::channel::<Until>();
    let driver = std::thread::spawn(move || {
        let rt = single();
        let until = gone.recv().expect("the word to go");
        rt.block_on(chatter(until));
        rt.block_on(async { sleep(millis(5)).await });
    });
    let until = ready(args);
    go.send(until).expect("the driver waits");
    let new = multi(3);
    std::thread::scope(|scope| {
        scope.spawn(|| old.block_on(chatter(until)));
        scope.spawn(|| new.block_on(chatter(until)));
        scope.spawn(|| {
            while !until.is_over() {
                let rt = multi(1);
                rt.block_on(async {
                    spawn("short-lived", async { yield_now().await }).join().await;
                    sleep(millis(3)).await;
                });
            }
        });
    });
    driver.join().expect("the driver ends");
    settle();
    drop(new);
    drop(old);
    write_log(args);
}
