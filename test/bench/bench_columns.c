// SPDX-License-Identifier: Apache-2.0
/* links: viewer
 * bench_columns.c - the core of the viewer on a trace: index, reopen, memory, query.
 *
 *   bench_columns CACHE_DIR FILE...    one line of figures each
 *   bench_columns - FILE...            only decodes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/columns.h"
#include "core/index.h"
#include "core/pyramid.h"
#include "format/trace.h"

#define QUERY_LANES 64u
#define QUERY_CELLS 2000u
#define QUERY_ROUNDS 5

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of all threads, user and system. */
static double cpu_s(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static uint64_t status_kb(const char *key)
{
	char line[256];
	uint64_t kb = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtoull(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

/* 64 lanes x 2000 cells over a part of the recording, lanes used again if there are fewer. */
static double query_s(const struct columns *c, enum pyramid_plane plane, double share)
{
	static struct pyramid_cell cells[QUERY_CELLS];
	uint64_t span_ns = c->odd.last_ns - c->odd.first_ns, to_ns;
	double best = 1e9, from;

	to_ns = c->odd.first_ns + (uint64_t)((double)span_ns * share) + QUERY_CELLS;
	for (int round = 0; round < QUERY_ROUNDS; round++) {
		from = now_s();
		for (uint32_t lane = 0; lane < QUERY_LANES; lane++)
			if (pyramid_query(c, plane, lane % (c->lanes.cnt - 1), c->odd.first_ns,
					  to_ns, QUERY_CELLS, cells) != 0)
				exit(1);
		if (now_s() - from < best)
			best = now_s() - from;
	}
	return best;
}

/* Bytes to events and no more: what a parser does. */
static double decode_s(const struct index_file *files, size_t cnt)
{
	double from = now_s();
	struct d9_src *src;
	struct d9_ev ev;

	for (size_t i = 0; i < cnt; i++) {
		if (d9_src_open(&src, files[i].path, NULL) != 0)
			exit(1);
		while (d9_src_next(src, &ev) == 1)
			;
		d9_src_close(src);
	}
	return now_s() - from;
}

int main(int argc, char **argv)
{
	struct index_opt opt = { 0 };
	struct index_file *files;
	struct columns *c;
	double from, cold, warm, cpu;
	uint64_t peak_kb;
	int err;

	if (argc < 3)
		return 2;
	opt.cache_dir = argv[1];
	files = calloc((size_t)argc - 2, sizeof(*files));
	for (int i = 2; files && i < argc; i++)
		files[i - 2].path = argv[i];
	if (!files)
		return 1;
	printf("decode_s %.2f\n", decode_s(files, (size_t)argc - 2));
	if (strcmp(argv[1], "-") == 0) {
		free(files);
		return 0;
	}
	from = now_s();
	cpu = cpu_s();
	err = index_open(&c, files, (size_t)argc - 2, &opt);
	cold = now_s() - from;
	cpu = cpu_s() - cpu;
	if (err) {
		fprintf(stderr, "bench_columns: %s: error %d\n", argv[2], err);
		return 1;
	}
	peak_kb = status_kb("VmHWM:");
	index_close(c);
	from = now_s();
	err = index_open(&c, files, (size_t)argc - 2, &opt);
	warm = now_s() - from;
	if (err)
		return 1;
	printf("events %llu lanes %u polls %u tasks %u\n", (unsigned long long)c->odd.events,
	       c->lanes.cnt, c->polls.cnt, c->tasks.cnt);
	printf("index_s %.2f\nindex_cpu_s %.2f\nreopen_s %.3f\n", cold, cpu, warm);
	printf("bytes_per_event %.1f\n", (double)c->map_sz / (double)c->odd.events);
	printf("rss_bytes_per_event %.1f\n",
	       (double)status_kb("VmRSS:") * 1024 / (double)c->odd.events);
	printf("peak_bytes_per_event %.1f\n", (double)peak_kb * 1024 / (double)c->odd.events);
	for (uint32_t plane = 0; pyramid_name(plane); plane++)
		printf("query_ms %s whole %.1f tenth %.1f thousandth %.1f\n", pyramid_name(plane),
		       query_s(c, plane, 1) * 1e3, query_s(c, plane, 0.1) * 1e3,
		       query_s(c, plane, 0.001) * 1e3);
	index_close(c);
	free(files);
	return 0;
}
