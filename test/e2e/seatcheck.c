/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seatcheck PROGRAM [WORKERS]: what seat.c reads from a running Tokio program, against what the
 * program says of itself (test/targets/seats/seats.rs tells how). PROGRAM is started by it.
 *
 * Prints each disagreement and one line of figures. Exit 0: all agree; 1: they do not; 2: usage.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/feature.h"
#include "agent/log.h"
#include "agent/memory.h"
#include "agent/plan.h"
#include "agent/seat.h"
#include "agent/target.h"

#define THREADS_MAX 512
#define RUNTIMES_MAX 8
#define ROUNDS 6
#define WAIT_SECS 60

struct truth {
	pid_t tid;
	char runtime; /* 'A', 'B'; 0 = no worker */
	int depth;
};

struct runtime {
	char kind[32];
	unsigned long scheduler;
	int inject, alive;
};

static pid_t child;
static FILE *to, *from;
static struct target *target;
static struct plan *plan;
static struct seats *seats;
static struct truth truths[THREADS_MAX];
static int truths_cnt;
static struct runtime runtimes[RUNTIMES_MAX];
static int runtimes_cnt;
static unsigned good, bad, reads, reads_max;
static double find_max_ms, search_ms;

static int read_counted(void *ctx, uint64_t addr, void *buf, size_t sz)
{
	reads++;
	return target_read(ctx, addr, buf, sz);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void judge(bool is_good, const char *what, long subject, long got, long want)
{
	if (is_good) {
		good++;
		return;
	}
	bad++;
	printf("bad: %s of %ld: %ld, in truth %ld\n", what, subject, got, want);
}

/* The program's answers up to `last`. */
static void answers(const char *last)
{
	char line[256];

	while (fgets(line, sizeof(line), from)) {
		struct truth t = {0};
		struct runtime r;
		int i;

		if (!strncmp(line, last, strlen(last)))
			return;
		if (sscanf(line, "worker %c %d %d", &t.runtime, &t.tid, &t.depth) == 3 &&
		    truths_cnt < THREADS_MAX)
			truths[truths_cnt++] = t;
		if (sscanf(line, "runtime %31s %lx %d %d", r.kind, &r.scheduler, &r.inject,
			   &r.alive) != 4)
			continue;
		for (i = 0; i < runtimes_cnt && strcmp(runtimes[i].kind, r.kind); i++)
			;
		if (i < RUNTIMES_MAX)
			runtimes[i] = r;
		if (i == runtimes_cnt && i < RUNTIMES_MAX)
			runtimes_cnt++;
	}
	printf("bad: the program ended before it said \"%s\"\n", last);
	exit(1);
}

static void command(const char *text)
{
	fprintf(to, "%s\n", text);
	fflush(to);
	answers("done");
}

static void start(const char *program, const char *workers)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		exit(1);
	child = fork();
	if (!child) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		alarm(WAIT_SECS);
		close(in[1]);
		close(out[0]);
		execl(program, program, workers, (char *)NULL);
		fprintf(stderr, "seatcheck: %s: %s: build it with test/targets/build.sh\n", program,
			strerror(errno));
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to = fdopen(in[1], "w");
	from = fdopen(out[0], "r");
	answers("ready");
}

/* The recorder has it from the kernel; here the thread is stopped for a moment. */
static uint64_t thread_pointer(pid_t tid)
{
	struct user_regs_struct regs = {0};
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return 0;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	waitpid(tid, &status, __WALL);
	ptrace(PTRACE_GETREGS, tid, NULL, &regs);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return regs.fs_base;
}

static int threads(pid_t *tids)
{
	char path[64];
	struct dirent *e;
	int cnt = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
	dir = opendir(path);
	if (!dir)
		exit(1);
	while ((e = readdir(dir)) && cnt < THREADS_MAX)
		if (e->d_name[0] != '.')
			tids[cnt++] = atoi(e->d_name);
	closedir(dir);
	return cnt;
}

static int depth_read(const struct seat *s)
{
	uint64_t head;
	uint32_t tail;

	if (!s->queue_addr || target_read(target, s->queue_addr, &head, sizeof(head)) ||
	    target_read(target, s->queue_addr + s->tail_off, &tail, sizeof(tail)))
		return -1;
	return (int)(tail - (uint32_t)head);
}

