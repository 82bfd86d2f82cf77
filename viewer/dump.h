/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - `dial9-view dump`: every event, in file order, as text or one JSON document a line.
 *
 * Text: TIME NAME FIELD=VALUE... with TIME in ns as recorded ("-" without a stamp). A field that
 * is unknown (facts.h) is "unknown", one that is absent is "-", a pool id that names nothing is
 * "unresolved#ID". JSON: {"ts_ns", "event", "fields"}, with "recording" in front when there are
 * several; unknown and absent fields are null, {"unresolved": ID} as said.
 */
#ifndef DIAL9_DUMP_H
#define DIAL9_DUMP_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int dump_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_DUMP_H */
