// SPDX-License-Identifier: Apache-2.0
/* names.c - see names.h. */
#include "agent/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/keymap.h"

struct names {
	struct keymap by_hash;
	uint32_t cnt, used_sz;
	uint64_t over_cap;
	struct {
		uint32_t off, len;
	} at[NAMES_MAX];
	char bytes[NAMES_SZ_MAX];
};

static uint64_t hash(const char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)p[i]) * 0x100000001b3ull;
	return h ^ h >> 29;
}

int names_new(struct names **ret)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	if (keymap_init(&n->by_hash, NAMES_MAX)) {
		free(n);
		return -ENOMEM;
	}
	names_put(n, "", 0);
	names_put(n, "?", 1);
	*ret = n;
	return 0;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	keymap_done(&n->by_hash);
	free(n);
}

uint32_t names_put(struct names *n, const char *p, size_t len)
{
	uint64_t key;
	uint32_t name;

	if (len > NAMES_LEN_MAX) {
		len = NAMES_LEN_MAX;
		while (len && ((uint8_t)p[len] & 0xc0) == 0x80)
			len--;
	}
	/* Two strings with one hash take neighbouring keys; the bytes decide. */
	for (key = hash(p, len); (name = keymap_get(&n->by_hash, key)) != KEYMAP_NONE; key++)
		if (n->at[name].len == len && !memcmp(n->bytes + n->at[name].off, p, len))
			return name;
	if (n->cnt == NAMES_MAX || len > NAMES_SZ_MAX - n->used_sz) {
		n->over_cap++;
		return NAMES_UNKNOWN;
	}
	name = n->cnt++;
	n->at[name].off = n->used_sz;
	n->at[name].len = (uint32_t)len;
	memcpy(n->bytes + n->used_sz, p, len);
	n->used_sz += (uint32_t)len;
	keymap_put(&n->by_hash, key, name);
	return name;
}

const char *names_get(const struct names *n, uint32_t name, size_t *ret_len)
{
	if (name >= n->cnt)
		name = NAMES_UNKNOWN;
	*ret_len = n->at[name].len;
	return n->bytes + n->at[name].off;
}

uint64_t names_over_cap(const struct names *n)
{
	return n->over_cap;
}
