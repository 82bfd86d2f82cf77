// SPDX-License-Identifier: Apache-2.0
/*
 * recorder.c - everything happens on one thread, on the tick of pace.h: no probe ever wakes the agent.
 * Signals are taken through a descriptor, so that no handler interrupts a write.
 */
#include "recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "clock.h"
#include "comeback.h"
#include "feature.h"
#include "log.h"
#include "opt.h"
#include "pace.h"
#include "probe.h"
#include "ring.h"
#include "session.h"

struct recorder_closing {
	pthread_t thread;
	bool is_running, is_json;
	struct session *session;
	FILE *out;
	int err;
};

struct recorder {
	const struct opt *o;
	struct features features;
	struct probe *probe;
	struct rings *rings;
	struct session *sessions[OPT_PIDS_MAX]; /* by slot; NULL = not recorded (any more) */
	struct recorder_closing closings[OPT_PIDS_MAX]; /* by slot */
	struct comeback *comebacks[OPT_PIDS_MAX]; /* by slot: to be recorded again; NULL = none */
	size_t open_cnt, comebacks_cnt;
	int epoll_fd, signal_fd;
	struct pace pace;
	uint64_t second_ns, end_ns;
	uint64_t late_cnt, bad_cnt;
	uint64_t drained_ns, records_cnt;
	bool is_stopping, is_signalled;
	bool has_recorded; /* anything */
	int err;
};

/* epoll tags: slots below OPT_PIDS_MAX are pidfds */
enum { RECORDER_TAG_TIMER = OPT_PIDS_MAX, RECORDER_TAG_SIGNAL };

static int recorder_watch(struct recorder *r, int fd, unsigned tag)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = tag };

	if (epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return log_error(-errno, "cannot watch descriptor %d: %s", fd, strerror(errno));
	return 0;
}

static int recorder_open_loop(struct recorder *r)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1); /* a stray one must not kill a recording */
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write over ulimit -f is an error like any other */
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->epoll_fd < 0 || r->signal_fd < 0 || pace_open(&r->pace, clock_now_ns()))
		return log_error(-errno, "cannot set up the event loop: %s", strerror(errno));
	err = recorder_watch(r, r->pace.fd, RECORDER_TAG_TIMER);
	return err ? err : recorder_watch(r, r->signal_fd, RECORDER_TAG_SIGNAL);
}

static void recorder_on_record(void *ctx, const struct wire_head *rec, size_t sz)
{
	struct recorder *r = ctx;
	struct session *s = rec->target < OPT_PIDS_MAX ? r->sessions[rec->target] : NULL;

	r->records_cnt++;
	if (s)
		session_record(s, rec, sz);
}

/* What went wrong between kernel and track belongs to every recording: it cannot be told apart. */
static void recorder_count_losses(struct recorder *r, uint64_t now_ns, uint64_t from_ns)
{
	uint64_t late = rings_late(r->rings), bad = rings_bad(r->rings);

	for (size_t i = 0; i < r->o->pids_cnt; i++) {
		if (!r->sessions[i])
			continue;
		if (late > r->late_cnt)
			session_lost(r->sessions[i], now_ns, "Order", "late, written out of order",
				     late - r->late_cnt, from_ns);
		if (bad > r->bad_cnt)
			session_lost(r->sessions[i], now_ns, "Record", "not a record", bad - r->bad_cnt,
				     from_ns);
	}
	r->late_cnt = late;
	r->bad_cnt = bad;
}

