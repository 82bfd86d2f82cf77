// SPDX-License-Identifier: Apache-2.0
/* index.c - is it in the cache? Else it is built, and put there. */
#include "index.h"

#include "build.h"
#include "cachedir.h"
#include "columns.h"
#include "identity.h"
#include "store.h"
#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t index_key(const struct index_file *files, size_t files_cnt)
{
	int err;
	struct identity *id = identity_new(files, files_cnt, 0, &err);
	uint64_t key = id ? identity_hash(id, files_cnt, 1) : 0;

	free(id);
	return key;
}

/* Writes what was built, and reads it back as the cached file, which is smaller in memory. Any
 * failure leaves *c as it is. */
static void index_keep(struct columns **c, int dir, const char *name,
		       const struct identity *id, size_t cnt, uint64_t max_sz)
{
	char temp[CACHEDIR_TEMP_SZ];
	struct columns *mapped;
	int fd = cachedir_new(dir, temp);

	if (fd < 0)
		return;
	if (store_write(*c, fd, id, cnt * sizeof(*id)) != 0 ||
	    store_open(&mapped, fd, id, cnt * sizeof(*id)) != 0) {
		cachedir_drop(dir, temp);
	} else {
		store_close(*c);
		*c = mapped;
		if (cachedir_publish(dir, temp, name) != 0)
			cachedir_drop(dir, temp);
	}
	close(fd);
	cachedir_trim(dir, max_sz, name);
}

uint64_t index_decoded_max_sz(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_sz = sysconf(_SC_PAGESIZE);

	/* unknown: the cap of the format's reader */
	return pages > 0 && page_sz > 0 ? (uint64_t)pages * (uint64_t)page_sz / INDEX_DECODED_SHARE
					: 0;
}

uint64_t index_fair_sz(const char *path)
{
	uint64_t sz;
	struct stat st;

	if (stat(path, &st) != 0 || st.st_size < 0)
		return INDEX_DECODED_FLOOR_SZ;
	sz = (uint64_t)st.st_size;
	if (sz < INDEX_DECODED_FLOOR_SZ / INDEX_DECODED_RATIO)
		return INDEX_DECODED_FLOOR_SZ;
	return sz < D9_DECODED_MAX / INDEX_DECODED_RATIO ? sz * INDEX_DECODED_RATIO : D9_DECODED_MAX;
}

int index_open(struct columns **ret, const struct index_file *files, size_t files_cnt,
	       const struct index_opt *opt)
{
	struct index_opt own = opt ? *opt : (struct index_opt){ 0 };
	struct identity *id, *after = NULL;
	struct columns *c = NULL;
	char name[64];
	int dir = -1, fd = -1, err, after_err;

	if (own.decoded_max_sz == 0)
		own.decoded_max_sz = index_decoded_max_sz();
	opt = &own;
	id = identity_new(files, files_cnt, opt->decoded_max_sz, &err);
	if (err)
		goto out;
	snprintf(name, sizeof(name), "%016llx%016llx.d9x",
		 (unsigned long long)identity_hash(id, files_cnt, 1),
		 (unsigned long long)identity_hash(id, files_cnt, 2));
	if (!opt->cache_dir || *opt->cache_dir)
		dir = cachedir_open(opt->cache_dir);
	if (dir >= 0)
		fd = cachedir_find(dir, name);
	err = fd < 0 ? -ENOENT : store_open(&c, fd, id, files_cnt * sizeof(*id));
	if (err == 0 || err == -ENOMEM)
		goto out;
	err = build_run(&c, files, files_cnt, opt);
	if (err)
		goto out;
	after = identity_new(files, files_cnt, opt->decoded_max_sz, &after_err);
	if (dir >= 0 && after && identity_is_settled(id, files_cnt) &&
	    memcmp(id, after, files_cnt * sizeof(*id)) == 0)
		index_keep(&c, dir, name, id, files_cnt,
			   opt->cache_max_sz ? opt->cache_max_sz : INDEX_CACHE_MAX_SZ);
out:
	if (err == 0)
		*ret = c;
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	free(after);
	free(id);
	return err;
}

void index_close(struct columns *c)
{
	store_close(c);
}
