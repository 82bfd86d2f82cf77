// SPDX-License-Identifier: Apache-2.0
//! Builds the runtimes a mode needs, waits for the word to go, and runs the mode on them.

use crate::calls::{hooked, spawn_on, Job};
use crate::{flows, http, odd, planted, shown, stopped, truth, wait_go, Args, Slice};
use std::sync::mpsc as std_mpsc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

const ALL: [&str; 16] = [
    "pingpong",
    "timers",
    "storm",
    "joinset",
    "meeting",
    "abort",
    "panic",
    "detached",
    "blocking",
    "block_in_place",
    "current_thread",
    "localset",
    "runtimes",
    "sleep-in-poll",
    "lock",
    "nested",
];
const ALONE: [&str; 13] = [
    "steady",
    "idle",
    "http",
    "panic-exit",
    "planted-blocking",
    "planted-convoy",
    "planted-storm",
    "planted-busy",
    "planted-healthy",
    "shown-shares",
    "shown-blocks",
    "shown-long",
    "shown-short",
];

/// A current_thread runtime driven by a thread of its own, where slices are sent to it.
struct Driven {
    tx: std_mpsc::Sender<Slice>,
    done: std_mpsc::Receiver<()>,
    thread: std::thread::JoinHandle<()>,
    handle: Handle,
}

struct World {
    main: Runtime,
    single: Option<Runtime>,
    named: Vec<Runtime>,
    driven: Option<Driven>,
}

fn multi(name: Option<&str>, workers: usize) -> Result<Runtime, String> {
    let mut builder = hooked(Builder::new_multi_thread());
    builder.worker_threads(workers);
    if let Some(name) = name {
        builder.thread_name(name);
    }
    builder.build().map_err(|why| format!("runtime: {why}"))
}

fn drive(name: &str) -> Result<Driven, String> {
    let rt = hooked(Builder::new_current_thread()).build().map_err(|why| why.to_string())?;
    let handle = rt.handle().clone();
    let (tx, rx) = std_mpsc::channel::<Slice>();
    let (done_tx, done) = std_mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(name.to_string())
        .spawn(move || {
            for slice in rx {
                rt.block_on(flows::pingpong(slice, 1, 2_000));
                let _ = done_tx.send(());
            }
        })
        .map_err(|why| why.to_string())?;
    Ok(Driven { tx, done, thread, handle })
}

fn build(args: &Args) -> Result<World, String> {
    let wants = |mode| args.mode == mode || args.mode == "all";
    let single = if wants("current_thread") || wants("localset") {
        Some(hooked(Builder::new_current_thread()).build().map_err(|why| why.to_string())?)
    } else {
        None
    };
    let (mut named, mut driven) = (Vec::new(), None);
    if wants("runtimes") {
        named = vec![multi(Some("alpha"), 1)?, multi(Some("beta"), args.workers)?];
        driven = Some(drive("gamma")?);
    }
    Ok(World { main: multi(None, args.workers)?, single, named, driven })
}

/// Tasks older than any recorder: half of them tick once the work has begun, the others stay
/// idle until the runtime is shut down.
fn elders(rt: &Handle, cnt: usize, go: &watch::Receiver<bool>) -> Vec<Job<u64>> {
    (0..cnt)
        .map(|i| {
            if i % 2 == 1 {
                return spawn_on(rt, "elder-idle", std::future::pending());
            }
            let mut go = go.clone();
            spawn_on(rt, "elder", async move {
                // the sender sets true when the work begins and is dropped when it is over
                let mut ticks = 0;
                while go.has_changed().is_ok() {
                    let begun = *go.borrow();
                    if begun {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        ticks += 1;
                    } else if go.changed().await.is_err() {
                        break;
                    }
                }
                ticks
            })
        })
        .collect()
}

