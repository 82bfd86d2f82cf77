// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes through the decoder, whole and in small chunks: both must give the same events and the
 * same end, every value is read, and what is decoded can be encoded again.
 */
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 7);
}

static uint64_t mix_bytes(uint64_t h, const void *p, size_t len)
{
	const uint8_t *s = p;

	for (size_t i = 0; i < len; i++)
		h = mix(h, s[i]);
	return h;
}

static uint64_t mix_value(uint64_t h, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	struct d9_value item;
	uint64_t u = 0;
	double f;
	int64_t i;

	h = mix(h, v->type);
	switch (v->type) {
	case D9_T_NONE:
		return h;
	case D9_T_STRING:
	case D9_T_BYTES:
	case D9_T_PSTRING:
		return mix_bytes(mix(h, v->cnt), v->str, v->str ? v->cnt : 0);
	case D9_T_STACK:
	case D9_T_PSTACK:
		return mix_bytes(mix(h, v->cnt), v->frames, v->frames ? v->cnt * 8ull : 0);
	case D9_T_MAP:
		while (d9_map_next(v, &it, &pair))
			h = mix_bytes(mix_bytes(h, pair.key.p, pair.key.len), pair.val.p,
				      pair.val.len);
		return h;
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		while (d9_dyn_next(v, &it, &item))
			h = mix(h, item.type);
		if (it.off != v->sz)
			abort();
		return h;
	default:
		if (d9_value_u64(v, &u) && d9_value_i64(v, &i) && (uint64_t)i != u)
			abort();
		d9_value_f64(v, &f);
		return mix(h, v->u);
	}
}

static uint8_t again[1 << 16];

/* What came out must go in again, but for what only a reader allows. */
static void encode_again(const struct d9_ev *ev)
{
	struct d9_any_field fields[D9_FIELD_MAX];
	struct d9_any_def def = {
		.type_id = D9_TYPE_ANY_MIN,
		.name = ev->schema->name,
		.has_no_ts = !ev->schema->has_ts,
		.field_cnt = ev->schema->field_cnt,
		.fields = fields,
	};
	struct d9_enc enc;
	int rc;

	for (uint16_t i = 0; i < def.field_cnt; i++)
		fields[i] = (struct d9_any_field){ ev->schema->fields[i].name,
						   ev->schema->fields[i].type };
	d9_enc_init(&enc, again, sizeof(again), NULL);
	if (d9_enc_begin(&enc) || d9_put_any_schema(&enc, &def))
		return;
	rc = d9_put_any(&enc, ev->ts_ns, &def, ev->values);
	if (rc && rc != -D9_E_ROOM)
		abort();
}

static uint64_t run(const uint8_t *data, size_t sz, size_t chunk_sz)
{
	struct d9_dec_opt opt = { .pool_sz_max = 16 << 20, .unit_sz_max = 1 << 20 };
	struct d9_dec *dec;
	struct d9_ev ev;
	uint64_t h = 1;
	int rc = 0;

	if (d9_dec_new(&dec, &opt))
		abort();
	while (!rc && sz) {
		size_t n = chunk_sz < sz ? chunk_sz : sz;
		uint8_t *chunk = malloc(n);

		memcpy(chunk, data, n);
		data += n;
		sz -= n;
		rc = d9_dec_feed(dec, chunk, n);
		while (!rc && (rc = d9_dec_next(dec, &ev)) == 1) {
			h = mix(mix(mix(h, ev.ts_ns), ev.off), ev.batch);
			h = mix_bytes(h, ev.schema->name, ev.schema->name_len);
			for (uint16_t i = 0; i < ev.schema->field_cnt; i++)
				h = mix_value(h, &ev.values[i]);
			for (int i = 0; i < D9_SLOT_CNT; i++)
				h = mix(h, d9_val(&ev, i) != NULL);
			encode_again(&ev);
			rc = 0;
		}
		free(chunk);
	}
	if (!rc)
		rc = d9_dec_end(dec);
	h = mix(mix(h, (uint64_t)rc), d9_dec_off(dec));
	h = mix(mix(h, d9_dec_stats(dec)->events), d9_dec_stats(dec)->unresolved);
	d9_dec_free(dec);
	return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	size_t chunk_sz = sz ? 1 + data[sz - 1] % 97u : 1;

	if (run(data, sz, sz ? sz : 1) != run(data, sz, chunk_sz))
		abort();
	return 0;
}
