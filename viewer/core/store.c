// SPDX-License-Identifier: Apache-2.0
/* store.c - the file that holds columns, and the checks that make it safe to read. */
#include "store.h"

#include "pyramid.h"
#include "pyramidbuild.h"
#include "tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORE_MAGIC 0x0a316c6f43396430ull
#define STORE_ALIGN 64u
#define STORE_COLUMNS_CNT (tables_all[TABLES_CNT - 1].columns_to)

struct columns_map {
	void *p;
	size_t sz;
};

struct store_head {
	uint64_t magic, layout; /* layout: hash of columns.def's names and sizes */
	uint64_t file_sz, identity_sz;
	uint64_t identity_hash, data_hash;
	struct columns_odd odd;
	uint32_t cnt[TABLES_CNT];
};

static uint64_t store_hash(uint64_t seed, const void *bytes, size_t sz)
{
	const char *p = bytes;
	uint64_t h[4] = { seed, seed ^ 1, seed ^ 2, seed ^ 3 }, w[4];

	for (; sz >= sizeof(w); p += sizeof(w), sz -= sizeof(w)) {
		memcpy(w, p, sizeof(w));
		for (int i = 0; i < 4; i++)
			h[i] = ((h[i] ^ w[i]) * 0x9e3779b97f4a7c15u) ^ (h[i] >> 31);
	}
	memset(w, 0, sizeof(w));
	if (sz)
		memcpy(w, p, sz);
	for (int i = 0; i < 4; i++)
		h[0] = ((h[0] ^ h[i] ^ w[i]) * 0xff51afd7ed558ccdu) ^ (h[0] >> 29);
	return h[0] ^ sz;
}

static uint64_t store_layout(void)
{
	uint64_t h = sizeof(struct store_head) + PYRAMID_PLANES + (PYRAMID_FAN << 8);

	for (uint32_t i = 0; i < STORE_COLUMNS_CNT; i++) {
		h = store_hash(h, tables_columns[i].name, strlen(tables_columns[i].name));
		h += tables_columns[i].sz + ((uint64_t)tables_columns[i].of << 8) +
		     ((uint64_t)tables_columns[i].kind << 16);
	}
	return h ^ PYRAMID_LONG_NS ^ PYRAMID_LATE_NS << 1 ^ PYRAMID_BLOCKED_NS << 2;
}

static size_t store_up(size_t off)
{
	return (off + STORE_ALIGN - 1) / STORE_ALIGN * STORE_ALIGN;
}

static const void *store_array(const struct columns *c, uint32_t column)
{
	const void *p;

	memcpy(&p, (const char *)c + tables_columns[column].at, sizeof(p));
	return p;
}

/* ---- writing ---- */

static int store_put(int fd, const void *bytes, size_t sz, size_t *off)
{
	const char *p = bytes;

	while (sz > 0) {
		ssize_t n = write(fd, p, sz);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		sz -= (size_t)n;
		*off += (size_t)n;
	}
	return 0;
}

static int store_pad(int fd, size_t *off)
{
	static const char zeros[STORE_ALIGN];

	return store_put(fd, zeros, store_up(*off) - *off, off);
}

int store_write(const struct columns *c, int fd, const void *identity, size_t identity_sz)
{
	struct store_head head = { .magic = STORE_MAGIC,
				   .layout = store_layout(),
				   .identity_sz = identity_sz,
				   .odd = c->odd };
	size_t off = 0, sz;
	int err;

	if (identity_sz > STORE_IDENTITY_MAX)
		return -E2BIG;
	head.identity_hash = store_hash(1, identity, identity_sz);
	for (uint32_t t = 0; t < TABLES_CNT; t++)
		head.cnt[t] = tables_rows(c, t);
	err = store_put(fd, &head, sizeof(head), &off);
	if (err == 0)
		err = store_put(fd, identity, identity_sz, &off);
	for (uint32_t t = 0; err == 0 && t < TABLES_CNT; t++)
		for (uint32_t i = tables_all[t].columns_from;
		     err == 0 && i < tables_all[t].columns_to; i++) {
			sz = (size_t)head.cnt[t] * tables_columns[i].sz;
			err = store_pad(fd, &off);
			if (err == 0)
				err = store_put(fd, store_array(c, i), sz, &off);
			head.data_hash = store_hash(head.data_hash, store_array(c, i), sz);
		}
	head.file_sz = off;
	/* the head comes last: a file whose writer died is not one */
	head.data_hash = store_hash(head.data_hash, &head.odd, sizeof(head.odd) + sizeof(head.cnt));
	if (err == 0 && pwrite(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		err = -EIO;
	return err;
}

/* ---- opening ---- */

static int store_place(struct columns *c, const char *base, const struct store_head *head)
{
	size_t off = sizeof(*head) + (size_t)head->identity_sz, sz;

	for (uint32_t t = 0; t < TABLES_CNT; t++) {
		if (head->cnt[t] == UINT32_MAX)
			return -EILSEQ;
		tables_shrink(c, t, head->cnt[t]);
		for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++) {
			const char *p;

			off = store_up(off);
			sz = (size_t)head->cnt[t] * tables_columns[i].sz;
			if (off > head->file_sz || sz > head->file_sz - off)
				return -EILSEQ;
			p = base + off;
			memcpy((char *)c + tables_columns[i].at, &p, sizeof(p));
			off += sz;
		}
	}
	return off == head->file_sz ? 0 : -EILSEQ;
}

static bool store_refs_fit(const uint32_t *p, uint32_t cnt, uint32_t limit, uint32_t none)
{
	uint32_t worst = 0; /* no early end: the loop becomes vector code */

	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t v = p[i] + none; /* COLUMNS_NONE becomes 0 */

		worst = v > worst ? v : worst;
	}
	return cnt == 0 || worst < limit + none;
}

