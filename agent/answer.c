// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "clock.h"
#include "memory.h"
#include "plan.h"
#include "probe.h"
#include "roster.h"
#include "seat.h"
#include "symbols.h"
#include "target.h"

#define ANSWER_PATH_MAX 512 /* bytes of a source path in the target's memory */

/* core::panic::Location as rustc lays it out: not a promise, so what it points to is judged too */
struct answer_location {
	uint64_t file, file_len;
	uint32_t line, col;
};

static int answer_seat(void *ctx, pid_t tid, struct seat *ret)
{
	struct answer *a = ctx;
	struct wire_thread thread = { .is_worker = 1 };
	uint64_t fsbase;
	int err;

	err = roster_fsbase(a->roster, tid, clock_now_ns(), &fsbase);
	if (!err)
		err = seats_find(a->seats, tid, fsbase, ret);
	if (err) {
		probe_set_thread(a->probe, tid, NULL);
		return err;
	}
	thread.queue_addr = ret->queue_addr;
	thread.tail_off = ret->tail_off;
	probe_set_thread(a->probe, tid, &thread);
	return 0;
}

static int answer_flavor(void *ctx, uint64_t scheduler, int *ret)
{
	struct answer *a = ctx;
	enum seat_flavor flavor;
	int err = seats_flavor(a->seats, scheduler, &flavor);

	if (!err)
		*ret = (int)flavor;
	return err;
}

static int answer_type(void *ctx, uint64_t vtable, char *name, size_t sz, bool *is_blocking)
{
	struct answer *a = ctx;
	size_t file;
	const struct plan_vtable *v = plan_vtable_at(a->plan, vtable, &file);

	*is_blocking = v && v->is_blocking;
	if (!v) {
		snprintf(name, sz, "vtable+0x%" PRIx64 "@unknown", vtable);
		return 0;
	}
	if (a->symbols && !symbols_type_name(a->symbols, v->poll + a->plan->files[file].bias,
					     v->dealloc + a->plan->files[file].bias, name, sz))
		return 0;
	snprintf(name, sz, "vtable+0x%" PRIx64 "@%.16s", v->vaddr,
		 a->plan->files[file].build_id[0] ? a->plan->files[file].build_id : "no-build-id");
	return 0;
}

static int answer_location(void *ctx, uint64_t location, char *place, size_t sz)
{
	struct answer *a = ctx;
	struct answer_location loc;
	char path[ANSWER_PATH_MAX + 1];
	int err;

	if (!location)
		return -ENOENT;
	err = target_read(a->target, location, &loc, sizeof(loc));
	if (err)
		return err;
	if (!loc.file_len || loc.file_len > ANSWER_PATH_MAX || !loc.line || !loc.col)
		return -EBADMSG;
	err = target_read(a->target, loc.file, path, loc.file_len);
	if (err)
		return err;
	path[loc.file_len] = '\0';
	if (strlen(path) != loc.file_len)
		return -EBADMSG;
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return -EBADMSG;
	snprintf(place, sz, "%s:%u:%u", path, loc.line, loc.col);
	return 0;
}

static int answer_spawn_place(void *ctx, uint64_t return_addr, char *place, size_t sz)
{
	struct answer *a = ctx;

	return a->symbols ? symbols_spawn_place(a->symbols, return_addr, place, sz) : -ENOENT;
}

static int answer_runtime(void *ctx, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
			  int64_t *global_depth, int64_t *alive)
{
	struct answer *a = ctx;
	struct seat_runtime rt = {};
	int err = seats_runtime(a->seats, scheduler, WIRE_OWN_OWNER(owner_id), owned_tasks, &rt);

	if (err)
		return err;
	*global_depth = rt.has_global_depth ? (int64_t)rt.global_depth : -1;
	*alive = rt.has_alive ? (int64_t)rt.alive : -1;
	return 0;
}

static int answer_thread_name(void *ctx, pid_t tid, char *name, size_t sz)
{
	struct answer *a = ctx;
	const char *comm;
	uint64_t fsbase;

	/* it lists a thread anew that it does not know */
	roster_fsbase(a->roster, tid, clock_now_ns(), &fsbase);
	comm = roster_comm(a->roster, tid);

	if (!comm[0])
		return -ENOENT;
	snprintf(name, sz, "%s", comm);
	return 0;
}

void answer_prepare(struct answer *a)
{
	uint64_t stop_ns = clock_now_ns() + ANSWER_PREPARE_NS;
	char name[1024];
	bool is_blocking;

	for (size_t i = 0; i < a->plan->files_cnt; i++)
		for (size_t v = 0; v < a->plan->files[i].vtables_cnt; v++) {
			if (clock_now_ns() > stop_ns)
				return;
			answer_type(a, a->plan->files[i].vtables[v].vaddr + a->plan->files[i].bias,
				    name, sizeof(name), &is_blocking);
		}
}

const struct track_ops answer_ops = {
	.seat = answer_seat,
	.flavor = answer_flavor,
	.type = answer_type,
	.location = answer_location,
	.spawn_place = answer_spawn_place,
	.runtime = answer_runtime,
	.thread_name = answer_thread_name,
};
