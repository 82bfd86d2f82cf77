/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_fixture.h - segments in a scratch directory, written with events and read back.
 */
#ifndef DIAL9_SEGMENT_FIXTURE_H
#define DIAL9_SEGMENT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/segment.h"
#include "agent/target.h"

#define MIB (1024ull * 1024)
#define SEC 1000000000ull

extern char seg_trace_dir[96], seg_run_dir[96];
extern struct target seg_target;
extern struct segment_options seg_options; /* as at the beginning of each test; a test may change it */

int seg_setup(void **state);

#define SEG_TEST(f) cmocka_unit_test_setup_teardown(f, seg_setup, scratch_remove)

uint64_t seg_now_ns(void);

/* One self-contained batch of `cnt` terminate events with ids from `first`. */
int seg_write_events(struct segments *s, uint64_t first, unsigned cnt);
/* Bytes that no compressor makes smaller, as events. */
int seg_write_noise(struct segments *s, size_t sz);

struct seg_content {
	uint64_t ends, symbols, max_id, named_failed;
	int rc; /* of the decoder: 0 at a clean end */
};

struct seg_content seg_read_back(const char *dir, const char *name);
unsigned seg_count_files(const char *dir); /* without hidden ones */
bool seg_exists(const char *dir, const char *name);

#endif /* DIAL9_SEGMENT_FIXTURE_H */