static bool store_column_fits(const struct columns *c, uint32_t table, uint32_t column)
{
	const struct tables_column *k = &tables_columns[column];
	const uint32_t *p = store_array(c, column), *to;
	uint32_t cnt = tables_rows(c, table), limit = tables_rows(c, k->of), bad = 0;
	const uint16_t *p16 = store_array(c, column);

	if (k->kind == TABLES_NUM || cnt == 0)
		return true;
	if (k->kind == TABLES_REF)
		return store_refs_fit(p, cnt, limit, 1);
	if (k->kind == TABLES_LINK && k->sz == 4)
		return store_refs_fit(p, cnt, limit, 0);
	if (k->kind == TABLES_LINK) {
		for (uint32_t i = 0; i < cnt; i++)
			bad |= p16[i] >= limit;
		return !bad;
	}
	if (k->kind == TABLES_FROM) {
		to = store_array(c, column + 1);
		for (uint32_t i = 0; i < cnt; i++)
			bad |= p[i] > to[i] || to[i] > limit;
	}
	return !bad;
}

static int store_check(struct columns *c, const struct store_head *head)
{
	uint64_t hash = 0, *bases;

	for (uint32_t t = 0; t < TABLES_CNT; t++)
		for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++) {
			hash = store_hash(hash, store_array(c, i),
					  (size_t)head->cnt[t] * tables_columns[i].sz);
			if (!store_column_fits(c, t, i))
				return -EILSEQ;
		}
	hash = store_hash(hash, &head->odd, sizeof(head->odd) + sizeof(head->cnt));
#ifdef DIAL9_FUZZ /* no fuzzer finds a hash: what lies behind it is what is to be tried */
	hash = head->data_hash;
#endif
	if (hash != head->data_hash || c->lanes.cnt == 0 || c->lanes.cnt > COLUMNS_LANES_MAX ||
	    c->bad_lanes.cnt != PYRAMID_BAD_CLASSES * c->lanes.cnt || c->texts.cnt == 0 ||
	    c->stacks.cnt == 0 || (c->task_slots.cnt & (c->task_slots.cnt - 1)))
		return -EILSEQ;
	bases = malloc(PYRAMID_PLANES * (size_t)c->lanes.cnt * sizeof(*bases));
	if (!bases)
		return -ENOMEM;
	c->node_base = bases;
	return pyramid_bases(c, bases) == c->nodes.cnt ? 0 : -EILSEQ;
}

int store_open(struct columns **ret, int fd, const void *identity, size_t identity_sz)
{
	const struct store_head *head;
	struct columns *c = calloc(1, sizeof(*c));
	struct columns_map *map = calloc(1, sizeof(*map));
	struct stat st;
	int err = -ENOMEM;

	if (!c || !map)
		goto out;
	err = fstat(fd, &st) == 0 ? 0 : -errno;
	if (err == 0 && (st.st_size < (off_t)sizeof(*head) || (uint64_t)st.st_size > SIZE_MAX / 2))
		err = -EILSEQ;
	if (err)
		goto out;
	map->p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map->p == MAP_FAILED) {
		err = -errno;
		map->p = NULL;
		goto out;
	}
	map->sz = (size_t)st.st_size;
	c->map = map;
	map = NULL;
	head = c->map->p;
	err = -EILSEQ;
	if (head->magic != STORE_MAGIC || head->layout != store_layout() ||
	    head->file_sz != c->map->sz || head->identity_sz != identity_sz ||
	    identity_sz > c->map->sz - sizeof(*head) ||
	    head->identity_hash != store_hash(1, identity, identity_sz) ||
	    memcmp(head + 1, identity, identity_sz) != 0)
		goto out;
	c->odd = head->odd;
	c->map_sz = c->map->sz;
	err = store_place(c, c->map->p, head);
	if (err == 0)
		err = store_check(c, head);
	if (err == 0) {
		*ret = c;
		c = NULL;
	}
out:
	free(map);
	store_close(c);
	return err;
}

void store_close(struct columns *c)
{
	if (!c)
		return;
	if (c->map) {
		if (c->map->p)
			munmap(c->map->p, c->map->sz);
		free(c->map);
	} else {
		tables_free(c);
	}
	free((void *)(uintptr_t)c->node_base);
	free(c);
}
