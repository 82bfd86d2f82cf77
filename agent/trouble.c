// SPDX-License-Identifier: Apache-2.0
#include "trouble.h"

#include "clock.h"
#include "format/trace.h"
#include "log.h"

#include <errno.h>

bool trouble_is_due(struct trouble *t, uint64_t now_ns)
{
	if (!t->since_ns) {
		t->since_ns = now_ns ? now_ns : 1;
		t->is_told = false;
		if (t->due_ns && now_ns - t->over_ns >= TROUBLE_CALM_NS)
			t->due_ns = 0;
	}
	if (now_ns < t->due_ns)
		return false;
	t->wait_ns = t->due_ns ? 3 * t->wait_ns : TROUBLE_FIRST_NS;
	if (t->wait_ns > TROUBLE_LAST_NS)
		t->wait_ns = TROUBLE_LAST_NS;
	t->due_ns = now_ns + t->wait_ns;
	t->is_told = true;
	return true;
}

bool trouble_is_over(struct trouble *t, uint64_t now_ns, uint64_t *ret_lasted_ns)
{
	bool was_told = t->since_ns && t->is_told;

	if (!t->since_ns)
		return false;
	*ret_lasted_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	t->since_ns = 0;
	t->over_ns = now_ns;
	return was_told;
}

static const char *trouble_remedy(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "make room there (df -h), or start again with another --trace-dir";
	case -EROFS:
		return "make it writable again (mount -o remount,rw)";
	case -EFBIG:
		return "start again with a larger limit (ulimit -f)";
	default:
		return "see what ails the disk (dmesg), or start again with another --trace-dir";
	}
}

void trouble_met(struct trouble *t, const char *path, int err, uint64_t now_ns)
{
	bool is_new = !t->since_ns;

	if (trouble_is_due(t, now_ns))
		log_error(err, "%s write to %s: %s: events are lost, and counted, until it works again: %s",
			  is_new ? "cannot" : "still cannot", path, d9_strerror(err),
			  trouble_remedy(err));
}

void trouble_over(struct trouble *t, const char *path, uint64_t now_ns)
{
	uint64_t lasted_ns;

	if (trouble_is_over(t, now_ns, &lasted_ns))
		log_info("writing to %s again, after %.1f s", path, (double)lasted_ns / CLOCK_SEC_NS);
}
