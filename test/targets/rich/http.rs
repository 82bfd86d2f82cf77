// SPDX-License-Identifier: Apache-2.0
//! A small HTTP/1.1 keep-alive server on 127.0.0.1, written on tokio::net. Paths: `/` answers at
//! once, `/db` asks a backend task that sleeps 2 ms, `/spawn` joins a task, `/cpu` computes for
//! 1 ms, `/block` blocks the worker for 5 ms, `/pool` works in the blocking pool.

use crate::calls::{spawn, spawn_blocking, unless};
use crate::{stopped, Slice};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

type Query = (u64, oneshot::Sender<u64>);

pub async fn serve(slice: Slice, port: u16) {
    let listener = match TcpListener::bind(("127.0.0.1", port)).await {
        Ok(listener) => listener,
        Err(why) => {
            eprintln!("rich: 127.0.0.1:{port}: {why}");
            std::process::exit(1);
        }
    };
    println!("listening {}", listener.local_addr().map_or(0, |addr| addr.port()));
    let (stop_tx, stop) = watch::channel(false);
    let (db_tx, db_rx) = mpsc::channel::<Query>(256);
    let mut jobs = vec![spawn("backend", backend(db_rx))];
    while !slice.is_over() {
        let next = unless(listener.accept(), sleep(Duration::from_millis(50))).await;
        if let Some(Ok((stream, _))) = next {
            let _ = stream.set_nodelay(true);
            jobs.push(spawn("connection", connection(stream, stop.clone(), db_tx.clone())));
        }
        if jobs.len() > 4096 {
            jobs.retain(|job| !job.handle.is_finished());
        }
    }
    let _ = stop_tx.send(true);
    drop(db_tx);
    for job in jobs {
        job.join().await;
    }
}

async fn backend(mut queries: mpsc::Receiver<Query>) {
    while let Some((n, answer)) = queries.recv().await {
        spawn("query", async move {
            sleep(Duration::from_millis(2)).await;
            let _ = answer.send(n * 2);
        });
    }
    // the last queries end before the runtime does
    sleep(Duration::from_millis(10)).await;
}

async fn connection(mut stream: TcpStream, mut stop: watch::Receiver<bool>, db: mpsc::Sender<Query>) {
    let mut buf = Vec::with_capacity(4096);
    let mut served = 0u64;
    while !stopped() {
        let end = match buf.windows(4).position(|w| w == b"\r\n\r\n") {
            Some(at) => at + 4,
            None if buf.len() > 16 << 10 => return,
            None => match unless(stream.read_buf(&mut buf), stop.changed()).await {
                Some(Ok(n)) if n > 0 => continue,
                _ => return,
            },
        };
        let path = buf[..end].split(|b| *b == b' ').nth(1).unwrap_or(b"/").to_vec();
        let body = answer(&path, served, &db).await;
        served += 1;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        buf.drain(..end);
    }
}

fn burn(time: Duration) -> u64 {
    let (start, mut sum) = (Instant::now(), 0u64);
    while start.elapsed() < time {
        sum = sum.wrapping_mul(31).wrapping_add(7);
    }
    std::hint::black_box(sum)
}

async fn answer(path: &[u8], n: u64, db: &mpsc::Sender<Query>) -> String {
    match path {
        b"/db" => {
            let (tx, rx) = oneshot::channel();
            let _ = db.send((n, tx)).await;
            format!("db {}\n", rx.await.unwrap_or(0))
        }
        b"/spawn" => {
            let job = spawn("handler", async move { n + 1 });
            format!("spawn {}\n", job.join().await.unwrap_or(0))
        }
        b"/cpu" => format!("cpu {}\n", burn(Duration::from_millis(1)) & 1),
        b"/block" => {
            std::thread::sleep(Duration::from_millis(5));
            "block\n".to_string()
        }
        b"/pool" => {
            let job = spawn_blocking("pool", || burn(Duration::from_micros(300)) & 1);
            format!("pool {}\n", job.join().await.unwrap_or(0))
        }
        _ => "hello\n".to_string(),
    }
}
