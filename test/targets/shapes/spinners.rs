// SPDX-License-Identifier: Apache-2.0
//! Long polls that compute, beside tasks that are as busy and have none: what CPU samples alone
//! cannot tell apart.

use crate::calls::spawn;
use crate::threads::{multi, settle};
use crate::{ready, write_log, Args, Until};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::sleep;

fn compute(long: Duration) {
    let until = Instant::now() + long;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// One poll of 40 ms, then a rest.
async fn spinner(until: Until) {
    while !until.is_over() {
        compute(Duration::from_millis(40));
        sleep(Duration::from_millis(80)).await;
    }
}

/// Gives itself back each 20 us, for 60 ms, then a rest.
async fn yielder(until: Until) {
    while !until.is_over() {
        let rest_at = Instant::now() + Duration::from_millis(60);
        while Instant::now() < rest_at {
            compute(Duration::from_micros(20));
            yield_now().await;
        }
        sleep(Duration::from_millis(60)).await;
    }
}

/// Plays ping-pong for 60 ms, then rests.
async fn player(until: Until, to: mpsc::Sender<u32>, mut from: mpsc::Receiver<u32>) {
    let mut rest_at = Instant::now() + Duration::from_millis(60);
    while let Some(n) = from.recv().await {
        compute(Duration::from_micros(20));
        if Instant::now() > rest_at {
            sleep(Duration::from_millis(60)).await;
            rest_at = Instant::now() + Duration::from_millis(60);
        }
        if until.is_over() || to.send(n + 1).await.is_err() {
            break;
        }
    }
}

/// Many of them, as a program has: each tells one other task of its tick, and wakes it by that.
async fn ticker(until: Until, n: u64, to: mpsc::UnboundedSender<u64>) {
    while !until.is_over() && to.send(n).is_ok() {
        sleep(Duration::from_millis(5 + n % 5)).await;
    }
}

async fn counter(mut ticks: mpsc::UnboundedReceiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(n) = ticks.recv().await {
        sum += n;
    }
    sum
}

pub fn spinners(args: &Args) {
    let rt = multi(2);
    let until = ready(args);
    rt.block_on(async move {
        let (to_b, at_b) = mpsc::channel(1);
        let (to_a, at_a) = mpsc::channel(1);
        to_b.send(0).await.expect("nobody has sent yet");
        let mut jobs = vec![
            spawn("spinner", spinner(until)),
            spawn("yielder", yielder(until)),
            spawn("ping", player(until, to_b, at_a)),
            spawn("pong", player(until, to_a, at_b)),
        ];
        let (to_counter, ticks) = mpsc::unbounded_channel();
        jobs.extend((0..16).map(|n| spawn("ticker", ticker(until, n, to_counter.clone()))));
        drop(to_counter);
        let counter = spawn("counter", counter(ticks));
        for job in jobs {
            job.join().await;
        }
        counter.join().await;
    });
    settle();
    drop(rt);
    write_log(args);
}
