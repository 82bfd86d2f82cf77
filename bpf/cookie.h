/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cookie.h - what the agent tells BPF about one site: it comes with each hit of its probe.
 *
 * Shared by BPF and userspace like wire.h: no includes, the includer provides __u8..__u64.
 */
#ifndef DIAL9_COOKIE_H
#define DIAL9_COOKIE_H

/*
 * Attach cookie of a site, one u64:
 *   bits  0-3   enum wire_site
 *   bits  4-7   number of the copy of Tokio it belongs to
 *   bits  8-11  register holding the task header (or the id), enum wire_reg
 *   bit  12     WIRE_SITE_BIND: rdi is not the task list (any more)
 *   bits 13-20  bytes pushed since function entry or since the return, / 8;
 *               WIRE_PUSHED_INLINED: the function was inlined, so there is no return address
 *   bits 21-30  id_off / 8 (0 = ask the vtable), or the counter's index for WIRE_SITE_SPAWN_ID
 *   bits 31-36  low bits of the site's number, an index into the plan's sites: see bits 46-53
 *   bit  37     the build has spawn locations (tokio_unstable): word at id_off + 8
 *   bits 38-45  scheduler_off / 8
 *   bits 46-53  high bits of the site's number
 *   bits 54-61  with register WIRE_RSP: the header (or the id) is in no register but in memory,
 *               this many 8-byte words above the stack pointer
 *   bit  62     ... or rather this many words below rbp
 *   bit  63     bits 13-20 were popped, not pushed: a return site further up the stack
 */
enum wire_site {
	WIRE_SITE_RETURN = 1,
	WIRE_SITE_SPAWN_ID = 2,
	WIRE_SITE_BIND = 3,
	WIRE_SITE_SCHEDULE = 4,
	WIRE_SITE_SHUTDOWN = 5,
	WIRE_SITE_POLL = 6,
	WIRE_SITE_RAISE = 7,
	WIRE_SITE_OWN_END = 8, /* where one poll function returns: only in plans, attached as KEPT_END */
	/* Poll starts, and ends at OWN_END sites, of the types that are kept while hot ones are not
	 * probed. Two sets take turns: the next one is attached before the last one is taken out. */
	WIRE_SITE_KEPT_POLL = 9, /* and 10 */
	WIRE_SITE_KEPT_END = 11, /* and 12 */
	WIRE_SITE_CNT = 13
};

/* x86-64 register numbers as instructions encode them */
enum wire_reg {
	WIRE_RAX, WIRE_RCX, WIRE_RDX, WIRE_RBX, WIRE_RSP, WIRE_RBP, WIRE_RSI, WIRE_RDI,
	WIRE_R8, WIRE_R9, WIRE_R10, WIRE_R11, WIRE_R12, WIRE_R13, WIRE_R14, WIRE_R15
};

#define WIRE_COOKIE(site, reg, pushed_words, id_words, has_location, scheduler_words)              \
	((__u64)(site) | (__u64)(reg) << 8 | (__u64)(pushed_words) << 13 | (__u64)(id_words) << 21 | \
	 (__u64)(has_location) << 37 | (__u64)(scheduler_words) << 38)
#define WIRE_COOKIE_ID_WORDS_MAX 1023
#define WIRE_COOKIE_SCHEDULER_WORDS_MAX 255
#define WIRE_COOKIE_NUMBER(no) ((__u64)((no) & 63) << 31 | (__u64)((no) >> 6 & 255) << 46)
#define WIRE_COOKIE_SITE_NO(c) ((__u32)((c) >> 31) & 63 | ((__u32)((c) >> 46) & 255) << 6)
#define WIRE_COOKIE_STACK(word, below_rbp) ((__u64)(word) << 54 | (__u64)(below_rbp) << 62)
#define WIRE_COOKIE_STACK_WORD(c) ((__u8)((c) >> 54))
#define WIRE_COOKIE_BELOW_RBP(c) ((__u8)((c) >> 62) & 1)
#define WIRE_COOKIE_SITE(c) ((__u8)(c) & 0x0f)
#define WIRE_COOKIE_OF_COPY(copy) ((__u64)(copy) << 4) /* to be or-ed in */
#define WIRE_COOKIE_COPY(c) ((__u8)(c) >> 4)
#define WIRE_PUSHED_INLINED 255
#define WIRE_COOKIE_NO_LIST(is_lost) ((__u64)(is_lost) << 12) /* to be or-ed in */
#define WIRE_COOKIE_HAS_LIST(c) (!((c) >> 12 & 1))
#define WIRE_COOKIE_REG(c) ((__u8)((c) >> 8) & 0x0f)
#define WIRE_COOKIE_POPPED(is_popped) ((__u64)(is_popped) << 63) /* to be or-ed in */
#define WIRE_COOKIE_PUSHED(c) ((__s64)(c) < 0 ? -(int)(__u8)((c) >> 13) : (int)(__u8)((c) >> 13))
#define WIRE_COOKIE_ID_OFF(c) ((__u16)(((c) >> 21 & 1023) * 8))
#define WIRE_COOKIE_COUNTER(c) ((__u16)((c) >> 21 & 1023))
#define WIRE_COOKIE_HAS_LOCATION(c) ((__u8)((c) >> 37) & 1)
#define WIRE_COOKIE_SCHEDULER_OFF(c) ((__u16)(((c) >> 38 & 255) * 8))

#endif /* DIAL9_COOKIE_H */
