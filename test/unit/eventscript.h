/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventscript.h - events for a test: written with the encoder, read back with the decoder.
 */
#ifndef DIAL9_EVENTSCRIPT_H
#define DIAL9_EVENTSCRIPT_H

#include "format/trace.h"

struct eventscript {
	struct d9_enc enc;
	struct d9_pool *pool;
	uint8_t buf[1 << 19];
};

/* One at a time: it is static. Freed by eventscript_each. */
struct eventscript *eventscript_begin(void);

uint32_t eventscript_str(struct eventscript *s, const char *text);

/* Hands each event written so far to `take`, then ends the script. */
void eventscript_each(struct eventscript *s, void (*take)(void *ctx, const struct d9_ev *ev),
		      void *ctx);

#define SCRIPT_PUT(s, name, ts_ns, ...) \
	assert_int_equal(d9_put_##name(&(s)->enc, ts_ns, &(struct d9_##name){ __VA_ARGS__ }), 0)

#endif /* DIAL9_EVENTSCRIPT_H */
