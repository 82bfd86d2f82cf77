// SPDX-License-Identifier: Apache-2.0
//! Programs that log what a sampler must show: shares of the CPU, blocks inside polls, long polls,
//! and polls that only look long. Printed at the end (README.md beside build.sh).

use crate::truth::now_ns;
use crate::{Args, Slice};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, Barrier};
use tokio::task::{yield_now, JoinHandle};
use tokio::time::sleep;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(line: String) {
    LINES.lock().expect("no holder panics").push(line);
}

/// CPU time of this thread.
fn cpu_ns() -> u64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut ts) };
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// Does `what` within this poll and logs it: kind, thread, from, to, CPU time.
fn plant(kind: &str, what: impl FnOnce()) {
    let (t0, c0) = (now_ns(), cpu_ns());
    what();
    let (c1, t1) = (cpu_ns(), now_ns());
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    note(format!("plant {kind} {tid} {t0} {t1} {}", c1 - c0));
}

fn compute(long_ns: u64) {
    let until = cpu_ns() + long_ns;
    while cpu_ns() < until {
        std::hint::spin_loop();
    }
}

/// Notes which task bears the label, by the id in the handle's text.
fn named(label: &str, job: JoinHandle<()>) -> JoinHandle<()> {
    let id: String = format!("{job:?}").chars().filter(char::is_ascii_digit).collect();
    note(format!("task {id} {label}"));
    job
}

/// CPU time of each kind of `shares`.
static USED_NS: [AtomicU64; 3] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];

/// Work of a fixed size, about 20 us.
fn unit(kind: usize, cnt: u64) {
    let c0 = cpu_ns();
    for i in 0..cnt * 20_000 {
        std::hint::black_box(i);
    }
    USED_NS[kind].fetch_add(cpu_ns() - c0, Relaxed);
}

/// Two crews of three kinds of tasks that meet after each round: whatever the machine does, they use
/// the CPU as 4 : 2 : 1. Rounds differ in length, so that no clock keeps step with them.
fn shares(slice: Slice) -> Vec<JoinHandle<()>> {
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let (meet, over) = (Arc::new(Barrier::new(3)), Arc::new(AtomicBool::new(false)));
        let size = |round: u64| 1 + (round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61);
        macro_rules! member {
            ($kind:expr, $weight:expr) => {{
                let (meet, over) = (meet.clone(), over.clone());
                jobs.push(named(["four", "two", "one"][$kind], tokio::spawn(async move {
                    for round in 0.. {
                        unit($kind, $weight * size(round));
                        if $kind == 0 && slice.is_over() {
                            over.store(true, SeqCst); // before all meet: all end in one round
                        }
                        meet.wait().await;
                        if over.load(SeqCst) {
                            break;
                        }
                        meet.wait().await; // nobody sets it while another one looks
                    }
                })));
            }};
        }
        member!(0, 4);
        member!(1, 2);
        member!(2, 1);
    }
    jobs
}

/// A thread that does `what` for each message until the sender is gone.
fn helper(mut what: impl FnMut() + Send + 'static) -> Sender<()> {
    let (tx, rx) = channel();
    std::thread::spawn(move || rx.iter().for_each(|()| what()));
    tx
}

