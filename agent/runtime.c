// SPDX-License-Identifier: Apache-2.0
/* runtime.c - see runtime.h. */
#include "agent/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/emit.h"
#include "agent/keymap.h"
#include "agent/log.h"
#include "agent/metadata.h"
#include "agent/seat.h"
#include "agent/track.h"

#define OWNERS_MAX 4096 /* task lists known; all are forgotten, and asked again, at the cap */
#define OWNER_NEITHER TRACK_RUNTIMES_MAX /* in owners: no runtime of ours */

struct runtimes {
	const struct track_options *o;
	struct emit *e;
	struct keymap owners; /* owner id -> index in at[], OWNER_NEITHER */
	uint32_t next_id, named_cnt;
	bool has_warned;
	struct runtime at[TRACK_RUNTIMES_MAX];
	struct worker workers[TRACK_WORKERS_MAX];
};

int runtimes_new(const struct track_options *o, struct emit *e, struct runtimes **ret)
{
	struct runtimes *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->o = o;
	rs->e = e;
	if (keymap_init(&rs->owners, OWNERS_MAX)) {
		free(rs);
		return -ENOMEM;
	}
	*ret = rs;
	return 0;
}

void runtimes_free(struct runtimes *rs)
{
	if (!rs)
		return;
	keymap_done(&rs->owners);
	free(rs);
}

/* ---- names ---- */

static bool is_taken(const struct runtimes *rs, const struct runtime *but, const char *label)
{
	for (size_t i = 0; i < TRACK_RUNTIMES_MAX; i++)
		if (rs->at[i].kind && &rs->at[i] != but && !strcmp(rs->at[i].label, label))
			return true;
	return false;
}

/* Metadata keys and readers' group headers: letters, digits, '-', '_', '.'; no trailing number
 * (worker-3), since it names a thread and not the runtime. */
static void clean(char *s)
{
	size_t len = strlen(s);

	while (len && (isdigit((unsigned char)s[len - 1]) || strchr("-_ ", s[len - 1])))
		s[--len] = 0;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_.", *s))
			*s = '_';
}

static void name_runtime(struct runtimes *rs, struct runtime *rt, pid_t tid)
{
	const struct track_options *o = rs->o;
	char stem[32] = "";
	unsigned n = 1;

	if (rt->kind == RUNTIME_LOCAL) {
		snprintf(rt->label, sizeof(rt->label), "local-%d", tid);
	} else if (rt->kind == RUNTIME_UNSEATED) {
		snprintf(rt->label, sizeof(rt->label), "unknown-%u", rt->key);
	} else {
		if (!rs->named_cnt && o->runtime_name && *o->runtime_name)
			snprintf(stem, sizeof(stem), "%s", o->runtime_name);
		else if (!o->ops->thread_name(o->ctx, tid, stem, sizeof(stem)))
			clean(stem);
		/* tokio-runtime-worker (cut to 15), since 1.50 tokio-rt-worker */
		if (!*stem || !strncmp(stem, "tokio-r", 7))
			snprintf(stem, sizeof(stem), rs->named_cnt ? "rt" : "main");
		snprintf(rt->label, sizeof(rt->label), "%s", stem);
		if (!strcmp(stem, "rt"))
			snprintf(rt->label, sizeof(rt->label), "rt-%u", rs->named_cnt);
		while (is_taken(rs, rt, rt->label))
			snprintf(rt->label, sizeof(rt->label), "%s-%u", stem, ++n);
		rs->named_cnt++;
	}
	rt->name = emit_name(rs->e, rt->label, strlen(rt->label));
}

static void tell_workers(struct runtimes *rs, const struct runtime *rt, const struct worker *w,
			 uint32_t cnt)
{
	char key[sizeof(rt->label) + 16], id[16];

	snprintf(key, sizeof(key), "runtime.%s", rt->label);
	for (uint32_t i = 0; i < cnt; i++) {
		snprintf(id, sizeof(id), "%u", w[i].id);
		metadata_add(emit_metadata(rs->e), key, id);
	}
}

/* ---- blocks of worker ids ---- */

static void *no_room(struct runtimes *rs, const char *what, unsigned max)
{
	if (!rs->has_warned)
		log_warn(-ENOSPC, "more than %u %s: polls of the further ones are counted, not "
				  "written", max, what);
	rs->has_warned = true;
	return NULL;
}

