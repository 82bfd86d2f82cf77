// SPDX-License-Identifier: Apache-2.0
/* fuzz_api.c - any parameters to each question of the page, over one small recording. links: viewer
 *
 * The first byte chooses the question; then come "key=value" pairs, a '&' between them. */
#include "viewer/api.h"
#include "viewer/apicall.h"
#include "viewer/core/index.h"
#include "viewer/reply.h"
#include "format/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

static const char *const questions[] = {
	"/api/recording", "/api/cells",	 "/api/strip",	 "/api/at",	 "/api/rows", "/api/wakes",
	"/api/range",	  "/api/heat",	 "/api/flame",	 "/api/poll",	 "/api/task", "/api/worst",
	"/api/search",	  "/api/queues", "/api/records", "/api/nothing",
	"/api/levels",	  "/api/spans",	 "/api/parked",	 "/api/glimpses", "/api/busy", "/api/pool",
	"/api/timed",	  "/api/events",
};

#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))
#define ARGS_MAX 16u
#define TEXT_MAX 4096u

struct args {
	char text[TEXT_MAX];
	const char *key[ARGS_MAX], *value[ARGS_MAX];
	unsigned int cnt;
};

static const char *args_get(void *ctx, const char *key)
{
	const struct args *a = ctx;

	for (unsigned int i = 0; i < a->cnt; i++)
		if (strcmp(a->key[i], key) == 0)
			return *a->value[i] ? a->value[i] : NULL;
	return NULL;
}

static void args_read(struct args *a, const uint8_t *bytes, size_t sz)
{
	char *at = a->text, *value;

	sz = sz < TEXT_MAX - 1 ? sz : TEXT_MAX - 1;
	if (sz)
		memcpy(a->text, bytes, sz);
	a->text[sz] = '\0';
	for (a->cnt = 0; at && *at && a->cnt < ARGS_MAX;) {
		a->key[a->cnt] = strsep(&at, "&");
		value = strchr(a->key[a->cnt], '=');
		if (value)
			*value++ = '\0';
		a->value[a->cnt++] = value ? value : "";
	}
}

#define PUT(name, ts, ...)                                   \
	do {                                                 \
		const struct d9_##name e_ = { __VA_ARGS__ }; \
		if (d9_put_##name(&enc, ts, &e_) != 0)       \
			abort();                             \
	} while (0)

/* Some of each table: polls that wake each other, parks, samples, times off CPU, queues; then tasks
 * that only samples and switches show; runs of the blocking pool. */
static struct columns *make(void)
{
	static uint8_t buf[1u << 20];
	static const struct index_opt opt = { .cache_dir = "" };
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	uint64_t frames[] = { 0x1000, 0x2000, 0x3000 }, ts = 1000000;
	struct columns *c = NULL;
	struct index_file file;
	uint32_t place, stack;
	struct d9_enc enc;
	char path[64];
	int fd = memfd_create("trace", 0);

	if (!pool || fd < 0)
		abort();
	d9_enc_init(&enc, buf, sizeof(buf), pool);
	if (d9_enc_begin(&enc) || d9_intern_str(&enc, "src/main.rs:7:5", 15, &place) ||
	    d9_intern_stack(&enc, frames, 3, &stack))
		abort();
	for (uint32_t i = 0; i < 200; i++, ts += 70000) {
		PUT(poll_start, ts, i % 3, i % 5, 1 + i % 7, place);
		PUT(wake, ts + 10, 1 + i % 7, 1 + (i + 3) % 7, (uint8_t)(i % 3));
		if (i % 9 == 0)
			PUT(agent_off_cpu, ts + 2000000, 50 + i % 3, i % 3, true, 1 + i % 7, true,
			    ts + 100, 1, 202, true, stack, true);
		if (i % 5 == 0)
			PUT(cpu_sample, ts + 50, i % 3, 50 + i % 3, 0, place, true, stack, 1, true);
		ts += i % 50 == 0 ? 20000000 : 30000;
		PUT(poll_end, ts, i % 3);
		PUT(worker_park, ts + 100, i % 3, 0, ts / 2, 50 + i % 3);
		PUT(worker_unpark, ts + 50000, i % 3, 0, ts / 2, 700, true, 50 + i % 3);
		PUT(runtime_metrics, ts + 60000, place, i % 11, 7);
	}
	PUT(agent_level, ts, .pid = 1, .level = place, .types = place, .ends = place, .reason = place);
	for (uint32_t i = 0; i < 200; i++, ts += 1000000) {
		PUT(agent_sample, ts, .tid = 50 + i % 3, .task_id = 1 + i / 60);
		PUT(cpu_sample, ts, i % 3, 50 + i % 3, 0, place, true, stack, 1, true);
		if (i % 20 == 0)
			PUT(agent_off_cpu, ts + 3000, .tid = 50, .worker_id = 0, .has_worker_id = true,
			    .task_id = 9, .has_task_id = true, .out_ns = ts, .callchain = stack,
			    .has_callchain = true);
		if (i % 10 == 0)
			PUT(agent_blocking, ts + 5000, .task_id = 100 + i, .tid = 70 + i % 4,
			    .queued_ns = ts - 9000, .has_queued_ns = true, .start_ns = ts - 2000,
			    .type = place);
	}
	if (write(fd, enc.buf, enc.len) != (ssize_t)enc.len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = (struct index_file){ path, false };
	if (index_open(&c, &file, 1, &opt) != 0)
		abort();
	d9_pool_free(pool);
	close(fd);
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	static struct columns *c;
	static struct args args;
	struct reply reply = { 0 };
	struct api_call call = { .arg = args_get, .ctx = &args, .path = "x", .reply = &reply };

	if (!c)
		c = make();
	if (sz == 0)
		return 0;
	args_read(&args, bytes + 1, sz - 1);
	call.c = c;
	api_answer(&call, questions[bytes[0] % QUESTIONS]);
	/* each call ends in one answer, whole */
	if (reply.status < 200 || reply.status > 599 || !reply.type || !reply.body)
		abort();
	free(reply.body);
	return 0;
}