static void recorder_drain(struct recorder *r, bool is_last)
{
	uint64_t now_ns = clock_now_ns(), from_ns = r->drained_ns;
	bool is_sparse = true;

	probe_weigh(r->probe, now_ns);
	r->records_cnt = 0;
	r->drained_ns = rings_drain(r->rings, now_ns, is_last, recorder_on_record, r);
	recorder_count_losses(r, now_ns, from_ns);
	for (size_t i = 0; i < r->o->pids_cnt; i++) {
		if (!r->sessions[i])
			continue;
		session_tick(r->sessions[i], clock_now_ns(), r->drained_ns);
		is_sparse = is_sparse && session_is_sparse(r->sessions[i]);
	}
	pace_found(&r->pace, r->records_cnt, is_sparse, now_ns);
	if (now_ns - r->second_ns < CLOCK_SEC_NS)
		return;
	r->second_ns = now_ns;
	for (size_t i = 0; i < r->o->pids_cnt; i++)
		if (r->sessions[i])
			session_second(r->sessions[i], now_ns,
				       clock_read_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static void *recorder_close_one(void *arg)
{
	struct recorder_closing *c = arg;

	c->err = session_close(c->session, clock_now_ns(), c->out, c->is_json);
	return NULL;
}

/* Sealing takes its time: while others are recorded, it has a thread of its own. */
static void recorder_close(struct recorder *r, size_t slot)
{
	struct recorder_closing *c = &r->closings[slot];

	*c = (struct recorder_closing){
		.session = r->sessions[slot],
		.out = r->o->quiet ? NULL : stdout,
		.is_json = r->o->json,
	};
	r->sessions[slot] = NULL;
	r->open_cnt--;
	c->is_running = r->open_cnt && !pthread_create(&c->thread, NULL, recorder_close_one, c);
	if (!c->is_running)
		recorder_close_one(c);
}

static void recorder_join(struct recorder *r)
{
	for (size_t i = 0; i < r->o->pids_cnt; i++) {
		if (r->closings[i].is_running)
			pthread_join(r->closings[i].thread, NULL);
		if (r->closings[i].err && !r->err)
			r->err = r->closings[i].err;
	}
	if (!r->o->quiet && (fflush(stdout) || ferror(stdout)) && !r->err)
		r->err = log_error(-EIO, "cannot write the summary to standard output");
}

/* Detaches first, so that nothing is produced any more, then drains, then seals. */
static void recorder_end(struct recorder *r, size_t slot, const char *why)
{
	struct session *s = r->sessions[slot];

	log_info("%s: sealing the recording of pid %d", why, session_pid(s));
	session_detach(s);
	recorder_drain(r, r->open_cnt == 1);
	recorder_close(r, slot);
}

static void recorder_end_all(struct recorder *r, const char *why)
{
	/* all stop at one moment; what lies in the rings is taken out before anything slow is done */
	for (size_t i = 0; i < r->o->pids_cnt; i++)
		if (r->sessions[i])
			session_stop(r->sessions[i]);
	recorder_drain(r, true);
	for (size_t i = 0; i < r->o->pids_cnt; i++)
		if (r->sessions[i])
			recorder_end(r, i, why);
}

static int recorder_open_session(struct recorder *r, size_t slot)
{
	int err = session_open(r->o, &r->features, r->probe, (unsigned)slot, r->o->pids[slot],
			       &r->sessions[slot]);

	if (!err)
		err = recorder_watch(r, session_pidfd(r->sessions[slot]), (unsigned)slot);
	if (err && r->o->best_effort)
		log_warn(0, "pid %d is not recorded%s", r->o->pids[slot],
			 r->o->pids_cnt > 1 ? ", going on with the others" : "");
	if (err)
		return err;
	r->open_cnt++;
	r->has_recorded = true;
	log_info("recording pid %d into %s (%zu probes)", r->o->pids[slot],
		 session_path(r->sessions[slot]), probe_sites(r->probe, (unsigned)slot));
	return 0;
}

static int recorder_wait(struct recorder *r, size_t slot)
{
	int err = comeback_open(r->o->pids[slot], -1, COMEBACK_FIRST, clock_now_ns(),
				&r->comebacks[slot]);

	if (err)
		return log_error(err, "cannot wait for process %d: %s", r->o->pids[slot],
				 strerror(-err));
	log_info("waiting until pid %d carries a Tokio", r->o->pids[slot]);
	r->comebacks_cnt++;
	return 0;
}

static int recorder_open_sessions(struct recorder *r)
{
	for (size_t i = 0; i < r->o->pids_cnt; i++) {
		int err = r->o->wait ? recorder_wait(r, i) : recorder_open_session(r, i);

		if (err && !r->o->best_effort)
			return err;
	}
	return r->open_cnt || r->comebacks_cnt ? 0 : -ENOENT;
}

/* The process runs on as something else than what is recorded: this recording ends, another may
 * follow it in the same directory. */
static void recorder_leave(struct recorder *r, size_t slot, const char *why,
			   enum comeback_after after)
{
	struct session *s = r->sessions[slot];
	int err = comeback_open(session_pid(s), session_pidfd(s), after, clock_now_ns(),
				&r->comebacks[slot]);

	if (err)
		log_warn(err, "pid %d will not be recorded again: %s", session_pid(s), strerror(-err));
	else
		r->comebacks_cnt++;
	recorder_end(r, slot, why);
}

static void recorder_come_back(struct recorder *r, size_t slot)
{
	struct recorder_closing *closing = &r->closings[slot];
	enum comeback_state state;
	int err;

	/* the directory is the earlier recording's until it is sealed */
	if (closing->is_running && pthread_tryjoin_np(closing->thread, NULL))
		return;
	closing->is_running = false;
	state = comeback_look(r->comebacks[slot], clock_now_ns());
	if (state == COMEBACK_NOT_YET)
		return;
	comeback_close(r->comebacks[slot]);
	r->comebacks[slot] = NULL;
	r->comebacks_cnt--;
	if (closing->err && !r->err)
		r->err = closing->err;
	err = state == COMEBACK_NOW ? recorder_open_session(r, slot) : 0;
	if (err && !r->o->best_effort && !r->err)
		r->err = err;
}

/* Exec, dlopen, and what follows from them. */
static void recorder_look_around(struct recorder *r)
{
	for (size_t i = 0; i < r->o->pids_cnt; i++) {
		const char *path;

		if (r->comebacks[i]) {
			recorder_come_back(r, i);
		} else if (r->sessions[i] && session_has_execed(r->sessions[i])) {
			recorder_leave(r, i, "the process became another program (exec)",
				       COMEBACK_AFTER_EXEC);
		} else if (r->sessions[i] &&
			   (path = session_newcomer(r->sessions[i], clock_now_ns()))) {
			log_info("pid %d has loaded %s, which carries a Tokio that is not recorded yet",
				 session_pid(r->sessions[i]), path);
			recorder_leave(r, i, "going on with all of them in a new session",
				       COMEBACK_AFTER_DLOPEN);
		}
	}
}

static void recorder_on_signal(struct recorder *r, int signo)
{
	if (signo != SIGUSR1 && signo != SIGUSR2)
		r->is_stopping = r->is_signalled = true;
	for (size_t i = 0; signo == SIGUSR1 && i < r->o->pids_cnt; i++)
		if (r->sessions[i])
			session_look_closer(r->sessions[i], "on demand: a signal");
}

static void recorder_on_event(struct recorder *r, unsigned tag)
{
	struct signalfd_siginfo info;

	if (tag == RECORDER_TAG_TIMER) {
		if (pace_is_due(&r->pace))
			recorder_drain(r, false);
		recorder_look_around(r);
	} else if (tag == RECORDER_TAG_SIGNAL) {
		if (read(r->signal_fd, &info, sizeof(info)) == sizeof(info))
			recorder_on_signal(r, (int)info.ssi_signo);
	} else if (r->sessions[tag]) {
		recorder_end(r, tag, "the process has ended");
	}
}

static int recorder_loop(struct recorder *r)
{
	struct epoll_event events[16];

	while ((r->open_cnt || r->comebacks_cnt) && !r->is_stopping) {
		int cnt = epoll_wait(r->epoll_fd, events, 16, -1);

		if (cnt < 0 && errno != EINTR)
			return log_error(-errno, "cannot wait for events: %s", strerror(errno));
		for (int i = 0; i < cnt; i++)
			recorder_on_event(r, events[i].data.u32);
		if (r->end_ns && clock_now_ns() >= r->end_ns)
			r->is_stopping = true;
	}
	return 0;
}

int recorder_run(const struct opt *o)
{
	struct recorder r = { .o = o, .epoll_fd = -1, .signal_fd = -1, .pace.fd = -1 };
	struct probe_options po = { .ring_sz = o->ring_sz, .cpu_hz = o->cpu_hz, .has_sched = true };
	int err;

	features_probe(&r.features, o->perf_uprobes);
	if (o->perf_uprobes) {
		r.features.has_uprobe_multi = r.features.has_multi_pid_filter = false;
		r.features.hit_cost_ns = r.features.perf_cost_ns;
	}
	err = features_check(&r.features);
	if (!err)
		err = probe_open(&po, &r.features, &r.probe);
	if (!err)
		err = rings_open(r.probe, o->ring_sz, &r.rings);
	if (!err)
		err = recorder_open_loop(&r);
	if (!err)
		err = recorder_open_sessions(&r);
	if (!err) {
		r.second_ns = r.drained_ns = clock_now_ns();
		if (o->duration_ns)
			r.end_ns = r.second_ns + o->duration_ns;
		err = recorder_loop(&r);
	}
	if (r.rings)
		recorder_end_all(&r, err ? "after the failure" : "stopped");
	recorder_join(&r);
	/* who waited in vain, and did not end that himself, must not take it for a recording */
	if (!err && !r.err && !r.has_recorded && !r.is_signalled)
		err = log_error(-ENOENT,
				"nothing recorded: no Tokio 1.23 or later was loaded %s",
				r.is_stopping ? "within --duration: give a longer one" :
						"before the process ended");
	for (size_t i = 0; i < o->pids_cnt; i++)
		comeback_close(r.comebacks[i]);
	rings_close(r.rings);
	probe_close(r.probe);
	pace_close(&r.pace);
	if (r.signal_fd >= 0)
		close(r.signal_fd);
	if (r.epoll_fd >= 0)
		close(r.epoll_fd);
	return err ? err : r.err;
}