static bool is_dead(const struct runtime *rt)
{
	for (uint32_t i = 0; i < rt->workers_cnt; i++)
		if (rt->workers[i].holder || rt->workers[i].parked || !rt->workers[i].was_held)
			return false;
	return rt->workers_cnt;
}

/* A block of the same shape that nobody uses any more. */
static struct runtime *find_dead(struct runtimes *rs, uint8_t kind, uint32_t cnt)
{
	for (size_t i = 0; i < TRACK_RUNTIMES_MAX; i++) {
		struct runtime *rt = &rs->at[i];

		if (rt->kind == kind && rt->workers_cnt == cnt && is_dead(rt))
			return rt;
	}
	return NULL;
}

static void forget_owner(struct runtimes *rs, struct runtime *rt)
{
	if (rt->owner_id)
		keymap_del(&rs->owners, rt->owner_id);
	rt->owner_id = 0;
}

static struct worker *new_ids(struct runtimes *rs, struct runtime *rt, uint32_t cnt)
{
	uint32_t first = rs->next_id;

	if (!cnt || cnt > TRACK_WORKERS_MAX)
		return no_room(rs, "workers", TRACK_WORKERS_MAX);
	if (first <= WORKER_UNKNOWN && first + cnt > WORKER_BLOCKING)
		first = WORKER_UNKNOWN + 1; /* a block does not reach across the two special ids */
	if (first > TRACK_WORKERS_MAX - cnt)
		return no_room(rs, "workers", TRACK_WORKERS_MAX);
	for (uint32_t i = 0; i < cnt; i++)
		rs->workers[first + i] = (struct worker){.id = first + i, .runtime = rt};
	rs->next_id = first + cnt;
	return &rs->workers[first];
}

/* Gives `rt` its workers and its name: those of a dead runtime of the same shape, or new ones. */
static bool give_block(struct runtimes *rs, struct runtime *rt, pid_t tid, uint32_t cnt)
{
	struct runtime *dead = find_dead(rs, rt->kind, cnt);

	if (!dead) {
		struct worker *w = new_ids(rs, rt, cnt);

		if (!w)
			return false;
		name_runtime(rs, rt, tid);
		rt->workers = w;
		rt->workers_cnt = cnt;
		tell_workers(rs, rt, w, cnt);
		return true;
	}
	rt->workers = dead->workers;
	rt->workers_cnt = cnt;
	rt->name = dead->name;
	memcpy(rt->label, dead->label, sizeof(rt->label));
	forget_owner(rs, dead);
	*dead = (struct runtime){.kind = RUNTIME_NONE};
	for (uint32_t i = 0; i < cnt; i++) {
		rt->workers[i].runtime = rt;
		rt->workers[i].was_held = false;
	}
	return true;
}

/* A runtime without a block yet. */
static struct runtime *make(struct runtimes *rs, uint8_t kind, uint32_t key)
{
	for (size_t i = 0; i < TRACK_RUNTIMES_MAX; i++) {
		if (rs->at[i].kind)
			continue;
		rs->at[i] = (struct runtime){.kind = kind, .key = key};
		return &rs->at[i];
	}
	return no_room(rs, "runtimes", TRACK_RUNTIMES_MAX);
}

/* ---- which runtime ---- */

static struct runtime *by_scheduler(struct runtimes *rs, uint64_t scheduler)
{
	for (size_t i = 0; i < TRACK_RUNTIMES_MAX; i++)
		if (rs->at[i].kind && scheduler && rs->at[i].scheduler == scheduler)
			return &rs->at[i];
	return NULL;
}

static struct runtime *by_key(struct runtimes *rs, uint8_t kind, uint32_t key)
{
	for (size_t i = 0; i < TRACK_RUNTIMES_MAX; i++)
		if (rs->at[i].kind == kind && rs->at[i].key == key)
			return &rs->at[i];
	return NULL;
}

static void know_owner(struct runtimes *rs, uint32_t owner_id, uint32_t at)
{
	if (rs->owners.cnt == OWNERS_MAX) {
		keymap_clear(&rs->owners); /* the lists that are no runtime's are asked for again */
		for (uint32_t i = 0; i < TRACK_RUNTIMES_MAX; i++)
			if (rs->at[i].kind && rs->at[i].owner_id)
				keymap_put(&rs->owners, rs->at[i].owner_id, i);
	}
	keymap_put(&rs->owners, owner_id, at);
}

