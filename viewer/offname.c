// SPDX-License-Identifier: Apache-2.0
/* offname.c - names of system calls by number. */
#include "offname.h"

#include "moment.h"

#include <stdio.h>

static const char *const offname_syscalls[] = {
#define S(number, name) [number] = #name,
#include "syscalls.def"
#undef S
};

const char *offname(char to[OFFNAME_SZ], uint32_t label)
{
	uint32_t nr = label - MOMENT_SYSCALL;

	if (label == MOMENT_OFF_PREEMPTED)
		snprintf(to, OFFNAME_SZ, "preempted");
	else if (label == MOMENT_OFF_OTHER)
		snprintf(to, OFFNAME_SZ, "not in a system call");
	else if (nr < sizeof(offname_syscalls) / sizeof(offname_syscalls[0]) &&
		 offname_syscalls[nr])
		snprintf(to, OFFNAME_SZ, "%s", offname_syscalls[nr]);
	else
		snprintf(to, OFFNAME_SZ, "syscall %u", nr);
	return to;
}
