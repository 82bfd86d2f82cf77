// SPDX-License-Identifier: Apache-2.0
//! Runtimes whose state is known to the last task, and stands still while it is looked at.
//!
//! Started as `seats WORKERS`, it makes two multi_thread runtimes (A with WORKERS workers, B with
//! two), a current_thread runtime and a LocalSet, prints "ready", and obeys lines on its standard
//! input, each answered by what is true now and "done":
//!   pending N         N more tasks that never end, in A
//!   hold DEPTH INJECT every worker of A and B pushes tasks to its own run queue, DEPTH and more,
//!                     a different number each, then blocks; INJECT tasks wait in A's inject queue
//!   release           the workers go on
//!   away              one worker of A hands its role to another thread (block_in_place)
//! Answers, runtime A's first: "thread KIND TID", "worker RUNTIME TID DEPTH",
//! "runtime KIND SCHEDULER INJECT ALIVE".

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

fn tid() -> i32 {
    unsafe { libc::gettid() }
}

fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// The Arc inside a Handle: an enum's tag and one pointer.
fn scheduler(handle: &Handle) -> usize {
    let words: [usize; 2] = unsafe { std::mem::transmute_copy(handle) };
    if words[0] > 4096 { words[0] } else { words[1] }
}

/// The shared part of a LocalSet: behind its Rc (strong, weak) the first pointer.
fn local_scheduler(set: &tokio::task::LocalSet) -> usize {
    let is_ptr = |word: &usize| *word > 65_536 && *word % 8 == 0;
    unsafe {
        let words: [usize; 2] = std::mem::transmute_copy(set);
        let rc = *words.iter().find(|w| is_ptr(w)).unwrap() as *const usize;
        (2..5).map(|i| *rc.add(i)).find(is_ptr).unwrap_or(0)
    }
}

struct Held {
    go: Arc<AtomicBool>,
    workers: Vec<(i32, usize)>,
}

/// A task pushed first sits in the LIFO slot, each further one moves the one before it to the
/// queue: DEPTH tasks in the queue take DEPTH + 1.
fn hold(rt: &Runtime, workers: usize, depth: usize, step: usize) -> Held {
    let met = Arc::new(Barrier::new(workers + 1));
    let go = Arc::new(AtomicBool::new(false));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let turn = Arc::new(AtomicUsize::new(0));
    for _ in 0..workers {
        let (met, go, seen, turn) = (met.clone(), go.clone(), seen.clone(), turn.clone());
        rt.spawn(async move {
            met.wait();
            let mine = depth + turn.fetch_add(1, SeqCst) * step;
            for _ in 0..=mine {
                tokio::spawn(async {});
            }
            seen.lock().unwrap().push((tid(), mine));
            met.wait();
            while !go.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }
    met.wait();
    met.wait();
    let workers = seen.lock().unwrap().clone();
    Held { go, workers }
}

fn single(kind: &'static str, ready: std::sync::mpsc::Sender<()>) {
    std::thread::spawn(move || {
        let rt = Builder::new_current_thread().enable_all().build().unwrap();
        let set = tokio::task::LocalSet::new();
        println!("thread {kind} {}", tid());
        rt.block_on(async {
            if kind == "current_thread" {
                for _ in 0..4 {
                    tokio::spawn(std::future::pending::<()>());
                }
                println!("runtime {kind} {:x} 0 4", scheduler(&Handle::current()));
                ready.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            println!("runtime {kind} {:x} 0 0", local_scheduler(&set));
            set.run_until(async {
                tokio::task::spawn_local(std::future::pending::<()>());
                ready.send(()).unwrap();
                std::future::pending::<()>().await;
            })
            .await;
        });
    });
}

fn main() {
    let workers: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(3);
    let (a, b) = (multi(workers), multi(2));
    println!("runtime multi_thread {:x} 0 0", scheduler(a.handle()));
    let (tx, rx) = std::sync::mpsc::channel();
    for kind in ["current_thread", "local_set"] {
        single(kind, tx.clone());
        rx.recv().unwrap();
    }
    a.spawn_blocking(move || {
        println!("thread blocking {}", tid());
        tx.send(()).unwrap();
        loop {
            std::thread::sleep(Duration::from_secs(3));
        }
    });
    rx.recv().unwrap();
    println!("ready");
    let (mut held, mut pending) = (Vec::new(), 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words[i].parse::<usize>().unwrap();
        match words[0] {
            "pending" => {
                pending += number(1);
                (0..number(1)).for_each(|_| drop(a.spawn(std::future::pending::<()>())));
                std::thread::sleep(Duration::from_millis(30));
            }
            "hold" => {
                let (depth, inject) = (number(1), number(2));
                let of_a = hold(&a, workers, depth, 3);
                let of_b = hold(&b, 2, depth + 50, 5);
                (0..inject).for_each(|_| drop(a.spawn(async {})));
                let queued: usize = of_a.workers.iter().map(|w| w.1 + 1).sum();
                for (name, one) in [("A", of_a), ("B", of_b)] {
                    for (tid, depth) in &one.workers {
                        println!("worker {name} {tid} {depth}");
                    }
                    held.push(one.go);
                }
                println!(
                    "runtime multi_thread {:x} {inject} {}",
                    scheduler(a.handle()),
                    queued + workers + inject + pending
                );
            }
            "release" => {
                held.drain(..).for_each(|go: Arc<AtomicBool>| go.store(true, SeqCst));
                std::thread::sleep(Duration::from_millis(60));
            }
            "away" => {
                a.spawn(async {
                    tokio::task::block_in_place(|| {
                        println!("thread away {}", tid());
                        std::thread::sleep(Duration::from_millis(1_500));
                    })
                });
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => std::process::exit(2),
        }
        println!("done");
    }
    std::process::exit(0); // the threads never end by themselves
}
