// SPDX-License-Identifier: Apache-2.0
//! Workloads by name, and those that need runtimes of their own.

use crate::{build, flows_of, mischief, Slice};
use dial9_tokio_telemetry::telemetry::{Dial9Handle, Dial9HandleTokioExt};
use dial9_tokio_telemetry::{block_on, spawn, spawn_in};
use std::future::Future;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::sleep;

fn root(rt: &Runtime, work: impl Future<Output = ()> + Send + 'static) -> String {
    block_on(rt, work);
    String::new()
}

/// Runs one workload; "FIGURE VALUE" or nothing to print. None: unknown name.
pub fn run(dial9: &Dial9Handle, rt: &Runtime, name: &str, slice: Slice) -> Option<String> {
    Some(match name {
        "pingpong" => root(rt, flows_of::pingpong(slice, 4, 1000.0)),
        "alive100k" => root(rt, flows_of::pingpong(slice, 2, 500.0)),
        "plain" => root(rt, flows_of::plain(slice)),
        "timers" => root(rt, flows_of::timers(slice, 16)),
        "yields" => root(rt, flows_of::yields(slice)),
        "tiny" => root(rt, flows_of::tiny(slice)),
        "joinset" => root(rt, flows_of::joinset(slice)),
        "detached" => root(rt, flows_of::detached(slice)),
        "meeting" => root(rt, flows_of::meeting(slice)),
        "foreign" => root(rt, flows_of::foreign(slice)),
        "backlog" => root(rt, flows_of::backlog(slice)),
        "storm" => format!("spawns_per_s {:.0}", block_on(rt, flows_of::storm(slice))),
        "abort" => root(rt, mischief::abort(slice)),
        "panics" => root(rt, mischief::panics(slice)),
        "blocking" => root(rt, mischief::blocking(slice)),
        "in_place" => root(rt, mischief::in_place(slice)),
        "sleep_in_poll" => root(rt, mischief::sleep_in_poll(slice)),
        "long_poll" => root(rt, mischief::long_poll(slice)),
        "lock" => root(rt, mischief::lock(slice)),
        "nested" => root(rt, mischief::nested(slice)),
        "localset" => {
            rt.block_on(mischief::localset(slice));
            String::new()
        }
        "current_thread" => current_thread(dial9, slice),
        "runtimes" => runtimes(dial9, rt, slice),
        "rebuild" => rebuild(dial9, slice),
        _ => return None,
    })
}

/// A current_thread runtime driven on a thread of its own.
fn current_thread(dial9: &Dial9Handle, slice: Slice) -> String {
    let dial9 = dial9.clone();
    // our name of a current_thread runtime is that of the thread which drives it
    let driver = std::thread::Builder::new().name("single".into());
    let driver = driver.spawn(move || {
        let rt = build(&dial9, "single", 0);
        block_on(&rt, async move {
            let flow = spawn(flows_of::pingpong(slice, 2, 500.0));
            flows_of::timers(slice, 8).await;
            let _ = flow.await;
        });
        let handle = rt.handle().clone();
        drop(rt);
        let _ = dial9.detach_tokio_runtime(&handle);
    });
    let _ = driver.expect("thread").join();
    String::new()
}

/// Three runtimes at once, with messages between their tasks.
fn runtimes(dial9: &Dial9Handle, rt: &Runtime, slice: Slice) -> String {
    let side = build(dial9, "side", 2);
    let (tx, mut rx) = mpsc::channel::<u64>(4);
    let sender = spawn_in(side.handle(), async move {
        let mut n = 0;
        while !slice.is_over() {
            if tx.send(n).await.is_err() {
                break;
            }
            n += 1;
            if n % 8 == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        }
    });
    let receiver = spawn_in(rt.handle(), async move { while rx.recv().await.is_some() {} });
    let single = {
        let dial9 = dial9.clone();
        std::thread::spawn(move || current_thread(&dial9, slice))
    };
    rt.block_on(async {
        let _ = sender.await;
        let _ = receiver.await;
    });
    let _ = single.join();
    let handle = side.handle().clone();
    drop(side);
    let _ = dial9.detach_tokio_runtime(&handle);
    String::new()
}

/// Runtimes that are shut down with tasks alive and built again.
fn rebuild(dial9: &Dial9Handle, slice: Slice) -> String {
    let mut built = 0;
    while !slice.is_over() {
        let rt = build(dial9, "again", 2);
        block_on(&rt, async {
            for i in 0..8u64 {
                spawn(async move {
                    loop {
                        sleep(Duration::from_micros(500 + 100 * i)).await;
                        yield_now().await;
                    }
                });
                spawn(std::future::pending::<()>());
            }
            sleep(Duration::from_millis(60)).await;
        });
        // only then: a detached runtime's end is not recorded
        let handle = rt.handle().clone();
        drop(rt);
        let _ = dial9.detach_tokio_runtime(&handle);
        built += 1;
    }
    format!("built {built}")
}
