// SPDX-License-Identifier: Apache-2.0
//! The spawn calls of Tokio, each with its task logged. All are inlined into the caller, so that
//! the caller's line stands in the debug information of the spawn site.

use crate::truth::{self, aborting, ticket, Kind, Victim};
use std::fmt::Debug;
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::task::Poll;
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

pub struct Job<T> {
    pub handle: JoinHandle<T>,
    pub idx: u64,
}

impl<T> Job<T> {
    pub fn abort(&self, victim: Victim) {
        aborting(self.idx, victim, || self.handle.abort());
    }

    /// Its output; None after an abort or a panic.
    pub async fn join(self) -> Option<T> {
        self.handle.await.ok()
    }
}

#[inline(always)]
#[track_caller]
pub fn spawn<F>(label: &'static str, future: F) -> Job<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + Debug + 'static,
{
    let ticket = ticket(Kind::Async, label);
    let handle = tokio::spawn(ticket.wrap(future));
    let idx = ticket.spawned(&handle);
    Job { handle, idx }
}

#[inline(always)]
#[track_caller]
pub fn spawn_on<F>(rt: &Handle, label: &'static str, future: F) -> Job<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + Debug + 'static,
{
    let ticket = ticket(Kind::Async, label);
    let handle = rt.spawn(ticket.wrap(future));
    let idx = ticket.spawned(&handle);
    Job { handle, idx }
}

#[inline(always)]
#[track_caller]
pub fn spawn_local<F>(label: &'static str, future: F) -> Job<F::Output>
where
    F: Future + 'static,
    F::Output: Debug + 'static,
{
    let ticket = ticket(Kind::Local, label);
    let handle = tokio::task::spawn_local(ticket.wrap(future));
    let idx = ticket.spawned(&handle);
    Job { handle, idx }
}

#[inline(always)]
#[track_caller]
pub fn spawn_blocking<R, C>(label: &'static str, job: C) -> Job<R>
where
    C: FnOnce() -> R + Send + 'static,
    R: Send + Debug + 'static,
{
    let ticket = ticket(Kind::Blocking, label);
    let logged = ticket.wrap(job);
    let handle = tokio::task::spawn_blocking(move || logged.run());
    let idx = ticket.spawned(&handle);
    Job { handle, idx }
}

#[inline(always)]
#[track_caller]
pub fn spawn_in<F>(set: &mut JoinSet<F::Output>, label: &'static str, future: F) -> (u64, AbortHandle)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let ticket = ticket(Kind::Async, label);
    let handle = set.spawn(ticket.wrap(future));
    (ticket.spawned(&handle), handle)
}

/// The first future's output, or None once the second is ready: select without macros.
pub async fn unless<A: Future, B: Future>(first: A, second: B) -> Option<A::Output> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(move |cx| {
        if let Poll::Ready(out) = first.as_mut().poll(cx) {
            return Poll::Ready(Some(out));
        }
        second.as_mut().poll(cx).map(|_| None)
    })
    .await
}

/// A runtime builder with the hooks the log needs.
pub fn hooked(mut builder: tokio::runtime::Builder) -> tokio::runtime::Builder {
    builder.enable_all();
    builder.on_thread_park(|| truth::parked(false));
    builder.on_thread_unpark(|| truth::parked(true));
    builder
}