static void check_thread(pid_t tid, bool is_learnt, bool *used)
{
	struct seat seat = {0};
	const struct truth *t = NULL;
	uint64_t fsbase = thread_pointer(tid);
	double begin = now_ms();
	int err, depth;

	reads = 0;
	err = seats_find(seats, tid, fsbase, &seat);
	if (is_learnt && reads > reads_max)
		reads_max = reads;
	if (now_ms() - begin > find_max_ms)
		find_max_ms = now_ms() - begin;
	for (int i = 0; i < truths_cnt; i++)
		if (truths[i].tid == tid)
			t = &truths[i];
	if (!t) {
		judge(err == -ENOENT, "seat (of no worker)", tid, err, -ENOENT);
		return;
	}
	judge(!err, "seat", tid, err, 0);
	if (err)
		return;
	judge(seat.has_core, "core", tid, seat.has_core, 1);
	depth = depth_read(&seat);
	judge(depth == t->depth || (!is_learnt && depth == -1), "depth", tid, depth, t->depth);
	judge(t->runtime != 'A' || seat.handle == runtimes[0].scheduler, "handle", tid,
	      (long)seat.handle, (long)runtimes[0].scheduler);
	judge(seat.index < seat.workers_cnt && !used[(t->runtime == 'B') * 256 + seat.index],
	      "index", tid, seat.index, -1);
	used[(t->runtime == 'B') * 256 + seat.index] = true;
}

static void check_threads(bool is_learnt)
{
	bool used[512] = {false};
	pid_t tids[THREADS_MAX];
	int cnt = threads(tids);

	for (int i = 0; i < cnt; i++)
		check_thread(tids[i], is_learnt, used);
}

static struct seat_runtime check_runtime(const struct runtime *r, uint64_t owner_id)
{
	enum seat_flavor flavor = SEAT_UNKNOWN;
	struct seat_runtime ret = {0};
	int err = seats_flavor(seats, r->scheduler, &flavor);
	int want = !strcmp(r->kind, "multi_thread") ? SEAT_MULTI_THREAD :
		   !strcmp(r->kind, "current_thread") ? SEAT_CURRENT_THREAD : SEAT_UNKNOWN;

	judge(flavor == (enum seat_flavor)want && !err == (want != SEAT_UNKNOWN), r->kind,
	      (long)r->scheduler, flavor, want);
	if (err)
		return ret;
	err = seats_runtime(seats, r->scheduler, owner_id, 0, &ret);
	judge(!err, "runtime", (long)r->scheduler, err, 0);
	judge(!ret.has_alive || (int)ret.alive == r->alive, "alive", (long)r->scheduler,
	      ret.alive, r->alive);
	judge(!ret.has_global_depth || (int)ret.global_depth == r->inject, "inject",
	      (long)r->scheduler, ret.global_depth, r->inject);
	return ret;
}

/* While one worker is away, two threads sit on one seat: the one with the Core has it. */
static void check_away(void)
{
	pid_t tids[THREADS_MAX];
	int cnt, with = 0, without = 0;

	command("away");
	cnt = threads(tids);
	for (int i = 0; i < cnt; i++) {
		struct seat seat;

		if (seats_find(seats, tids[i], thread_pointer(tids[i]), &seat) ||
		    seat.handle != runtimes[0].scheduler)
			continue;
		with += seat.has_core;
		without += !seat.has_core;
	}
	judge(without == 1, "workers without a core", child, without, 1);
	judge(with >= 1, "workers with a core", child, with, 1);
}

int main(int argc, char **argv)
{
	const struct plan_options options = {.level = PLAN_STAT};
	const struct features features = {0};
	struct memory memory = {.read = read_counted};
	struct seat_runtime last = {0};

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: seatcheck PROGRAM [WORKERS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	alarm(WAIT_SECS);
	start(argv[1], argc > 2 ? argv[2] : "3");
	if (target_open(child, &target) || plan_build(target, &options, &features, &plan))
		return 1;
	memory.ctx = target;
	if (seats_open_memory(&memory, target, plan, &seats))
		return 1;
	command("pending 5");
	for (int round = 0; round < ROUNDS; round++) {
		char text[64];

		truths_cnt = 0;
		snprintf(text, sizeof(text), "hold %d %d", 3 + 2 * round, round ? 2 + round : 0);
		command(text);
		if (!round) {
			search_ms = now_ms();
			check_threads(false);
			search_ms = now_ms() - search_ms;
		} else {
			check_threads(true);
		}
		last = check_runtime(&runtimes[0], 1); /* the first runtime's task list is 1 */
		command("release");
		seats_runtime(seats, runtimes[0].scheduler, 1, 0, &(struct seat_runtime){0});
	}
	for (int i = 1; i < runtimes_cnt; i++)
		check_runtime(&runtimes[i], 0);
	check_away();
	printf("good %u bad %u vtables %zu reads %u find_ms %.2f first_ms %.2f alive %s inject %s\n",
	       good, bad, plan->files[0].vtables_cnt, reads_max, find_max_ms, search_ms,
	       last.has_alive ? "known" : "unknown", last.has_global_depth ? "known" : "unknown");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	seats_close(seats);
	plan_free(plan);
	target_close(target);
	return bad != 0;
}
