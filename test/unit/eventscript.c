// SPDX-License-Identifier: Apache-2.0
/* eventscript.c - encode, decode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"

#include <string.h>

struct eventscript *eventscript_begin(void)
{
	static struct eventscript s;

	s.pool = d9_pool_new(64, 64, 65536);
	assert_non_null(s.pool);
	d9_enc_init(&s.enc, s.buf, sizeof(s.buf), s.pool);
	assert_int_equal(d9_enc_begin(&s.enc), 0);
	return &s;
}

uint32_t eventscript_str(struct eventscript *s, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(d9_intern_str(&s->enc, text, strlen(text), &id), 0);
	return id;
}

void eventscript_each(struct eventscript *s, void (*take)(void *ctx, const struct d9_ev *ev),
		      void *ctx)
{
	struct d9_dec *dec = NULL;
	struct d9_ev ev;
	int got;

	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, s->enc.buf, s->enc.len), 0);
	while ((got = d9_dec_next(dec, &ev)) == 1)
		take(ctx, &ev);
	assert_int_equal(got, 0);
	assert_int_equal(d9_dec_end(dec), 0);
	d9_dec_free(dec);
	d9_pool_free(s->pool);
}
