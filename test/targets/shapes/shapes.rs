// SPDX-License-Identifier: Apache-2.0
//! Tokio in the shapes that rich does not have: runtimes driven by foreign threads, LocalRuntime,
//! LocalSets per thread, runtimes inside blocking tasks, rayon beside it, processes that fork,
//! exec and dlopen. Same options and same log as rich; README.md beside shapes.sh lists modes.
#![allow(dead_code)]

#[path = "../rich/calls.rs"]
mod calls;
mod process;
mod threads;
#[path = "../rich/truth.rs"]
mod truth;
#[path = "../rich/truthlog.rs"]
mod truthlog;

use std::path::Path;
use std::time::{Duration, Instant};

pub struct Args {
    pub mode: String,
    pub secs: f64,
    pub log: Option<String>,
    pub go_file: Option<String>,
    /// fork: where the children write what they counted, and the file that ends them; dlopen: the
    /// library, and the file that sets it to work; exec: the program to become and its arguments, in one
    pub rest: Vec<String>,
}

const USAGE: &str = "usage: shapes --mode MODE [--secs S] [--log FILE] [--go-file PATH] [REST]\n\
    shared-core|local-runtime|local-sets|in-blocking|hand-off|rayon|threads\n\
    fork OUT END-FILE | dlopen LIBRARY GO-FILE | exec \"PROGRAM ARGS...\"";

fn parse() -> Option<Args> {
    let mut args =
        Args { mode: String::new(), secs: 2.0, log: None, go_file: None, rest: Vec::new() };
    let mut it = std::env::args().skip(1);
    while let Some(flag) = it.next() {
        match flag.as_str() {
            "--mode" => args.mode = it.next()?,
            "--secs" => args.secs = it.next()?.parse().ok()?,
            "--log" => args.log = Some(it.next()?),
            "--go-file" => args.go_file = Some(it.next()?),
            _ => args.rest.push(flag),
        }
    }
    Some(args)
}

/// Until when the work goes on.
#[derive(Clone, Copy)]
pub struct Until(Instant);

impl Until {
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }
}

pub fn wait_for(path: &str) {
    while !Path::new(path).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Says that all stands ready, waits for the word to go.
pub fn ready(args: &Args) -> Until {
    std::thread::sleep(Duration::from_millis(20));
    println!("ready");
    if let Some(path) = &args.go_file {
        wait_for(path);
    }
    truth::mark("go");
    Until(Instant::now() + Duration::from_secs_f64(args.secs))
}

/// The log of all tasks; every runtime is gone.
pub fn write_log(args: &Args) {
    // what ended last has returned from its poll
    truth::mark("end");
    if let Some(path) = &args.log {
        let head = format!("pid={} mode={}", std::process::id(), args.mode);
        truthlog::write(path, &head).expect("the log can be written");
    }
}

fn main() {
    let Some(args) = parse() else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    if args.log.is_some() {
        truth::enable(false);
    }
    println!("pid {} mode {}", std::process::id(), args.mode);
    let rest: Vec<&str> = args.rest.iter().map(String::as_str).collect();
    match (args.mode.as_str(), rest.as_slice()) {
        ("shared-core", []) => threads::shared_core(&args),
        ("local-runtime", []) => threads::local_runtime(&args),
        ("local-sets", []) => threads::local_sets(&args),
        ("in-blocking", []) => threads::in_blocking(&args),
        ("hand-off", []) => threads::hand_off(&args),
        ("rayon", []) => threads::rayon_beside(&args),
        ("threads", []) => threads::before_and_after(&args),
        ("fork", [out, end]) => process::fork(&args, out, end),
        ("dlopen", [library, guest_go]) => process::dlopen(&args, library, guest_go),
        ("exec", [command]) => process::exec(&args, command),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
    println!("done");
}
