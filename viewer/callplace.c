// SPDX-License-Identifier: Apache-2.0
/* callplace.c - passes over frames that only carry the call. */
#include "callplace.h"

#include "labels.h"
#include "offname.h"
#include "report.h"
#include "stacktable.h"
#include "study.h"

#include <stdio.h>
#include <string.h>

static const char *const callplace_carriers[] = {
	"std::",	"core::", "alloc::", "tokio::", "parking_lot",
	"rayon_core::", "libc::", "nix::",   "rustix::"
};

bool callplace_is_own(const char *name, size_t len)
{
	if (!len || !memmem(name, len, "::", 2))
		return false;
	while (len && (*name == '<' || *name == '&' || *name == '_')) {
		name++;
		len--;
	}
	for (size_t i = 0; i < sizeof(callplace_carriers) / sizeof(callplace_carriers[0]); i++) {
		size_t cut = strlen(callplace_carriers[i]);

		if (len >= cut && memcmp(name, callplace_carriers[i], cut) == 0)
			return false;
	}
	return true;
}

/* The innermost own name of an address "outer;inner;innermost"; its length, 0 if there is none. */
static size_t callplace_innermost(const char *names, size_t len, const char **ret)
{
	const char *sep;
	size_t cut;

	while (len) {
		sep = memrchr(names, ';', len);
		*ret = sep ? sep + 1 : names;
		cut = len - (size_t)(*ret - names);
		if (callplace_is_own(*ret, cut))
			return cut;
		len = sep ? (size_t)(sep - names) : 0;
	}
	return 0;
}

bool callplace_function(char *to, size_t room, const struct study *s, uint32_t stack)
{
	const struct stacktable *stacks = s->report->stacks;
	const uint64_t *frames;
	const char *name;
	uint32_t cnt = 0;
	size_t len;

	to[0] = '\0';
	if (!stacks || !stack)
		return false;
	frames = stacktable_frames(stacks, stack, &cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		name = labels_text(s->report->labels, stacktable_label(stacks, frames[i]), &len);
		len = callplace_innermost(name, len, &name);
		if (len) {
			snprintf(to, room, "%.*s", (int)(len < 300 ? len : 300), name);
			return true;
		}
	}
	return false;
}

void callplace_text(char *to, size_t room, const struct study *s, uint32_t label, uint32_t stack)
{
	char call[OFFNAME_SZ], function[301];

	offname(call, label);
	if (callplace_function(function, sizeof(function), s, stack))
		snprintf(to, room, "%s in %s", call, function);
	else
		snprintf(to, room, "%s", call);
}