struct runtime *runtimes_by_owner(struct runtimes *rs, uint32_t owner_id, bool *ret_is_known)
{
	uint32_t i = keymap_get(&rs->owners, owner_id);

	*ret_is_known = i != KEYMAP_NONE;
	return i < TRACK_RUNTIMES_MAX ? &rs->at[i] : NULL;
}

void runtimes_owner(struct runtimes *rs, uint64_t owner_id, uint64_t scheduler)
{
	uint32_t owner = (uint32_t)owner_id;
	int flavor = SEAT_UNKNOWN, rc;
	struct runtime *rt;

	if (!owner || keymap_get(&rs->owners, owner) != KEYMAP_NONE)
		return;
	rc = rs->o->ops->flavor(rs->o->ctx, scheduler, &flavor);
	if (rc && rc != -ENOENT)
		return; /* could not be read now: asked again at the next change of list */
	if (rc || flavor == SEAT_UNKNOWN) {
		know_owner(rs, owner, OWNER_NEITHER);
		return;
	}
	rt = by_scheduler(rs, scheduler);
	if (!rt) /* its block, and so its name, come with its first poll */
		rt = make(rs, flavor == SEAT_MULTI_THREAD ? RUNTIME_MULTI : RUNTIME_CURRENT, 0);
	if (!rt)
		return;
	/* One list per runtime: another list at the same address is a new runtime in old memory. */
	forget_owner(rs, rt);
	rt->scheduler = scheduler;
	rt->owner_id = owner;
	know_owner(rs, owner, (uint32_t)(rt - rs->at));
}

struct runtime *runtimes_by_seat(struct runtimes *rs, pid_t tid, const struct seat *seat)
{
	struct runtime *rt = by_scheduler(rs, seat->handle);

	if (seat->index >= seat->workers_cnt)
		return NULL;
	if (!rt)
		rt = make(rs, RUNTIME_MULTI, 0);
	if (!rt || rt->kind != RUNTIME_MULTI)
		return NULL;
	rt->scheduler = seat->handle;
	if (!rt->workers_cnt && !give_block(rs, rt, tid, seat->workers_cnt))
		return NULL;
	return rt->workers_cnt == seat->workers_cnt ? rt : NULL;
}

struct worker *runtimes_worker(struct runtimes *rs, uint32_t id)
{
	return id < TRACK_WORKERS_MAX && rs->workers[id].runtime ? &rs->workers[id] : NULL;
}

struct worker *runtimes_single(struct runtimes *rs, pid_t tid, struct runtime *rt)
{
	if (!rt)
		rt = by_key(rs, RUNTIME_LOCAL, (uint32_t)tid);
	if (!rt)
		rt = make(rs, RUNTIME_LOCAL, (uint32_t)tid);
	if (rt && !rt->workers_cnt)
		give_block(rs, rt, tid, 1);
	return rt ? rt->workers : NULL;
}

struct worker *runtimes_unseated(struct runtimes *rs, uint32_t owner_id)
{
	struct runtime *rt = by_key(rs, RUNTIME_UNSEATED, owner_id);
	struct worker *w;

	if (!rt) {
		rt = make(rs, RUNTIME_UNSEATED, owner_id);
		if (!rt)
			return NULL;
		name_runtime(rs, rt, 0);
		metadata_set(emit_metadata(rs->e), "agent.worker_identity", "thread");
	}
	for (uint32_t i = 0; i < rs->next_id; i++)
		if (rs->workers[i].runtime == rt && !rs->workers[i].holder && !rs->workers[i].parked)
			return &rs->workers[i];
	w = new_ids(rs, rt, 1);
	if (w)
		tell_workers(rs, rt, w, 1);
	return w;
}

struct runtime *runtimes_next(struct runtimes *rs, uint32_t *at)
{
	while (*at < TRACK_RUNTIMES_MAX) {
		struct runtime *rt = &rs->at[(*at)++];

		if (rt->workers_cnt && !is_dead(rt))
			return rt;
	}
	return NULL;
}
