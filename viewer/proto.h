/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - protobuf messages, written field by field into a growing buffer.
 *
 * A message within a message is made in a buffer of its own and put with proto_bytes. A failed
 * allocation sticks in `failed`; what is written after it is lost.
 */
#ifndef DIAL9_PROTO_H
#define DIAL9_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

void proto_free(struct proto *m);
void proto_varint(struct proto *m, uint64_t value); /* bare: of packed fields */
void proto_u64(struct proto *m, uint32_t field, uint64_t value); /* bool, enums, int64 too */
void proto_fixed64(struct proto *m, uint32_t field, uint64_t value);
void proto_bytes(struct proto *m, uint32_t field, const void *p, size_t len);
void proto_message(struct proto *m, uint32_t field, struct proto *inner); /* and empties inner */

/* A string field: what is no UTF-8 becomes '?', as readers refuse the whole file otherwise. */
void proto_text(struct proto *m, uint32_t field, const char *p, size_t len);

#endif /* DIAL9_PROTO_H */
