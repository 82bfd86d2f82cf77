// SPDX-License-Identifier: Apache-2.0
//! Shapes of processes: children by fork, another program by exec, a second Tokio by dlopen.

use crate::calls::spawn;
use crate::threads::{chatter, multi, single};
use crate::truth;
use crate::{ready, wait_for, write_log, Args};
use std::ffi::CString;
use std::io::Write;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio::time::sleep;

fn say(out: &str, line: &str) {
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(out).expect("the file of the children");
    file.write_all(format!("{line}\n").as_bytes()).expect("a line can be written");
}

/// What a child has counted goes to `out`; it stays until `end` exists, and never writes a log.
fn child_ends(out: &str, end: &str, what: &str, polls: u64) -> ! {
    say(out, &format!("{what} {} {polls}", std::process::id()));
    wait_for(end);
    unsafe { libc::_exit(0) }
}

/// Forks between polls: the child makes a runtime of its own, whose tasks have ids that the
/// parent's tasks have too.
fn fork_outside(out: &str, end: &str) -> libc::pid_t {
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        return pid;
    }
    let before = truth::poll_cnt();
    single().block_on(async {
        for _ in 0..100 {
            spawn("of-child", async {
                yield_now().await;
                sleep(Duration::from_millis(1)).await;
            })
            .join()
            .await;
        }
    });
    child_ends(out, end, "outside", truth::poll_cnt() - before)
}

/// Forks while a recorder is at work, once outside and once inside a poll. The second child goes on
/// as a copy of the worker: it returns from that poll and polls the copied tasks.
pub fn fork(args: &Args, out: &str, end: &str) {
    // no I/O driver: its epoll instance would be shared with the child
    let rt = Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("runtime");
    let early = fork_outside(out, end);
    let until = ready(args);
    let mut children = vec![early, fork_outside(out, end)];
    let (out_of_child, end_of_child) = (out.to_string(), end.to_string());
    let inside = rt.block_on(async move {
        let forker = spawn("forker", async move {
            yield_now().await;
            let before = truth::poll_cnt();
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                for _ in 0..200 {
                    yield_now().await;
                }
                let polls = truth::poll_cnt() - before;
                child_ends(&out_of_child, &end_of_child, "inside", polls);
            }
            pid
        });
        let pid = forker.join().await.expect("the forker ends");
        chatter(until).await;
        pid
    });
    children.push(inside);
    std::thread::sleep(Duration::from_millis(20));
    truth::mark("shutdown");
    drop(rt);
    write_log(args);
    println!("worked");
    for pid in children {
        let mut status = 0;
        let got = unsafe { libc::waitpid(pid, &mut status, 0) };
        if got != pid || status != 0 {
            eprintln!("shapes: child {pid} ended with status {status}");
            std::process::exit(1);
        }
    }
}

/// Works, then becomes another program.
pub fn exec(args: &Args, command: &str) {
    let rt = multi(2);
    let until = ready(args);
    rt.block_on(chatter(until));
    std::thread::sleep(Duration::from_millis(20));
    truth::mark("shutdown");
    drop(rt);
    write_log(args);
    println!("execs");
    let argv: Vec<CString> =
        command.split(' ').map(|arg| CString::new(arg).expect("an argument")).collect();
    let mut raw: Vec<*const libc::c_char> = argv.iter().map(|arg| arg.as_ptr()).collect();
    raw.push(std::ptr::null());
    unsafe { libc::execv(raw[0], raw.as_ptr()) };
    eprintln!("shapes: {command}: {}", std::io::Error::last_os_error());
    std::process::exit(1);
}

/// Loads a library with a Tokio of its own while this program's Tokio works, and runs it too.
pub fn dlopen(args: &Args, library: &str, guest_go: &str) {
    let rt = multi(2);
    let until = ready(args);
    let path = CString::new(library).expect("a path");
    let guest_go = guest_go.to_owned();
    let secs = args.secs.ceil() as u32;
    let guest = std::thread::spawn(move || {
        let lib = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!lib.is_null(), "the library can be loaded");
        println!("loaded");
        // until the recorder has noticed it; a program's own initialisation would take as long
        wait_for(&guest_go);
        let run = unsafe { libc::dlsym(lib, c"tokio_ext_run".as_ptr()) };
        assert!(!run.is_null(), "the library has tokio_ext_run");
        let run: extern "C" fn(u32) -> i64 = unsafe { std::mem::transmute(run) };
        run(secs)
    });
    rt.block_on(chatter(until));
    let polls = guest.join().expect("the library runs");
    println!("guest polls {polls}");
    std::thread::sleep(Duration::from_millis(20));
    truth::mark("shutdown");
    drop(rt);
    write_log(args);
}
