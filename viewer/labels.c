// SPDX-License-Identifier: Apache-2.0
/* labels.c - interned strings: one open-addressing table of numbers, texts in chunks. */
#include "labels.h"

#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

#define LABELS_CHUNK_SZ (256u << 10)
#define LABELS_CACHE_CNT 4096u /* pool ids remembered; two that collide cost a hash each time */

struct label {
	const char *p;
	uint32_t len, hash;
};

struct label_chunk {
	struct label_chunk *next;
	size_t used, sz;
	char bytes[];
};

struct label_cached {
	uint64_t batch; /* 0 = empty: batches count from 1 */
	uint32_t pool_id, label;
};

struct labels {
	struct label *texts;
	uint32_t cnt, cap;
	uint32_t *slots; /* label + 1, 0 = empty; twice cap of them, a power of two */
	struct label_chunk *chunks;
	size_t bytes;
	uint64_t over_cap;
	struct label_cached cache[LABELS_CACHE_CNT];
};

static uint32_t labels_hash(const char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	for (; len > 0; p++, len--)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32);
}

static int labels_grow(struct labels *l)
{
	uint32_t cap = l->cap ? 2 * l->cap : 1024, mask = 2 * cap - 1;
	struct label *texts = realloc(l->texts, cap * sizeof(*texts));
	uint32_t *slots;

	if (!texts)
		return -1;
	l->texts = texts;
	slots = calloc(2 * (size_t)cap, sizeof(*slots));
	if (!slots)
		return -1;
	for (uint32_t i = 0; i < l->cnt; i++) {
		uint32_t at = texts[i].hash & mask;

		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = i + 1;
	}
	free(l->slots);
	l->slots = slots;
	l->cap = cap;
	return 0;
}

/* A copy of the text that lives as long as the table; NULL when out of memory. */
static const char *labels_store(struct labels *l, const char *p, size_t len)
{
	struct label_chunk *c = l->chunks;
	size_t sz = len > LABELS_CHUNK_SZ ? len : LABELS_CHUNK_SZ;
	char *to;

	if (!c || c->sz - c->used < len) {
		c = malloc(sizeof(*c) + sz);
		if (!c)
			return NULL;
		c->next = l->chunks;
		c->used = 0;
		c->sz = sz;
		l->chunks = c;
	}
	to = c->bytes + c->used;
	memcpy(to, p, len);
	c->used += len;
	l->bytes += len;
	return to;
}

struct labels *labels_new(void)
{
	struct labels *l = calloc(1, sizeof(*l));

	/* the numbers of these two are fixed by their order */
	if (l && (labels_put(l, "(other)", 7) != LABEL_OTHER || l->cnt != 1 ||
		  labels_put(l, "(unknown)", 9) != LABEL_UNKNOWN)) {
		labels_free(l);
		return NULL;
	}
	return l;
}

void labels_free(struct labels *l)
{
	if (!l)
		return;
	while (l->chunks) {
		struct label_chunk *next = l->chunks->next;

		free(l->chunks);
		l->chunks = next;
	}
	free(l->texts);
	free(l->slots);
	free(l);
}

uint32_t labels_put(struct labels *l, const char *p, size_t len)
{
	uint32_t hash = labels_hash(p, len), at = 0, mask;
	const char *text;

	if (l->cap > 0) {
		mask = 2 * l->cap - 1;
		for (at = hash & mask; l->slots[at]; at = (at + 1) & mask) {
			const struct label *have = &l->texts[l->slots[at] - 1];

			if (have->hash == hash && have->len == len && memcmp(have->p, p, len) == 0)
				return l->slots[at] - 1;
		}
	}
	if (l->cnt >= LABELS_MAX || len > LABELS_BYTES_MAX - l->bytes ||
	    (l->cnt == l->cap && labels_grow(l) != 0)) {
		l->over_cap++;
		return LABEL_OTHER;
	}
	mask = 2 * l->cap - 1;
	for (at = hash & mask; l->slots[at];)
		at = (at + 1) & mask;
	text = labels_store(l, p, len);
	if (!text) {
		l->over_cap++;
		return LABEL_OTHER;
	}
	l->texts[l->cnt] = (struct label){ text, (uint32_t)len, hash };
	l->slots[at] = ++l->cnt;
	return l->cnt - 1;
}

uint32_t labels_field(struct labels *l, const struct d9_ev *ev, int field)
{
	const struct d9_value *v = d9_val(ev, field);
	struct label_cached *c;
	struct d9_str s;

	if (!v)
		return LABEL_UNKNOWN;
	c = &l->cache[v->pool_id % LABELS_CACHE_CNT];
	if (v->type == D9_T_PSTRING && c->batch == ev->batch && c->pool_id == v->pool_id)
		return c->label;
	s = d9_value_str(v);
	if (!s.p || s.len == 0)
		return LABEL_UNKNOWN;
	if (v->type != D9_T_PSTRING)
		return labels_put(l, s.p, s.len);
	*c = (struct label_cached){ ev->batch, v->pool_id, labels_put(l, s.p, s.len) };
	return c->label;
}

void labels_new_file(struct labels *l)
{
	memset(l->cache, 0, sizeof(l->cache));
}

const char *labels_text(const struct labels *l, uint32_t label, size_t *ret_len)
{
	*ret_len = l->texts[label].len;
	return l->texts[label].p;
}

int labels_compare(const struct labels *l, uint32_t a, uint32_t b)
{
	const struct label *x = &l->texts[a], *y = &l->texts[b];
	int order = memcmp(x->p, y->p, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

uint32_t labels_cnt(const struct labels *l)
{
	return l->cnt;
}

uint64_t labels_over_cap(const struct labels *l)
{
	return l->over_cap;
}
