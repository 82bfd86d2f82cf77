// SPDX-License-Identifier: Apache-2.0
/*
 * make_levels.c - a recording whose level changes, for the page: `make_levels DIR`.
 *
 * DIR/levels-7/: 0 to 100 ms full, to 200 ms stat ("over budget"), to 300 ms full without two types, with
 * a loss in it; trace.1.bin is missing; 400 to 500 ms full again. Two workers, one task on each, a
 * poll of 1 ms each 2 ms where polls are recorded; worker 1 parks throughout.
 */
#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T0 1000000000ull
#define MS 1000000ull
#define BUF_SZ (1u << 18)

static uint8_t buf[BUF_SZ];
static struct d9_enc enc;
static struct d9_pool *pool;

static void check(int err, const char *what)
{
	if (err == 0)
		return;
	fprintf(stderr, "make_levels: %s: %s\n", what, d9_strerror(err));
	exit(1);
}

#define PUT(name, ms, ...) \
	check(d9_put_##name(&enc, T0 + (ms)*MS, &(struct d9_##name){ __VA_ARGS__ }), #name)

static uint32_t str(const char *text)
{
	uint32_t id = 0;

	check(d9_intern_str(&enc, text, strlen(text), &id), text);
	return id;
}

static void level(uint64_t ms, const char *name, const char *types, const char *ends,
		  const char *reason)
{
	PUT(agent_level, ms, .pid = 7, .level = str(name), .types = str(types), .ends = str(ends),
	    .reason = str(reason));
}

static void polls(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms < to_ms; ms += 2) {
		PUT(poll_start, ms, .worker_id = 0, .task_id = 11,
		    .spawn_loc = str("src/main.rs:10:5"));
		PUT(poll_end, ms + 1, .worker_id = 0);
	}
}

static void parks(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms < to_ms; ms += 10) {
		PUT(worker_park, ms, .worker_id = 1, .tid = 9);
		PUT(worker_unpark, ms + 9, .worker_id = 1, .tid = 9);
	}
}

static void begin(void)
{
	const struct d9_pair pairs[] = { { { "runtime.main", 12 }, { "0,1", 3 } },
					 { { "process.pid", 11 }, { "7", 1 } } };

	d9_enc_init(&enc, buf, sizeof(buf), pool);
	check(d9_enc_begin(&enc), "header");
	check(d9_put_segment_metadata(&enc, T0, &(struct d9_segment_metadata){ pairs, 2 }),
	      "metadata");
}

static void end(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/levels-7/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(enc.buf, 1, enc.len, f) != enc.len || fclose(f) != 0)
		check(-errno, path);
}

int main(int argc, char **argv)
{
	char path[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: make_levels DIR\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/levels-7", argv[1]);
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		check(-errno, path);
	pool = d9_pool_new(0, 0, 0);
	if (!pool)
		check(-ENOMEM, "pool");
	begin();
	level(0, "full", "", "exact", "asked for");
	polls(0, 100);
	parks(0, 100);
	level(100, "stat", "", "none", "over budget");
	parks(100, 200);
	level(200, "full", "", "exact", "within budget");
	level(200, "stat", "src/hot.rs:3:9", "none", "within budget");
	level(200, "stat", "<img src=x onerror=alert(1)>", "none", "within budget");
	polls(200, 300);
	parks(200, 300);
	PUT(agent_loss, 260, .kind = str("PollEndEvent"), .cause = str("ring full"), .count = 12,
	    .from_ns = T0 + 250 * MS);
	end(argv[1], "trace.0.bin");
	begin();
	level(400, "full", "", "exact", "asked for");
	polls(400, 500);
	parks(400, 500);
	end(argv[1], "trace.2.bin");
	d9_pool_free(pool);
	return 0;
}
