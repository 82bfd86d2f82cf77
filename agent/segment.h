/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - the files of one recording: open, compressed, rotated, sealed, published.
 *
 * TRACE_DIR/{boot_id}/trace.N.bin.zst.active is written; when sealed it is renamed to
 * trace.N.bin.zst. It knows bytes and budgets, never what an event is: whoever writes must hand
 * over whole frames, and begin each segment with a header. A sealed segment is written, extended
 * by its symbols (seal.h, on its own thread), synced, then renamed.
 *
 * A full disk never blocks the caller: own old segments are evicted; if that does not help, bytes
 * are dropped, counted and reported by segment_stats, and writing resumes with the next segment.
 */
#ifndef DIAL9_SEGMENT_H
#define DIAL9_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct segments;

enum segment_compress { SEGMENT_ZSTD, SEGMENT_GZIP, SEGMENT_NONE };

struct segment_options {
	const char
		*trace_dir; /* made with mode 0750, and so is its parent if only these two miss */
	const char *run_dir; /* of the lock; NULL = DIRLOCK_RUN_DIR */
	enum segment_compress compress;
	uint32_t rotation_secs; /* 60 */
	/* of compressed bytes; 0 = min(100 MiB, total/4); cut to total/3, so that the budget can
	 * hold a segment being sealed and the one that grows meanwhile */
	uint64_t segment_max_sz;
	uint64_t total_max_sz; /* of this target's directory, sealed + open; 1024 MiB */
	uint64_t dir_max_sz; /* of the whole trace dir (--max-total-mb), 0 = none */
	int level; /* compression level, 0 = the default measured best */
};

struct segment_stats {
	uint64_t sealed_cnt, evicted_cnt, evicted_sz;
	uint64_t written_raw_sz, written_sz; /* before and after compression */
	uint64_t dropped_sz, dropped_cnt; /* bytes and writes lost to a full disk */
	uint64_t active_sz;
	uint64_t failed_cnt; /* segments that could not be published and stay .active */
	uint64_t recovered_cnt; /* .active files of killed agents published at the start */
	uint64_t symbols_named_cnt, symbols_unnamed_cnt, symbols_skipped_cnt; /* addresses */
	uint64_t bare_cnt; /* segments published without the symbols that were asked for */
	int last_errno; /* of the last failure, 0 = none */
};

/*
 * Claims TRACE_DIR/{boot_id}/ for this target: takes the lock of /run/dial9-agent, seals .active
 * files that a killed agent left there, continues the numbering. -EBUSY (logged with the other
 * agent's pid) when another agent records this process. Nothing is left behind on failure.
 */
int segments_open(const struct segment_options *o, const struct target *t, struct segments **ret);

/* Where it writes: TRACE_DIR/{boot_id}. */
const char *segments_path(const struct segments *s);
/* The four letters and the pid: "abcd-4242". */
const char *segments_boot_id(const struct segments *s);
/* Number of the segment being written. */
uint64_t segments_index(const struct segments *s);

/* Whole frames, in order. Never blocks on a full disk, never allocates. 0, or -ENOSPC/-EIO/...
 * when the bytes were dropped: the caller then counts the events in them as lost. After a drop
 * all writes fail until segments_rotate, since what follows may need the lost definitions. */
int segments_write(struct segments *s, const void *frames, size_t sz);

/* Makes all bytes so far readable from the .active file. Called each second. */
int segments_flush(struct segments *s);

/* True when the time or size limit asks for segments_rotate, or a second has gone by since bytes
 * were dropped and a new segment may find room. now_ns is CLOCK_MONOTONIC. */
bool segments_should_rotate(const struct segments *s, uint64_t now_ns);

/*
 * Ends the open segment and starts the next one. `addrs` (sorted, unique, copied) are the code
 * addresses whose symbols the sealing thread appends before it publishes the file. Never waits for
 * that thread. On failure (no room, directory gone: logged) nothing is open: writes are dropped
 * and counted, and segments_should_rotate asks again.
 */
int segments_rotate(struct segments *s, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt);

void segments_stats(const struct segments *s, struct segment_stats *ret);

/*
 * Seals the last segment (an empty one is removed) and waits for the sealing thread, at most
 * SYMTAB_TIME_MAX_NS a segment. 0, or -EIO when anything could not be written or published.
 * segments_stats still works afterwards.
 */
int segments_finish(struct segments *s, const uint64_t *addrs, size_t addrs_cnt);

/* Unlocks and frees; seals, without symbols, what was not finished. NULL is fine. */
void segments_close(struct segments *s);

#endif /* DIAL9_SEGMENT_H */
