// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include <linux/types.h>

#include "bpf/wire.h"

static const struct {
	const char *name;
	size_t sz;
} event_kinds[WIRE_KIND_CNT] = {
	[WIRE_POLL_START] = { "PollStart", sizeof(struct wire_poll_start) },
	[WIRE_POLL_END] = { "PollEnd", sizeof(struct wire_poll_end) },
	[WIRE_WAKE] = { "Wake", sizeof(struct wire_wake) },
	[WIRE_SPAWN_ID] = { "SpawnId", sizeof(struct wire_spawn_id) },
	[WIRE_BIND] = { "Spawn", sizeof(struct wire_bind) },
	[WIRE_SHUTDOWN] = { "Shutdown", sizeof(struct wire_shutdown) },
	[WIRE_OWNER] = { "Owner", sizeof(struct wire_owner) },
	[WIRE_RETURN_SITE] = { "ReturnSite", sizeof(struct wire_return_site) },
	[WIRE_SWITCH_OUT] = { "SwitchOut", sizeof(struct wire_switch_out) },
	[WIRE_SWITCH_IN] = { "SwitchIn", sizeof(struct wire_switch_in) },
	[WIRE_CPU_SAMPLE] = { "CpuSample", sizeof(struct wire_cpu_sample) },
	[WIRE_THREAD_EXIT] = { "ThreadExit", sizeof(struct wire_life) },
	[WIRE_EXEC] = { "Exec", sizeof(struct wire_life) },
	[WIRE_SEAT] = { "Seat", sizeof(struct wire_seat) },
	[WIRE_TLS] = { "Tls", sizeof(struct wire_tls) },
	[WIRE_TASK_SEEN] = { "TaskSeen", sizeof(struct wire_task_seen) },
	[WIRE_PARKS] = { "Parks", sizeof(struct wire_parks) },
};

const struct wire_head *event_check(const void *data, size_t sz)
{
	const struct wire_head *head = data;
	size_t frames_cnt = 0;

	if (sz < sizeof(*head) || head->kind >= WIRE_KIND_CNT || !event_kinds[head->kind].name)
		return NULL;
	if (sz < event_kinds[head->kind].sz)
		return NULL;
	if (head->kind == WIRE_SWITCH_OUT)
		frames_cnt = ((const struct wire_switch_out *)data)->frames_cnt;
	else if (head->kind == WIRE_CPU_SAMPLE)
		frames_cnt = ((const struct wire_cpu_sample *)data)->frames_cnt;
	if (frames_cnt > WIRE_FRAMES_MAX ||
	    sz != event_kinds[head->kind].sz + frames_cnt * sizeof(__u64))
		return NULL;
	return head;
}

const char *event_name(int kind)
{
	if (kind < 0 || kind >= WIRE_KIND_CNT || !event_kinds[kind].name)
		return "?";
	return event_kinds[kind].name;
}
