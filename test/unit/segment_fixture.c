// SPDX-License-Identifier: Apache-2.0
/* segment_fixture.c - see segment_fixture.h. */
#include "test/unit/segment_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/log.h"
#include "format/trace.h"
#include "test/unit/scratch.h"

char seg_trace_dir[96], seg_run_dir[96];
struct target seg_target = { .pid = 4242, .start_ticks = 99 };
struct segment_options seg_options;

int seg_setup(void **state)
{
	log_set_level(LOG_ERROR);
	assert_int_equal(scratch_make(state), 0);
	snprintf(seg_trace_dir, sizeof(seg_trace_dir), "%s/traces", scratch);
	snprintf(seg_run_dir, sizeof(seg_run_dir), "%s/run", scratch);
	seg_options = (struct segment_options){
		.trace_dir = seg_trace_dir,
		.run_dir = seg_run_dir,
		.rotation_secs = 60,
		.total_max_sz = 1024 * MIB,
	};
	return 0;
}

uint64_t seg_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec;
}

/* One self-contained batch of `cnt` terminate events with ids from `first`. */
int seg_write_events(struct segments *s, uint64_t first, unsigned cnt)
{
	static uint8_t buf[8 << 20];
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sizeof(buf), NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	for (unsigned i = 0; i < cnt; i++) {
		struct d9_task_terminate e = { .task_id = first + i };

		assert_int_equal(d9_put_task_terminate(&enc, 1000 + i, &e), 0);
	}
	return segments_write(s, enc.buf, enc.len);
}

/* Bytes that no compressor makes smaller, as events. */
int seg_write_noise(struct segments *s, size_t sz)
{
	static uint8_t buf[8 << 20];
	static uint64_t random = 88172645463325252ull;
	struct d9_enc enc;

	d9_enc_init(&enc, buf, sz, NULL);
	assert_int_equal(d9_enc_begin(&enc), 0);
	for (;;) {
		struct d9_task_terminate e;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		e.task_id = random | 1ull << 63;
		if (d9_put_task_terminate(&enc, random & 0xffffff, &e))
			break;
	}
	return segments_write(s, enc.buf, enc.len);
}

struct seg_content seg_read_back(const char *dir, const char *name)
{
	struct seg_content c = { 0 };
	struct d9_src *src;
	struct d9_ev ev;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	c.rc = d9_src_open(&src, path, NULL);
	if (c.rc)
		return c;
	while ((c.rc = d9_src_next(src, &ev)) == 1) {
		if (ev.schema->kind == D9_EV_TASK_TERMINATE) {
			uint64_t id = d9_u64(&ev, D9F_task_terminate_task_id, 0);

			c.ends++;
			c.max_id = id > c.max_id ? id : c.max_id;
		} else if (ev.schema->kind == D9_EV_SYMBOL) {
			struct d9_str n = d9_value_str(d9_val(&ev, D9F_symbol_symbol_name));

			c.symbols++;
			c.named_failed +=
				n.len > 20 && memcmp(n.p, "[symbolize-failed] 0x", 21) == 0;
		}
	}
	d9_src_close(src);
	return c;
}

unsigned seg_count_files(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned cnt = 0;
	struct dirent *e;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		cnt += e->d_name[0] != '.';
	closedir(d);
	return cnt;
}

bool seg_exists(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}
