/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offname.h - words for why a thread had no CPU.
 */
#ifndef DIAL9_OFFNAME_H
#define DIAL9_OFFNAME_H

#include <stdint.h>

#define OFFNAME_SZ 32

/* "preempted", "not in a system call", "futex", "syscall 999": of a MOMENT_OFF_CPU label. */
const char *offname(char to[OFFNAME_SZ], uint32_t label);

#endif /* DIAL9_OFFNAME_H */
