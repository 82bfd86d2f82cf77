// SPDX-License-Identifier: Apache-2.0
/* locations.c - finds Location constants by their shape, keeps their hashes. */
#include "locations.h"

#include "image.h"
#include "relocs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_SZ 65536u
#define COLUMN_MAX 65536u
#define LINE_MAX_NUMBER (1u << 24)

struct locations_shape { /* core::panic::Location on 64 bits */
	uint64_t file, file_len;
	uint32_t line, column;
};

struct locations {
	uint64_t *hashes; /* sorted */
	size_t cnt, cap;
};

static uint64_t locations_hash(const char *file, size_t len, uint32_t line, uint32_t column)
{
	uint64_t hash = 14695981039346656037ull; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)file[i]) * 1099511628211ull;
	hash = (hash ^ line) * 1099511628211ull;
	return (hash ^ column) * 1099511628211ull;
}

static int locations_add(struct locations *l, uint64_t hash)
{
	uint64_t *bigger;
	size_t cap;

	if (l->cnt == LOCATIONS_MAX)
		return 0;
	if (l->cnt == l->cap) {
		cap = l->cap ? 2 * l->cap : 1024;
		bigger = realloc(l->hashes, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		l->hashes = bigger;
		l->cap = cap;
	}
	l->hashes[l->cnt++] = hash;
	return 0;
}

/* Adds what looks like one: a Rust source's name, a line and a column. */
static int locations_take(struct locations *l, struct image *img, const struct locations_shape *s)
{
	char file[LOCATIONS_PATH_MAX];

	if (s->file_len < 4 || s->file_len > sizeof(file) || s->line == 0 ||
	    s->line > LINE_MAX_NUMBER || s->column == 0 || s->column > COLUMN_MAX)
		return 0;
	if (image_read(img, s->file, file, s->file_len) ||
	    memcmp(file + s->file_len - 3, ".rs", 3) != 0)
		return 0;
	return locations_add(l, locations_hash(file, s->file_len, s->line, s->column));
}

static int locations_scan(struct locations *l, struct image *img, struct relocs *relocs,
			  const struct image_segment *seg, uint8_t *window)
{
	/* pointers lie on 8 bytes */
	uint64_t at = (seg->vaddr + 7) & ~7ull, end = seg->vaddr + seg->file_sz;
	struct locations_shape shape;
	int err = 0;

	while (err == 0 && end - at >= sizeof(shape) && at < end) {
		size_t sz = end - at < WINDOW_SZ ? (size_t)(end - at) : WINDOW_SZ;

		err = relocs_read(relocs, at, window, sz);
		for (size_t i = 0; err == 0 && i + sizeof(shape) <= sz; i += 8) {
			memcpy(&shape, window + i, sizeof(shape));
			err = locations_take(l, img, &shape);
		}
		/* one may lie across two windows */
		at += sz == WINDOW_SZ ? WINDOW_SZ - 16 : sz;
	}
	return err;
}

static int locations_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int locations_open(struct image *img, struct locations **ret)
{
	struct locations *l = calloc(1, sizeof(*l));
	uint8_t *window = malloc(WINDOW_SZ);
	struct relocs *relocs = NULL;
	int err = l && window ? relocs_open(img, &relocs) : -ENOMEM;

	/* constants with pointers are writable until the loader has relocated them; in programs
	 * with fixed addresses they stand in the read-only data */
	for (size_t i = 0; i < img->segs_cnt && err == 0; i++)
		if (!img->segs[i].is_exec && (img->segs[i].is_write || !img->is_pie))
			err = locations_scan(l, img, relocs, &img->segs[i], window);
	if (err == 0 && l->cnt == 0)
		err = -ENOENT;
	relocs_close(relocs);
	free(window);
	if (err) {
		locations_close(l);
		return err;
	}
	qsort(l->hashes, l->cnt, sizeof(*l->hashes), locations_compare);
	*ret = l;
	return 0;
}

void locations_close(struct locations *l)
{
	if (!l)
		return;
	free(l->hashes);
	free(l);
}

bool locations_has(const struct locations *l, const char *file, uint32_t line, uint32_t column)
{
	uint64_t hash = locations_hash(file, strlen(file), line, column);

	return bsearch(&hash, l->hashes, l->cnt, sizeof(hash), locations_compare) != NULL;
}
