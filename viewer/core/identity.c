// SPDX-License-Identifier: Apache-2.0
/* identity.c - stat(2), and a hash. */
#include "identity.h"

#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

struct identity *identity_new(const struct index_file *files, size_t cnt, uint64_t decoded_max_sz,
			      int *ret_err)
{
	struct identity *id = calloc(cnt ? cnt : 1, sizeof(*id));
	struct stat st;

	*ret_err = -ENOENT;
	for (size_t i = 0; id && i < cnt; i++) {
		id[i].is_after_gap = files[i].is_after_gap;
		id[i].decoded_max_sz = decoded_max_sz;
		if (stat(files[i].path, &st) != 0) {
			if (i == 0)
				*ret_err = -errno;
			continue;
		}
		*ret_err = 0;
		id[i].dev = st.st_dev;
		id[i].ino = st.st_ino;
		id[i].sz = (uint64_t)st.st_size;
		id[i].mtime_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	}
	if (!id)
		*ret_err = -ENOMEM;
	return id;
}

uint64_t identity_hash(const struct identity *id, size_t cnt, uint64_t seed)
{
	const uint64_t *p = (const uint64_t *)id;
	uint64_t h = seed;

	for (size_t i = 0; i < cnt * sizeof(*id) / sizeof(*p); i++) {
		h = (h ^ p[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

bool identity_is_settled(const struct identity *id, size_t cnt)
{
	uint64_t now_s = (uint64_t)time(NULL);

	for (size_t i = 0; i < cnt; i++)
		if (id[i].mtime_ns / 1000000000u + IDENTITY_SETTLED_S > now_s)
			return false;
	return true;
}
