/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracescript.h - small traces written by hand: for the make_*.c of this room.
 *
 * One encoder, one buffer; times are in microseconds from T0. What fails ends the program.
 */
#ifndef DIAL9_TRACESCRIPT_H
#define DIAL9_TRACESCRIPT_H

#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T0 1000000000ull
#define UNIX_T0 1700000000000000000ull /* 2023-11-14 22:13:20 UTC */
#define BUF_SZ (1u << 20)

static uint8_t buf[BUF_SZ];
static struct d9_enc enc;
static struct d9_pool *pool;
static const char *session = "1"; /* agent.session of the next segments */

static inline void check(int err, const char *what)
{
	if (err == 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, d9_strerror(err));
	exit(1);
}

/* Into the directory that the only argument names. */
static inline void script_open(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) != 0) {
		fprintf(stderr, "usage: %s DIR\n", program_invocation_short_name);
		exit(2);
	}
	pool = d9_pool_new(0, 0, 0);
	if (!pool)
		check(-ENOMEM, "pool");
}

#define PUT(name, us, ...) \
	check(d9_put_##name(&enc, T0 + (us)*1000ull, &(struct d9_##name){ __VA_ARGS__ }), #name)

static inline uint32_t str(const char *text)
{
	uint32_t id = 0;

	check(d9_intern_str(&enc, text, strlen(text), &id), text);
	return id;
}

static inline void begin(void)
{
	d9_enc_init(&enc, buf, sizeof(buf), pool);
	check(d9_enc_begin(&enc), "header");
}

/* Writes what was encoded, without the last `cut` bytes; `flip` turns over the byte in the middle
 * of the compressed file. */
static inline void end(const char *path, enum d9_compression compression, size_t cut, int flip)
{
	const struct d9_sink_opt opt = { .compression = compression };
	struct d9_sink *sink = NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	struct stat st;
	uint8_t byte = 0;

	if (fd < 0)
		check(-errno, path);
	check(d9_sink_new(&sink, &opt), path);
	check(d9_sink_start(sink, fd), path);
	check(d9_sink_write(sink, enc.buf, enc.len - cut, NULL), path);
	check(d9_sink_finish(sink), path);
	d9_sink_free(sink);
	if (flip) {
		if (fstat(fd, &st) != 0 || pread(fd, &byte, 1, st.st_size / 2) != 1)
			check(-EIO, path);
		byte ^= 0xff;
		if (pwrite(fd, &byte, 1, st.st_size / 2) != 1)
			check(-EIO, path);
	}
	close(fd);
}

static inline struct d9_pair pair(const char *key, const char *value)
{
	return (struct d9_pair){ { key, (uint32_t)strlen(key) },
				 { value, (uint32_t)strlen(value) } };
}

/* What each segment of dial9-agent begins with. */
static inline void preamble(uint64_t us, const char *service, uint32_t pid)
{
	const struct d9_pair facts[] = {
		pair("agent.has", "PollStartEvent,PollEndEvent,WakeEventEvent,TaskSpawnEvent,"
				  "TaskTerminateEvent,agent:Alive,agent:OffCpu"),
		pair("agent.unknown", "WorkerParkEvent.cpu_time_ns,WorkerUnparkEvent.cpu_time_ns"),
		pair("tokio.local_queue", "partial"),
		pair("service_name", service),
		pair("runtime.main", "0,1"),
		pair("agent.session", session),
		pair("process.pid", pid == 44 ? "44" : "43"),
	};

	PUT(clock_sync, us, .realtime_ns = UNIX_T0 + us * 1000);
	PUT(segment_metadata, us, .entries = facts, .entries_cnt = 7);
	PUT(agent_level, us, .pid = pid, .level = str("full"), .types = str(""),
	    .ends = str("exact"), .reason = str("start"));
}

static inline void spawn(uint64_t us, uint64_t task, const char *type)
{
	PUT(task_spawn, us, .task_id = task, .spawn_loc = str(type), .instrumented = true);
}

static inline void poll(uint64_t from_us, uint64_t to_us, uint64_t worker, uint64_t task)
{
	PUT(poll_start, from_us, .worker_id = worker, .task_id = task, .spawn_loc = str("t"));
	if (to_us)
		PUT(poll_end, to_us, .worker_id = worker);
}

#endif /* DIAL9_TRACESCRIPT_H */
