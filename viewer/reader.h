/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the loop that hands the events of a recording, file by file, to a command.
 *
 * Events come in file order. A damaged or cut-off file is read as far as it goes; reader_end says
 * where and why it stopped, and the reading goes on with the next file.
 */
#ifndef DIAL9_READER_H
#define DIAL9_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "facts.h"
#include "format/trace.h"
#include "traceset.h"

struct progress;

/* Events looked through for metadata before a file is read: it need not stand first. */
#define READER_FACTS_EVENTS 200000u

struct reader_end {
	int err; /* 0, or how d9_src failed */
	bool is_open; /* an .active file that ends in mid-frame, as one being written does */
	uint64_t off; /* decompressed, where it failed or ended */
	uint64_t events, bytes; /* decoded, decompressed */
	uint64_t pooled, unresolved; /* pool entries defined; ids used that name none */
	enum d9_compression compression;
};

/* Each may be NULL. Nonzero stops the reading and is handed back. */
struct reader_ops {
	int (*begin)(void *ctx, const struct traceset_recording *rec, size_t file);
	int (*event)(void *ctx, const struct d9_ev *ev);
	int (*end)(void *ctx, const struct traceset_recording *rec, size_t file,
		   const struct reader_end *end);
	/* if set: brought up to date from the metadata of each file before its first event */
	struct facts *facts;
};

/*
 * Reads all files of a recording. 0 if it came to the end (damage included: see ops->end), what a
 * callback returned, or -ENOMEM. A file that cannot be opened is an `end` with its errno.
 */
int reader_run(const struct traceset_recording *rec, const struct reader_ops *ops, void *ctx,
	       struct progress *progress);

/* Opens a file; one that was sealed (renamed) since it was listed, under its new name. */
int reader_open(const struct traceset_file *file, struct d9_src **ret);

/*
 * Decodes a file for its own sake: how it ends, and how many decompressed bytes, all of them or up
 * to the end of the last whole event, a reader takes without complaint. 0, or why it cannot be
 * opened.
 */
int reader_check(const struct traceset_file *file, struct reader_end *ret, uint64_t *ret_whole_sz);

/* One notice about a file that was not read to its end, for people. Returns the exit code it
 * means: 0 for an open .active file, else 3. No notice and 0 if nothing is wrong. */
int reader_notice(const struct traceset_file *file, const struct reader_end *end);

#endif /* DIAL9_READER_H */
