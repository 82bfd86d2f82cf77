// SPDX-License-Identifier: Apache-2.0
/* metadata.c - see metadata.h. */
#include "agent/metadata.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/log.h"

struct metadata {
	struct d9_pair pairs[METADATA_ENTRIES_MAX];
	uint32_t cnt;
	size_t sz;
	uint64_t version;
};

int metadata_new(struct metadata **ret)
{
	struct metadata *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*ret = m;
	return 0;
}

void metadata_free(struct metadata *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->cnt; i++) {
		free((char *)m->pairs[i].key.p);
		free((char *)m->pairs[i].val.p);
	}
	free(m);
}

static struct d9_pair *find(const struct metadata *m, const char *key)
{
	for (uint32_t i = 0; i < m->cnt; i++)
		if (!strcmp(m->pairs[i].key.p, key))
			return (struct d9_pair *)&m->pairs[i];
	return NULL;
}

int metadata_set(struct metadata *m, const char *key, const char *value)
{
	size_t key_len = strlen(key), len = strlen(value), sz = m->sz + len;
	struct d9_pair *pair = find(m, key);
	char *k = NULL, *v;

	if (pair && pair->val.len == len && !memcmp(pair->val.p, value, len))
		return 0;
	if (!key_len || key_len >= METADATA_KEY_SZ)
		return log_error(-EINVAL,
				 "metadata key '%.64s' is empty or longer than %d bytes: shorten it",
				 key, METADATA_KEY_SZ - 1);
	sz = pair ? sz - pair->val.len : sz + key_len;
	if (sz > METADATA_SZ_MAX || (!pair && m->cnt == METADATA_ENTRIES_MAX))
		return log_error(-ENOSPC,
				 "metadata '%.64s' does not fit: at most %d entries and %u bytes in all",
				 key, METADATA_ENTRIES_MAX, METADATA_SZ_MAX);
	v = strdup(value);
	if (!pair)
		k = strdup(key);
	if (!v || (!pair && !k)) {
		free(k);
		free(v);
		return log_error(-ENOMEM, "no memory for metadata '%.64s'", key);
	}
	if (pair) {
		free((char *)pair->val.p);
	} else {
		pair = &m->pairs[m->cnt++];
		pair->key = (struct d9_str){k, (uint32_t)key_len};
	}
	pair->val = (struct d9_str){v, (uint32_t)len};
	m->sz = sz;
	m->version++;
	return 0;
}

int metadata_setf(struct metadata *m, const char *key, const char *fmt, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	return metadata_set(m, key, value);
}

/* Where `item` stands in a comma-separated list, NULL = not in it. */
static const char *find_item(const char *list, const char *item)
{
	size_t len = strlen(item);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, item, len) && (p[len] == ',' || !p[len]))
			return p;
	}
	return NULL;
}

int metadata_add(struct metadata *m, const char *key, const char *item)
{
	const char *old = metadata_get(m, key);
	char *joined;
	int rc;

	if (!old || !*old)
		return metadata_set(m, key, item);
	if (find_item(old, item))
		return 0;
	if (asprintf(&joined, "%s,%s", old, item) < 0)
		return log_error(-ENOMEM, "no memory for metadata '%.64s'", key);
	rc = metadata_set(m, key, joined);
	free(joined);
	return rc;
}

void metadata_drop(struct metadata *m, const char *key, const char *item)
{
	const char *old = metadata_get(m, key), *at = old ? find_item(old, item) : NULL;
	size_t before, len = strlen(item);
	char *rest;

	if (!at)
		return;
	before = (size_t)(at - old);
	/* the comma behind the item goes with it, or else the one before it */
	len += at[len] == ',';
	before -= before && !at[len] && at[len - 1] != ',';
	if (asprintf(&rest, "%.*s%s", (int)before, old, at + len) < 0)
		return;
	metadata_set(m, key, rest);
	free(rest);
}

const char *metadata_get(const struct metadata *m, const char *key)
{
	const struct d9_pair *pair = find(m, key);

	return pair ? pair->val.p : NULL;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int metadata_set_process(struct metadata *m, int pid, uint64_t start_ticks, const char *service,
			 const char *boot_id, const char *version)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t start_ns =
		start_ticks / hz * 1000000000ull + start_ticks % hz * (1000000000ull / hz);
	int64_t before = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);
	int64_t mono = before + (clock_ns(CLOCK_MONOTONIC) - before) / 2;
	int rc, first = 0;

#define KEEP_FIRST(call) (rc = (call), first = first ? first : rc)
	KEEP_FIRST(metadata_set(m, "agent.version", version));
	KEEP_FIRST(metadata_set(m, "service_name", service));
	KEEP_FIRST(metadata_set(m, "boot_id", boot_id));
	KEEP_FIRST(metadata_setf(m, "process.pid", "%d", pid));
	KEEP_FIRST(metadata_setf(m, "process.start_time", "%llu", (unsigned long long)start_ns));
	KEEP_FIRST(metadata_setf(m, "process.available_parallelism", "%ld",
				 sysconf(_SC_NPROCESSORS_ONLN)));
	KEEP_FIRST(metadata_setf(m, "clock.boottime_offset_ns", "%lld", (long long)(boot - mono)));
	KEEP_FIRST(metadata_set(m, "tokio.poll_coverage", "all"));
#undef KEEP_FIRST
	return first;
}

const struct d9_pair *metadata_pairs(const struct metadata *m, uint32_t *ret_cnt, size_t *ret_sz)
{
	*ret_cnt = m->cnt;
	*ret_sz = m->sz;
	return m->pairs;
}

uint64_t metadata_version(const struct metadata *m)
{
	return m->version;
}
