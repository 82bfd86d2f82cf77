/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what a recording says about itself in SegmentMetadataEvent: what it records, and which
 * fields are 0 on the wire because nobody knew.
 *
 *   agent.has       comma-separated event names: what the recorder claims to record
 *   agent.unknown   comma-separated Event.field: the value is not a measurement
 *   tokio.local_queue   "false": no queue length of a worker is one; "partial": a 0 may be none
 *                       (of dial9-agent: at poll starts; its parks know an empty queue)
 *   agent.local_queue_unread  comma-separated worker ids: with "partial", only their 0 may be none
 * Event names are taken in both forms ("PollStartEvent", "poll_start"). Keys with other or broken
 * values are passed over. The last value of a key wins.
 */
#ifndef DIAL9_FACTS_H
#define DIAL9_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

#define FACTS_WORKERS_MAX 1024 /* queues of a higher id are as if listed */

struct facts {
	bool is_agent; /* some agent.* key: dial9-agent wrote it, nearly in time order */
	bool has_claims; /* agent.has was seen */
	bool claims[D9_EV_CNT];
	uint64_t unknown[D9_EV_CNT]; /* bit per field of records.def */
	/* of the file last looked into; 0: it does not say (boot_id: a hash of its text) */
	uint64_t session, pid, boot_id, clock_ns;
	bool has_unread; /* agent.local_queue_unread was seen */
	uint64_t unread[FACTS_WORKERS_MAX / 64]; /* bit per worker id */
	enum { FACTS_QUEUES_KNOWN, FACTS_QUEUES_PARTIAL, FACTS_QUEUES_UNKNOWN } queues;
};

/* Adds what one SegmentMetadataEvent says. */
void facts_add(struct facts *f, const struct d9_ev *ev);

/* Is a field of an event of records.def (D9F_* of its kind), whose value is `value`, unknown? */
bool facts_is_unknown(const struct facts *f, enum d9_event kind, int field, uint64_t value);

/* The same of a field of this event, which also tells the worker. */
bool facts_is_unknown_in(const struct facts *f, const struct d9_ev *ev, int field, uint64_t value);

/* Does the recorder claim to record this kind of event? False for recorders that claim nothing. */
bool facts_claims(const struct facts *f, enum d9_event kind);

#endif /* DIAL9_FACTS_H */
