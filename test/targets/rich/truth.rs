// SPDX-License-Identifier: Apache-2.0
//! The program's own truth about its tasks: every spawned future is wrapped in `Logged`, whose
//! poll and drop are recorded with CLOCK_MONOTONIC times in per-thread buffers and written as
//! text when all runtimes are gone. README.md beside the build script states the format and the
//! rule by which a recorder's counts must equal these.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use std::sync::Mutex;
use std::task::{Context, Poll};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Async,
    Blocking,
    Local,
}

/// What the aborter could prove about its victim when abort() was called.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Victim {
    /// between two polls, not queued
    Idle,
    /// inside a poll that did not end before abort() returned
    Running,
    /// just spawned: never polled, or Running if a thread was quicker
    Fresh,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Dropped,
    Done,
    Panicked,
}

pub(crate) enum Rec {
    Spawn { idx: u64, t0: u64, t1: u64, kind: Kind },
    Task { idx: u64, id: u64, site: &'static Location<'static> },
    Label { idx: u64, label: &'static str },
    Poll { idx: u64, t0: u64, t1: u64, depth: u8, result: Fate },
    Drop { idx: u64, t: u64, polls: u32, fate: Fate },
    Abort { idx: u64, t0: u64, t1: u64, victim: Victim },
    Park { t: u64, unpark: bool },
    Mark { t: u64, text: &'static str },
}

/// Records per chunk: buffers grow by whole chunks, so no poll pays for moving an old one.
const CHUNK_CNT: usize = 1 << 15;
/// Memory bound of the log: 96 million records of 32 bytes, about 3 GB.
const RECORD_CAP: u64 = 96 << 20;

pub struct Thread {
    pub(crate) tid: i32,
    pub(crate) name: String,
    /// goes up at each poll start and each park: later than a remembered value = that poll ended
    seq: AtomicU64,
    polls: AtomicU64,
    depth: AtomicU32,
    pub(crate) recs: Mutex<Vec<Vec<Rec>>>,
}

static LOG: AtomicBool = AtomicBool::new(false);
static LOG_PARKS: AtomicBool = AtomicBool::new(false);
static NEXT: AtomicU64 = AtomicU64::new(0);
static RECORDS: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static THREADS: Mutex<Vec<&'static Thread>> = Mutex::new(Vec::new());

thread_local! {
    static THREAD: Cell<Option<&'static Thread>> = const { Cell::new(None) };
}

pub fn now_ns() -> u64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut ts) };
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

pub fn enable(parks: bool) {
    LOG.store(true, SeqCst);
    LOG_PARKS.store(parks, SeqCst);
}

fn thread() -> &'static Thread {
    THREAD.with(|cell| {
        cell.get().unwrap_or_else(|| {
            let made: &'static Thread = Box::leak(Box::new(Thread {
                tid: unsafe { libc::syscall(libc::SYS_gettid) } as i32,
                name: std::thread::current().name().unwrap_or("?").replace(' ', "_"),
                seq: AtomicU64::new(0),
                polls: AtomicU64::new(0),
                depth: AtomicU32::new(0),
                recs: Mutex::new(Vec::new()),
            }));
            THREADS.lock().unwrap().push(made);
            cell.set(Some(made));
            made
        })
    })
}

fn push(th: &Thread, rec: Rec) {
    if !LOG.load(Relaxed) {
        return;
    }
    let mut recs = th.recs.lock().unwrap();
    if recs.last().map_or(true, |chunk| chunk.len() == CHUNK_CNT) {
        if RECORDS.fetch_add(CHUNK_CNT as u64, Relaxed) >= RECORD_CAP {
            LOST.fetch_add(1, Relaxed);
            return;
        }
        recs.push(Vec::with_capacity(CHUNK_CNT));
    }
    recs.last_mut().unwrap().push(rec);
}

pub fn mark(text: &'static str) {
    push(thread(), Rec::Mark { t: now_ns(), text });
}

/// Hook for Builder::on_thread_park and on_thread_unpark.
pub fn parked(unpark: bool) {
    let th = thread();
    th.seq.fetch_add(1, SeqCst);
    if LOG_PARKS.load(Relaxed) {
        push(th, Rec::Park { t: now_ns(), unpark });
    }
}

/// Polls of logged tasks so far, over all threads.
pub fn poll_cnt() -> u64 {
    THREADS.lock().unwrap().iter().map(|th| th.polls.load(Relaxed)).sum()
}

/// Where a task was last polled, so that another can prove that the poll is over.
#[derive(Default)]
pub struct Spot {
    at: Mutex<Option<(&'static Thread, u64)>>,
}

impl Spot {
    /// Called inside a poll of the task.
    pub fn mark(&self) {
        let th = thread();
        *self.at.lock().unwrap() = Some((th, th.seq.load(SeqCst)));
    }

    pub fn is_marked(&self) -> bool {
        self.at.lock().unwrap().is_some()
    }

