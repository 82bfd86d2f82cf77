// SPDX-License-Identifier: Apache-2.0
//! Runs workloads with dial9's own recorder inside, as the truth that a recording from outside is
//! held against (README.md).
//!   truth --out FILE [--secs N] [--workers N] WORKLOAD...
//! Talks over stdin and stdout: "ready PID" when the runtime stands; waits for the line "go"; runs
//! each workload for --secs seconds, "ran NAME [FIGURE VALUE]" after each; waits for the line
//! "end"; shuts down in dial9's order, so that no buffer is lost, and says "written".

mod flows_of;
mod mischief;
mod runtimes;

use dial9_tokio_telemetry::telemetry::{
    recorder, Dial9Handle, Dial9HandleTokioExt, DiskBuffer, TokioAttachOptions,
};
use std::io::BufRead;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// The time one workload has.
#[derive(Clone, Copy)]
pub struct Slice {
    end: Instant,
    pub len: Duration,
}

impl Slice {
    fn new(len: Duration) -> Self {
        Slice { end: Instant::now() + len, len }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// A runtime that dial9 records, `workers` 0 for a current_thread one.
pub fn build(dial9: &Dial9Handle, name: &str, workers: usize) -> Runtime {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.enable_time();
    if workers > 0 {
        builder.worker_threads(workers).thread_name(format!("{name}-worker"));
    }
    let options =
        TokioAttachOptions::builder().runtime_name(name).task_tracking_enabled(true).build();
    dial9.attach_tokio_runtime(builder, options).expect("runtime")
}

struct Args {
    out: String,
    secs: f64,
    workers: usize,
    names: Vec<String>,
}

fn args() -> Args {
    let mut args = Args { out: String::new(), secs: 2.0, workers: 2, names: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| usage());
        match word.as_str() {
            "--out" => args.out = value(),
            "--secs" => args.secs = value().parse().unwrap_or_else(|_| usage()),
            "--workers" => args.workers = value().parse().unwrap_or_else(|_| usage()),
            _ => args.names.push(word),
        }
    }
    if args.out.is_empty() || args.names.is_empty() {
        usage();
    }
    args
}

fn usage() -> ! {
    eprintln!("usage: truth --out FILE [--secs N] [--workers N] WORKLOAD...");
    std::process::exit(2)
}

fn wait_for(what: &str) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if line.trim() == what {
            return;
        }
    }
}

fn main() {
    let args = args();
    // panics of tasks are part of the work
    std::panic::set_hook(Box::new(|_| ()));
    let recorder = recorder(DiskBuffer::single_file(&args.out).expect("trace file")).build();
    let dial9 = recorder.handle().clone();
    let rt = build(&dial9, "main", args.workers);
    for name in &args.names {
        if name == "alive100k" {
            // before the attach: the agent has to find them, not to see them born
            rt.block_on(async { flows_of::crowd(100_000).await });
        }
    }
    println!("ready {}", std::process::id());
    wait_for("go");
    for name in &args.names {
        let slice = Slice::new(Duration::from_secs_f64(args.secs));
        let figure = runtimes::run(&dial9, &rt, name, slice).unwrap_or_else(|| {
            eprintln!("truth: {name}: no such workload");
            std::process::exit(2)
        });
        println!("ran {name} {figure}");
    }
    println!("idle");
    wait_for("end");
    drop(rt);
    recorder.graceful_shutdown(Duration::from_secs(10));
    println!("written");
}
