/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - events that have no columns of their own, kept whole as varints.
 *
 * Of each field of the schema: the type (one byte, 0 absent) and, unless absent, a varint: a
 * number (I64 as two's complement, F64 as its bits), a text, or a stack. columns_record_next reads
 * them.
 */
#ifndef DIAL9_RECORD_H
#define DIAL9_RECORD_H

struct d9_ev;
struct gather;

void record_gather(struct gather *g, const struct d9_ev *ev);

#endif /* DIAL9_RECORD_H */