    /// True once the marked poll has certainly returned to the scheduler: the thread has since
    /// started another poll or parked.
    pub fn is_over(&self) -> bool {
        self.at.lock().unwrap().map_or(false, |(th, seq)| th.seq.load(SeqCst) > seq)
    }
}

/// Takes the digits out of the Debug text of a handle, `JoinHandle { id: Id(7) }`: the one place
/// where every Tokio version shows a task's id without tokio_unstable.
struct Digits(u64);

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for b in text.bytes().filter(u8::is_ascii_digit) {
            self.0 = self.0 * 10 + u64::from(b - b'0');
        }
        Ok(())
    }
}

/// One task's life; its drop is the drop of the future. Stands first in its owners, so that it
/// is recorded before the future's own destructors run.
struct Life {
    idx: u64,
    polls: u32,
    fate: Fate,
}

impl Drop for Life {
    fn drop(&mut self) {
        if LOG.load(Relaxed) {
            let (idx, polls, fate) = (self.idx, self.polls, self.fate);
            push(thread(), Rec::Drop { idx, t: now_ns(), polls, fate });
        }
    }
}

pub struct Logged<F> {
    life: Life,
    inner: F,
}

struct PollGuard<'a> {
    th: &'static Thread,
    idx: u64,
    t0: u64,
    fate: &'a mut Fate,
    result: Fate,
}

fn poll_begin(life: &mut Life) -> PollGuard<'_> {
    let th = thread();
    th.seq.fetch_add(1, SeqCst);
    th.polls.store(th.polls.load(Relaxed) + 1, Relaxed);
    th.depth.store(th.depth.load(Relaxed) + 1, Relaxed);
    life.polls += 1;
    let t0 = if LOG.load(Relaxed) { now_ns() } else { 0 };
    PollGuard { th, idx: life.idx, t0, fate: &mut life.fate, result: Fate::Panicked }
}

impl Drop for PollGuard<'_> {
    fn drop(&mut self) {
        let depth = self.th.depth.load(Relaxed);
        self.th.depth.store(depth - 1, Relaxed);
        *self.fate = self.result;
        if LOG.load(Relaxed) {
            let (idx, t0, t1, result) = (self.idx, self.t0, now_ns(), self.result);
            push(self.th, Rec::Poll { idx, t0, t1, depth: depth as u8, result });
        }
    }
}

impl<F: Future> Future for Logged<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // Sound: `inner` is structurally pinned, it is never moved once polled.
        let this = unsafe { self.get_unchecked_mut() };
        let mut guard = poll_begin(&mut this.life);
        let out = unsafe { Pin::new_unchecked(&mut this.inner) }.poll(cx);
        guard.result = if out.is_ready() { Fate::Done } else { Fate::Dropped };
        out
    }
}

impl<C> Logged<C> {
    /// The one run of a blocking closure.
    pub fn run<R>(self) -> R
    where
        C: FnOnce() -> R,
    {
        let Logged { mut life, inner } = self;
        let mut guard = poll_begin(&mut life);
        let out = inner();
        guard.result = Fate::Done;
        drop(guard);
        out
    }
}

/// A spawn in progress: made before the spawn call, finished with the handle.
pub struct Ticket {
    idx: u64,
    t0: u64,
    kind: Kind,
    label: &'static str,
    site: &'static Location<'static>,
}

#[track_caller]
pub fn ticket(kind: Kind, label: &'static str) -> Ticket {
    let t0 = if LOG.load(Relaxed) { now_ns() } else { 0 };
    Ticket { idx: NEXT.fetch_add(1, Relaxed), t0, kind, label, site: Location::caller() }
}

impl Ticket {
    pub fn wrap<F>(&self, inner: F) -> Logged<F> {
        Logged { life: Life { idx: self.idx, polls: 0, fate: Fate::Dropped }, inner }
    }

    /// Records the spawn; `handle` is the JoinHandle or AbortHandle. Returns the number by which
    /// `aborting` knows the task.
    pub fn spawned(self, handle: &dyn fmt::Debug) -> u64 {
        if LOG.load(Relaxed) {
            let (th, idx, t1) = (thread(), self.idx, now_ns());
            let mut id = Digits(0);
            let _ = write!(id, "{handle:?}");
            push(th, Rec::Spawn { idx, t0: self.t0, t1, kind: self.kind });
            push(th, Rec::Label { idx, label: self.label });
            push(th, Rec::Task { idx, id: id.0, site: self.site });
        }
        self.idx
    }
}

pub fn aborting(idx: u64, victim: Victim, abort: impl FnOnce()) {
    let t0 = now_ns();
    abort();
    push(thread(), Rec::Abort { idx, t0, t1: now_ns(), victim });
}

/// Ends the logging. Returns the threads with their records, and how many records were lost to
/// the cap.
pub(crate) fn close() -> (std::sync::MutexGuard<'static, Vec<&'static Thread>>, u64) {
    LOG.store(false, SeqCst);
    (THREADS.lock().unwrap(), LOST.load(SeqCst))
}
