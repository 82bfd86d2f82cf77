/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - `dial9-view export FORMAT DIR -o FILE`: a recording in the formats of other tools.
 *
 *   perfetto   protobuf trace: a track per lane, flows from wakes to polls, counters
 *   pprof      gzip'ed profile: CPU samples, time off CPU, time from wake to poll by type
 *   chrome     Chrome's JSON trace events
 *   speedscope speedscope's JSON: CPU samples and time off CPU
 *   firefox    Firefox Profiler's JSON: samples, and polls, parks and times off CPU as markers
 *   folded     "type;outer;inner COUNT" of CPU samples, for flame graph tools
 *   csv        polls, with names
 *   ndjson     every row of every table, one JSON object a line
 *   html       one page without scripts: findings, timeline, tables, flame graphs
 *   sqlite     the tables of `sql`, as a database
 *
 * --from and --to cut by the start of what is written.
 */
#ifndef DIAL9_EXPORT_H
#define DIAL9_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct columns;
struct request;
struct traceset;

struct export
{
	const struct columns *c;
	FILE *out;
	const char *name; /* of the recording */
	uint64_t from_ns, to_ns; /* what begins outside is left out */
};

/* Each writes all; 0 or negative errno (errors of `out` itself are seen by its owner). */
int export_perfetto(const struct export *x);
int export_pprof(const struct export *x);
int export_chrome(const struct export *x);
int export_speedscope(const struct export *x);
int export_firefox(const struct export *x);
int export_folded(const struct export *x);
int export_csv(const struct export *x);
int export_ndjson(const struct export *x);

/* After a notice on failure. */
int export_html(const struct export *x, const struct request *req, const struct traceset *set);

/* Into a file of its own: `path` must be new. After a notice on failure. */
int export_sqlite(const struct export *x, const char *path);

/* "worker 3": what a lane is called in other tools. */
#define EXPORT_LANE_SZ 64u
void export_lane_name(const struct columns *c, uint32_t lane, char to[EXPORT_LANE_SZ]);

static inline bool export_has(const struct export *x, uint64_t ns)
{
	return ns >= x->from_ns && ns <= x->to_ns;
}

/* An exit code. */
int export_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_EXPORT_H */
