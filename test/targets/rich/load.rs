// SPDX-License-Identifier: Apache-2.0
//! A load client on plain threads, one keep-alive connection each: open loop at `--rate` requests
//! a second over all, or as fast as answers come with rate 0.

use crate::{stopped, Args};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Tally {
    latency_us: Vec<u32>,
    errors: u64,
}

pub fn run(args: &Args) -> i32 {
    let end = Instant::now() + Duration::from_secs_f64(args.secs);
    let start = Instant::now();
    let conns = args.conns.clamp(1, 1024);
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..conns).map(|i| scope.spawn(move || client(args, i, conns, end))).collect();
        threads.into_iter().map(|th| th.join().unwrap_or_default()).collect()
    });
    let secs = start.elapsed().as_secs_f64();
    let errors: u64 = tallies.iter().map(|tally| tally.errors).sum();
    let mut all: Vec<u32> = tallies.into_iter().flat_map(|tally| tally.latency_us).collect();
    all.sort_unstable();
    let at = |q: f64| all.get((all.len() as f64 * q) as usize).copied().unwrap_or(0);
    println!(
        "requests_per_s {:.0} p50_us {} p99_us {} requests {} errors {errors}",
        all.len() as f64 / secs,
        at(0.50),
        at(0.99),
        all.len()
    );
    i32::from(all.is_empty())
}

fn client(args: &Args, index: usize, conns: usize, end: Instant) -> Tally {
    let mut tally = Tally::default();
    let paths: Vec<&str> = args.paths.split(',').collect();
    let step = (args.rate > 0).then(|| Duration::from_secs_f64(conns as f64 / args.rate as f64));
    let mut due = Instant::now() + step.unwrap_or_default().mul_f64(index as f64 / conns as f64);
    let mut stream = None;
    let mut n = index;
    while Instant::now() < end && !stopped() {
        if let Some(step) = step {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            due += step;
        }
        let begin = Instant::now();
        match request(&mut stream, &args.addr, paths[n % paths.len()]) {
            Ok(()) => tally.latency_us.push(begin.elapsed().as_micros() as u32),
            Err(_) => {
                tally.errors += 1;
                stream = None;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        n += 1;
    }
    tally
}

fn request(slot: &mut Option<TcpStream>, addr: &str, path: &str) -> std::io::Result<()> {
    if slot.is_none() {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        *slot = Some(stream);
    }
    let stream = slot.as_mut().expect("just set");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: rich\r\n\r\n").as_bytes())?;
    let (mut buf, mut len) = ([0u8; 1024], 0);
    loop {
        let n = stream.read(&mut buf[len..])?;
        len += n;
        let text = &buf[..len];
        if let Some(at) = text.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = std::str::from_utf8(&text[..at]).unwrap_or("");
            let want = head
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "))
                .and_then(|n| n.parse::<usize>().ok());
            if want.map_or(false, |want| len >= at + 4 + want) {
                return Ok(());
            }
        }
        if n == 0 || len == buf.len() {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
    }
}
