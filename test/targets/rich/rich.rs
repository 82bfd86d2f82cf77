// SPDX-License-Identifier: Apache-2.0
//! A Tokio program rich in behaviour, built against several Tokio versions and in several ways,
//! for the recorder to be tested on. README.md beside build.sh lists modes and options.

mod calls;
mod flows;
mod http;
mod load;
mod odd;
mod planted;
mod run;
mod shown;
mod truth;
mod truthlog;

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::{Duration, Instant};

pub const TOKIO: &str = env!("RICH_TOKIO");
pub const PROFILE: &str = env!("RICH_PROFILE");

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    STOP.store(true, SeqCst);
}

pub fn stopped() -> bool {
    STOP.load(SeqCst)
}

pub struct Args {
    pub mode: String,
    pub secs: f64,
    pub slice_ms: u64,
    pub log: Option<String>,
    pub log_parks: bool,
    pub workers: usize,
    pub rate: u64,
    pub count: u64,
    pub conns: usize,
    pub port: u16,
    pub addr: String,
    pub paths: String,
    pub go_file: Option<String>,
    pub alive: usize,
    pub quiet: bool,
}

const USAGE: &str = "usage: rich [--mode all|pingpong|timers|storm|steady|joinset|abort|panic|\
panic-exit|detached|blocking|block_in_place|current_thread|localset|runtimes|sleep-in-poll|lock|\
nested|idle|http|load|\
planted-blocking|planted-convoy|planted-storm|planted-busy|planted-healthy|\
shown-shares|shown-blocks|shown-long|shown-short]\n  [--secs S] [--slice-ms MS] [--workers N] [--rate N] [--count N]\n  \
[--log FILE] [--log-parks] [--go-file PATH] [--alive N] [--quiet]\n  \
http: [--port N]   load: [--addr HOST:PORT] [--conns N] [--paths /a,/b]";

fn parse() -> Result<Args, String> {
    let mut args = Args {
        mode: "all".into(),
        secs: 5.0,
        slice_ms: 100,
        log: None,
        log_parks: false,
        workers: 2,
        rate: 0,
        count: 3,
        conns: 8,
        port: 0,
        addr: "127.0.0.1:8080".into(),
        paths: "/".into(),
        go_file: None,
        alive: 4,
        quiet: false,
    };
    let mut it = std::env::args().skip(1);
    while let Some(flag) = it.next() {
        match flag.as_str() {
            "--log-parks" => {
                args.log_parks = true;
                continue;
            }
            "--quiet" => {
                args.quiet = true;
                continue;
            }
            _ => (),
        }
        let value = it.next().ok_or(format!("{flag}: a value is missing, or no such flag"))?;
        let bad = |_| format!("{flag}: not a number: {value}");
        match flag.as_str() {
            "--mode" => args.mode = value,
            "--secs" => args.secs = value.parse().map_err(|_| bad(0))?,
            "--slice-ms" => args.slice_ms = value.parse().map_err(|_| bad(0))?,
            "--workers" => args.workers = value.parse().map_err(|_| bad(0))?,
            "--rate" => args.rate = value.parse().map_err(|_| bad(0))?,
            "--count" => args.count = value.parse().map_err(|_| bad(0))?,
            "--conns" => args.conns = value.parse().map_err(|_| bad(0))?,
            "--port" => args.port = value.parse().map_err(|_| bad(0))?,
            "--alive" => args.alive = value.parse().map_err(|_| bad(0))?,
            "--log" => args.log = Some(value),
            "--addr" => args.addr = value,
            "--paths" => args.paths = value,
            "--go-file" => args.go_file = Some(value),
            _ => return Err(format!("{flag}: no such flag")),
        }
    }
    if args.workers == 0 || !(0.0..=86_400.0).contains(&args.secs) {
        return Err("--workers must be at least 1 and --secs within a day".into());
    }
    Ok(args)
}

/// Until when a behaviour goes on.
#[derive(Clone, Copy)]
pub struct Slice {
    pub end: Instant,
}

impl Slice {
    pub fn of(time: Duration) -> Slice {
        Slice { end: Instant::now() + time }
    }

    pub fn is_over(&self) -> bool {
        stopped() || Instant::now() >= self.end
    }
}

/// Blocks until the file exists, so that a recorder can attach before the work begins.
pub fn wait_go(args: &Args) {
    if let Some(path) = &args.go_file {
        while !std::path::Path::new(path).exists() && !stopped() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    truth::mark("go");
}

fn main() {
    let args = match parse() {
        Ok(args) => args,
        Err(why) => {
            eprintln!("rich: {why}\n{USAGE}");
            std::process::exit(2);
        }
    };
    let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
    unsafe {
        libc::signal(libc::SIGTERM, handler);
        libc::signal(libc::SIGINT, handler);
    }
    if args.mode == "load" {
        std::process::exit(load::run(&args));
    }
    if args.log.is_some() {
        truth::enable(args.log_parks);
    }
    if !args.quiet {
        println!("pid {} tokio {TOKIO} profile {PROFILE} mode {}", std::process::id(), args.mode);
    }
    if let Err(why) = run::run(&args) {
        eprintln!("rich: {why}");
        std::process::exit(2);
    }
    if let Some(path) = &args.log {
        let panic = if cfg!(panic = "abort") { "abort" } else { "unwind" };
        let unstable = if cfg!(tokio_unstable) { "yes" } else { "no" };
        let head = format!(
            "pid={} tokio={TOKIO} profile={PROFILE} unstable={unstable} panic={panic} mode={} workers={}",
            std::process::id(),
            args.mode,
            args.workers
        );
        if let Err(why) = truthlog::write(path, &head) {
            eprintln!("rich: {path}: {why}");
            std::process::exit(1);
        }
    }
    if !args.quiet {
        println!("done");
    }
}