/// Polls that block: in sleep, on a lock, on a pipe, on the disk.
fn blocks(slice: Slice, file: String) -> Vec<JoinHandle<()>> {
    let asleep = tokio::spawn(async move {
        while !slice.is_over() {
            plant("sleep", || std::thread::sleep(Duration::from_millis(2)));
            sleep(Duration::from_millis(7)).await;
        }
    });
    let (lock, held) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
    let (of_helper, is_held) = (lock.clone(), held.clone());
    let holder = helper(move || {
        let _guard = of_helper.lock().expect("no holder panics");
        is_held.store(true, SeqCst);
        std::thread::sleep(Duration::from_millis(3));
    });
    let locked = tokio::spawn(async move {
        while !slice.is_over() {
            let _ = holder.send(());
            while !held.swap(false, SeqCst) {
                sleep(Duration::from_millis(1)).await;
            }
            plant("futex", || drop(lock.lock().expect("no holder panics")));
            sleep(Duration::from_millis(5)).await;
        }
    });
    let mut ends = [0; 2];
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let writer = helper(move || {
        std::thread::sleep(Duration::from_millis(4));
        assert_eq!(unsafe { libc::write(ends[1], [0u8].as_ptr().cast(), 1) }, 1);
    });
    let piped = tokio::spawn(async move {
        while !slice.is_over() {
            let _ = writer.send(());
            plant("pipe", || {
                let mut byte = [0u8];
                assert_eq!(unsafe { libc::read(ends[0], byte.as_mut_ptr().cast(), 1) }, 1);
            });
            sleep(Duration::from_millis(11)).await;
        }
    });
    let disk = tokio::spawn(async move {
        use std::io::{Seek, Write};
        let mut data = std::fs::File::create(file).expect("a file beside the go-file");
        while !slice.is_over() {
            data.rewind().and_then(|()| data.write_all(&[1; 65536])).expect("room on the disk");
            plant("fsync", || data.sync_all().expect("a disk that works"));
            sleep(Duration::from_millis(40)).await;
        }
    });
    vec![named("sleep", asleep), named("futex", locked), named("pipe", piped), named("fsync", disk)]
}

/// Polls that keep the CPU for `ms`, of three tasks that leave half of two CPUs free. Each tells a
/// fourth task of it from inside the poll: such a wake is where the recorder learns.
fn long(slice: Slice, ms: u64) -> Vec<JoinHandle<()>> {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let one = |tx: mpsc::UnboundedSender<()>| {
        tokio::spawn(async move {
            while !slice.is_over() {
                plant("long", || compute(ms * 1_000_000));
                let _ = tx.send(());
                sleep(Duration::from_millis(2 * ms + 1)).await;
            }
        })
    };
    let mut jobs: Vec<_> = (0..3).map(|_| named("long", one(tx.clone()))).collect();
    drop(tx);
    jobs.push(named("told", tokio::spawn(async move { while rx.recv().await.is_some() {} })));
    jobs
}

/// Logs the time since `t0` if a poll in it may have been long all the same: others had the CPU.
fn own_up(kind: &str, t0: u64) {
    let t1 = now_ns();
    if t1 - t0 > 3_000_000 {
        note(format!("late {kind} {t0} {t1}"));
    }
}

/// A task that only yields, and two that only send to each other: busy, in the shortest of polls.
fn short(slice: Slice) -> Vec<JoinHandle<()>> {
    let yields = tokio::spawn(async move {
        let mut t0 = now_ns();
        while !slice.is_over() {
            own_up("yield", t0);
            yield_now().await;
            t0 = now_ns();
        }
    });
    let (ping_tx, mut ping_rx) = mpsc::channel::<u64>(1);
    let (pong_tx, mut pong_rx) = mpsc::channel::<u64>(1);
    let pong = tokio::spawn(async move {
        let mut t0 = now_ns();
        while let Some(n) = ping_rx.recv().await {
            own_up("pong", t0);
            t0 = now_ns();
            if pong_tx.send(n).await.is_err() {
                break;
            }
        }
    });
    let ping = tokio::spawn(async move {
        let mut t0 = now_ns();
        while !slice.is_over() && ping_tx.send(t0).await.is_ok() {
            own_up("ping", t0);
            t0 = now_ns();
            if pong_rx.recv().await.is_none() {
                break;
            }
        }
    });
    vec![named("yield", yields), named("ping", ping), named("pong", pong)]
}

/// `what`: shares, blocks, long or short.
pub async fn run(what: &str, slice: Slice, args: &Args) {
    let file = format!("{}.data", args.go_file.as_deref().unwrap_or("shown"));
    let jobs = match what {
        "shares" => shares(slice),
        "blocks" => blocks(slice, file),
        "long" => long(slice, args.count),
        _ => short(slice),
    };
    for job in jobs {
        job.await.expect("no task here panics");
    }
    for (kind, used) in ["four", "two", "one"].iter().zip(&USED_NS) {
        note(format!("used {kind} {}", used.load(Relaxed)));
    }
    LINES.lock().expect("no holder panics").iter().for_each(|line| println!("{line}"));
}
