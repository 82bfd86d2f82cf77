/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seat_fixture.h - a made-up target memory that holds a runtime of three workers, laid out as one
 * build does it. Tests change one thing in it, or answer reads with something harmful.
 */
#ifndef DIAL9_SEAT_FIXTURE_H
#define DIAL9_SEAT_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "seat.h"

#define BASE 0x7f0000000000ull
#define SPACE_SZ (1u << 20)
#define WORKERS 3
#define VTABLE 0x5000 /* a vaddr; bias 0 */
#define OWNER 9

/* where things stand, as offsets from BASE */
#define HANDLE 0x1000
#define SLICE 0x2000
#define QUEUES 0x3000 /* 0x100 apart */
#define UNPARKS 0x4000
#define UNPARK_SHARED 0x4800
#define BUFFERS 0x8000 /* 0x1000 apart */
#define WORKER_ARCS 0xc000
#define CORES 0xd000 /* 0x200 apart */
#define TASKS 0x10000 /* 0x200 apart */
#define STACKS 0x40000 /* 0x10000 apart; the thread pointer is at the end */
#define HANDLE_REMOTES 0x70
#define HANDLE_ENDS 0x100
#define HANDLE_LEN 0xc8
#define HANDLE_OWNED 0x120
#define TLS_OFF 0x98
#define HEADER(i) (TASKS + (unsigned)(i) * 0x200)
#define FSBASE(i) (BASE + STACKS + 0x10000ull * ((unsigned)(i) + 1) - 0x100)
#define CONTEXT(i) (FSBASE(i) - BASE - 0x2000)

struct fake {
	unsigned char *bytes;
	int (*harm)(struct fake *f, uint64_t addr, void *buf, size_t sz); /* NULL = none */
	unsigned reads;
	uint64_t seed;
	int err; /* every read fails with it */
};

/* Offsets are from BASE. */
void fake_put(struct fake *f, uint64_t off, uint64_t word);
void fake_put_arc(struct fake *f, uint64_t off);
/* The header of task `i`, queue_next being task `next` (-1 = none). */
void fake_put_task(struct fake *f, int i, int next);
/* Worker i's run queue: `taken` tasks went through it before, `depth` wait. */
void fake_put_queue(struct fake *f, int i, uint32_t taken, uint32_t depth);
/* An inject queue of `len` tasks, task 10 being its head. */
void fake_put_inject(struct fake *f, int len);
void fake_put_owned(struct fake *f, uint64_t added, uint64_t alive);

int fake_world_make(void **state); /* *state: struct fake */
int fake_world_free(void **state);
struct seats *fake_seats_over(struct fake *f);

#define FAKE_TEST(name) cmocka_unit_test_setup_teardown(name, fake_world_make, fake_world_free)

#endif /* DIAL9_SEAT_FIXTURE_H */