fn one(world: &World, mode: &str, slice: Slice, args: &Args) {
    let main = &world.main;
    let all = args.mode == "all";
    let say = !args.quiet && !all;
    let count = if all { 3 } else { args.count };
    let workers = args.workers as u64;
    let rate = match (args.rate, mode) {
        (0, "steady") => 33_000,
        (0, _) if all => 20_000,
        (rate, _) => rate,
    };
    match mode {
        "pingpong" | "steady" => {
            let got = main.block_on(flows::pingpong(slice, 2 * workers, rate));
            if say {
                println!("{mode} polls_per_s {got:.0} wanted {rate}");
            }
        }
        "timers" => main.block_on(flows::timers(slice, 32)),
        "storm" => {
            let got = main.block_on(flows::storm(slice, workers, rate));
            if say {
                println!("storm spawns_per_s {got:.0} wanted {rate}");
            }
        }
        "joinset" => main.block_on(flows::joinset(slice)),
        "meeting" => main.block_on(flows::meeting(slice)),
        "abort" => main.block_on(odd::abort(slice)),
        "panic" => main.block_on(odd::panics(slice, count, say)),
        "panic-exit" => main.block_on(odd::panic_exit(slice)),
        "detached" => main.block_on(flows::detached(slice)),
        "blocking" => main.block_on(flows::blocking(slice)),
        "block_in_place" => main.block_on(odd::in_place(slice)),
        "sleep-in-poll" => main.block_on(odd::sleep_in_poll(slice)),
        "lock" => main.block_on(odd::lock(slice)),
        "nested" => main.block_on(odd::nested(slice)),
        "http" => main.block_on(http::serve(slice, args.port)),
        _ if mode.starts_with("planted-") => {
            main.block_on(planted::run(&mode["planted-".len()..], slice))
        }
        _ if mode.starts_with("shown-") => {
            main.block_on(shown::run(&mode["shown-".len()..], slice, args))
        }
        "current_thread" | "localset" => {
            let rt = world.single.as_ref().expect("built for this mode");
            if mode == "localset" {
                rt.block_on(flows::localset(slice));
            } else {
                rt.block_on(flows::pingpong(slice, 2, rate));
                rt.block_on(flows::joinset(Slice::of(Duration::from_millis(5))));
            }
        }
        "runtimes" => runtimes(world, slice),
        _ => {
            while !slice.is_over() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Two named multi_thread runtimes and a current_thread one at work at the same time.
fn runtimes(world: &World, slice: Slice) {
    let driven = world.driven.as_ref().expect("built for this mode");
    let _ = driven.tx.send(slice);
    std::thread::scope(|scope| {
        for rt in &world.named {
            scope.spawn(move || rt.block_on(flows::timers(slice, 4)));
        }
        let _ = driven.done.recv();
    });
}

pub fn run(args: &Args) -> Result<(), String> {
    let mode = args.mode.as_str();
    if mode != "all" && !ALL.contains(&mode) && !ALONE.contains(&mode) {
        return Err(format!("--mode {mode}: no such mode"));
    }
    if mode == "panic" && cfg!(panic = "abort") {
        return Err("--mode panic: built with panic=abort, take --mode panic-exit".into());
    }
    let world = build(args)?;
    if mode == "all" {
        std::panic::set_hook(Box::new(|_| ()));
    }
    let (go, begun) = watch::channel(false);
    let old = elders(world.main.handle(), args.alive, &begun);
    if let Some(driven) = &world.driven {
        drop(spawn_on(&driven.handle, "elder-idle", std::future::pending::<u64>()));
    }
    // the elders' first polls are over before anybody is told that all stands ready
    std::thread::sleep(Duration::from_millis(20));
    if !args.quiet {
        println!("ready");
    }
    wait_go(args);
    let _ = go.send(true);

    let whole = Slice::of(Duration::from_secs_f64(args.secs));
    if mode == "all" {
        'cycles: loop {
            for mode in ALL {
                one(&world, mode, Slice::of(Duration::from_millis(args.slice_ms)), args);
                if stopped() {
                    break 'cycles;
                }
            }
            if whole.is_over() {
                break;
            }
        }
    } else {
        one(&world, mode, whole, args);
    }

    drop(go);
    world.main.block_on(async {
        for (i, job) in old.into_iter().enumerate() {
            if i % 2 == 0 {
                job.join().await;
            }
        }
    });
    // what is left is idle: no notification is under way when the runtimes are shut down
    std::thread::sleep(Duration::from_millis(20));
    truth::mark("shutdown");
    if let Some(driven) = world.driven {
        drop(driven.tx);
        let _ = driven.thread.join();
    }
    drop(world.named);
    drop(world.single);
    drop(world.main);
    truth::mark("end");
    Ok(())
}
