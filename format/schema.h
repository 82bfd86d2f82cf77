/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the static tables made from records.def, for the encoder and the decoder.
 */
#ifndef DIAL9_SCHEMA_H
#define DIAL9_SCHEMA_H

#include "trace.h"

/* Frame tags. */
enum frame_tag {
	TAG_SCHEMA = 1,
	TAG_EVENT = 2,
	TAG_STRINGS = 3,
	TAG_STACKS = 4,
	TAG_RESET = 5,
	TAG_ANNOTATIONS = 6,
	TAG_HEADER = 0x54, /* 'T' of TRC\0: a header may stand wherever a frame may */
};

#define TRACE_MAGIC "TRC\0"
#define TRACE_MAGIC_SZ 4u
#define TRACE_VERSION 1u

/* A type byte of a schema that this version knows. */
static inline bool type_is_known(uint8_t type)
{
	uint8_t base = type & (uint8_t)~D9_T_OPTIONAL;

	return base >= D9_T_I64 && base <= D9_T_MAX;
}

#endif
