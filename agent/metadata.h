/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - the key-value pairs of SegmentMetadataEvent, as they stand now.
 *
 * Small and off the event path. Who knows a fact sets it: the recorder (process, user), track
 * (runtimes, what is unknown). emit writes the whole list at each segment's start and end, and
 * when it has changed.
 */
#ifndef DIAL9_METADATA_H
#define DIAL9_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"

struct metadata;

#define METADATA_ENTRIES_MAX 256 /* -ENOSPC over it */
#define METADATA_KEY_SZ 256
#define METADATA_SZ_MAX (96u << 10) /* keys and values together; -ENOSPC over it */

int metadata_new(struct metadata **ret);
void metadata_free(struct metadata *m);

/* Set or replace. 0, -EINVAL (empty, NUL-less or too long key), -ENOSPC, -ENOMEM; a failure is
 * logged and leaves the list as it was. */
int metadata_set(struct metadata *m, const char *key, const char *value);
int metadata_setf(struct metadata *m, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds `item` to the comma-separated list under `key`, once. As metadata_set. */
int metadata_add(struct metadata *m, const char *key, const char *item);

/* Takes `item` out of that list; nothing happens if it is not in it. */
void metadata_drop(struct metadata *m, const char *key, const char *item);

/* The value, NULL if unset. Valid until the next change. */
const char *metadata_get(const struct metadata *m, const char *key);

/*
 * Sets what every segment of one process carries: process.pid, process.start_time (ns since boot),
 * clock.boottime_offset_ns (CLOCK_BOOTTIME - CLOCK_MONOTONIC), process.available_parallelism,
 * service_name, boot_id, agent.version, tokio.poll_coverage=all. `start_ticks` is field 22 of
 * /proc/PID/stat. 0, or the first failure.
 */
int metadata_set_process(struct metadata *m, int pid, uint64_t start_ticks, const char *service,
			 const char *boot_id, const char *version);

/* All entries for the encoder, valid until the next change; *ret_sz is the bytes of keys and
 * values together. */
const struct d9_pair *metadata_pairs(const struct metadata *m, uint32_t *ret_cnt, size_t *ret_sz);

/* Counts changes. */
uint64_t metadata_version(const struct metadata *m);

#endif /* DIAL9_METADATA_H */
