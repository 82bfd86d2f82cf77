// SPDX-License-Identifier: Apache-2.0
//! Writes what `truth` recorded as text; README.md states the format.

use crate::truth::{close, Fate, Kind, Rec, Thread, Victim};
use std::collections::HashMap;
use std::io::{BufWriter, Write};

#[derive(Default, Clone)]
struct Task {
    id: u64,
    kind: Option<Kind>,
    label: &'static str,
    abort: Option<Victim>,
    drop: Option<(u32, Option<Fate>)>,
}

/// Writes the log. Every runtime must be gone. `head` is put into the first line.
pub fn write(path: &str, head: &str) -> std::io::Result<()> {
    let (threads, lost) = close();
    let mut tasks: HashMap<u64, Task> = HashMap::new();
    each(&threads, |_, rec| match *rec {
        Rec::Spawn { idx, kind, .. } => tasks.entry(idx).or_default().kind = Some(kind),
        Rec::Task { idx, id, .. } => tasks.entry(idx).or_default().id = id,
        Rec::Label { idx, label } => tasks.entry(idx).or_default().label = label,
        Rec::Abort { idx, victim, .. } => tasks.entry(idx).or_default().abort = Some(victim),
        Rec::Drop { idx, polls, fate, .. } => {
            tasks.entry(idx).or_default().drop = Some((polls, Some(fate)))
        }
        _ => (),
    });

    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    writeln!(out, "# rich-truth 1 {head} ids=yes lost={lost}")?;
    writeln!(out, "# rule: recorder polls of a task = polls + extra (README.md)")?;
    for th in threads.iter() {
        writeln!(out, "thread {} {}", th.tid, th.name)?;
    }
    let mut err = Ok(());
    each(&threads, |tid, rec| {
        if err.is_ok() {
            err = line(&mut out, &tasks, tid, rec);
        }
    });
    err?;
    let (mut polls_all, mut extra_all, mut odd) = (0u64, 0u64, 0u64);
    for task in tasks.values() {
        let (polls, extra, cause) = verdict(task);
        polls_all += u64::from(polls);
        extra_all += u64::from(extra.unwrap_or(0));
        odd += u64::from(extra.is_none());
        let extra = extra.map_or("?".to_string(), |n| n.to_string());
        let kind = kind_name(task.kind);
        writeln!(out, "task {} {kind} {} {polls} {extra} {cause}", task.id, task.label)?;
    }
    writeln!(
        out,
        "total tasks={} polls={polls_all} extra={extra_all} unsure={odd}",
        tasks.len()
    )?;
    out.flush()
}

/// (logged polls, polls of the recorder beyond these or None if it may be 0 or 1, cause).
fn verdict(task: &Task) -> (u32, Option<u32>, &'static str) {
    let Some((polls, fate)) = task.drop else {
        return (0, None, "alive");
    };
    match fate {
        Some(Fate::Done) => (polls, Some(0), "done"),
        Some(Fate::Panicked) => (polls, Some(0), "panic"),
        _ => match (task.abort, polls) {
            // shutdown() takes an idle task without a poll
            (None, _) => (polls, Some(0), "shutdown"),
            (Some(_), 0) | (Some(Victim::Idle), _) => (polls, Some(1), "cancel"),
            (Some(_), _) => (polls, Some(0), "cancel"),
        },
    }
}

fn each(threads: &[&'static Thread], mut f: impl FnMut(i32, &Rec)) {
    for th in threads {
        for chunk in th.recs.lock().unwrap().iter() {
            chunk.iter().for_each(|rec| f(th.tid, rec));
        }
    }
}

fn kind_name(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Async) => "async",
        Some(Kind::Blocking) => "blocking",
        Some(Kind::Local) => "local",
        None => "?",
    }
}

fn line(
    out: &mut impl Write,
    tasks: &HashMap<u64, Task>,
    tid: i32,
    rec: &Rec,
) -> std::io::Result<()> {
    let task = |idx: &u64| &tasks[idx];
    match rec {
        Rec::Spawn { idx, t0, t1, kind } => {
            let task = task(idx);
            writeln!(
                out,
                "spawn {} {tid} {t0} {t1} {} {}",
                task.id,
                kind_name(Some(*kind)),
                task.label
            )
        }
        Rec::Task { idx, site, .. } => writeln!(out, "site {} {site}", task(idx).id),
        Rec::Label { .. } => Ok(()),
        Rec::Poll { idx, t0, t1, depth, result } => {
            let result = match result {
                Fate::Done => "ready",
                Fate::Dropped => "pending",
                Fate::Panicked => "panic",
            };
            writeln!(out, "poll {} {tid} {t0} {t1} {result} {depth}", task(idx).id)
        }
        Rec::Drop { idx, t, .. } => writeln!(out, "drop {} {tid} {t}", task(idx).id),
        Rec::Abort { idx, t0, t1, victim } => {
            let id = task(idx).id;
            writeln!(out, "abort {id} {tid} {t0} {t1} {}", format!("{victim:?}").to_lowercase())
        }
        Rec::Park { t, unpark } => {
            writeln!(out, "{} {tid} {t}", if *unpark { "unpark" } else { "park" })
        }
        Rec::Mark { t, text } => writeln!(out, "mark {t} {text}"),
    }
}
