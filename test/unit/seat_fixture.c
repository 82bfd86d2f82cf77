/* SPDX-License-Identifier: Apache-2.0 */
#include "seat_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plan.h"

static struct plan_vtable vtables[] = {
	{.vaddr = VTABLE, .scheduler_off = 32, .id_off = 40, .trailer_off = 128},
};
static struct plan_file files[] = {
	{.vtables = vtables, .vtables_cnt = 1, .tls_sz = 0x100, .tls_align = 8},
};
static const struct plan plan = {.files = files, .files_cnt = 1};

static int fake_read(void *ctx, uint64_t addr, void *buf, size_t sz)
{
	struct fake *f = ctx;

	f->reads++;
	if (f->err)
		return f->err;
	if (f->harm)
		return f->harm(f, addr, buf, sz);
	if (addr < BASE || addr + sz > BASE + SPACE_SZ)
		return -EFAULT;
	memcpy(buf, f->bytes + (addr - BASE), sz);
	return 0;
}

void fake_put(struct fake *f, uint64_t off, uint64_t word)
{
	memcpy(f->bytes + off, &word, sizeof(word));
}

void fake_put_arc(struct fake *f, uint64_t off)
{
	fake_put(f, off, 2);
	fake_put(f, off + 8, 1);
}

void fake_put_task(struct fake *f, int i, int next)
{
	fake_put(f, HEADER(i), 0xcc);
	fake_put(f, HEADER(i) + 8, next < 0 ? 0 : BASE + HEADER(next));
	fake_put(f, HEADER(i) + 16, VTABLE);
	fake_put(f, HEADER(i) + 24, OWNER);
}

void fake_put_queue(struct fake *f, int i, uint32_t taken, uint32_t depth)
{
	uint64_t at = QUEUES + 0x100ull * (unsigned)i;

	fake_put_arc(f, at);
	fake_put(f, at + 16, BASE + BUFFERS + 0x1000ull * (unsigned)i);
	fake_put(f, at + 24, (uint64_t)taken << 32 | taken);
	fake_put(f, at + 32, 0xdead00000000ull | (taken + depth)); /* padding holds anything */
	for (uint32_t k = 0; k < 256; k++)
		fake_put(f, BUFFERS + 0x1000ull * (unsigned)i + k * 8, BASE + HEADER(0));
}

static void put_thread(struct fake *f, int i)
{
	uint64_t context = CONTEXT(i), worker = WORKER_ARCS + 0x100ull * (unsigned)i;
	uint64_t core = CORES + 0x200ull * (unsigned)i, queue = QUEUES + 0x100ull * (unsigned)i;

	fake_put(f, FSBASE(i) - BASE, FSBASE(i));
	fake_put(f, FSBASE(i) - BASE - TLS_OFF, BASE + context);
	fake_put(f, context, 1);
	fake_put(f, context + 8, BASE + worker);
	fake_put(f, context + 16, 0);
	fake_put(f, context + 24, BASE + core);
	fake_put_arc(f, worker);
	fake_put(f, worker + 16, BASE + HANDLE);
	fake_put(f, worker + 24, (unsigned)i);
	fake_put(f, worker + 32, 0);
	fake_put(f, core, BASE + HEADER(1)); /* LIFO slot */
	fake_put(f, core + 24, BASE + queue);
	fake_put(f, core + 32, BASE + UNPARKS + 0x100ull * (unsigned)i);
}

void fake_put_inject(struct fake *f, int len)
{
	for (int i = 0; i < len; i++)
		fake_put_task(f, 10 + i, i + 1 < len ? 11 + i : -1);
	fake_put(f, HANDLE + HANDLE_ENDS, len ? BASE + HEADER(10) : 0);
	fake_put(f, HANDLE + HANDLE_ENDS + 8, len ? BASE + HEADER(10 + len - 1) : 0);
	fake_put(f, HANDLE + HANDLE_LEN, (unsigned)len);
}

void fake_put_owned(struct fake *f, uint64_t added, uint64_t alive)
{
	uint64_t at = HANDLE + HANDLE_OWNED;

	fake_put(f, at, BASE + 0x6000);
	fake_put(f, at + 8, 16);
	fake_put(f, at + 16, added);
	fake_put(f, at + 24, alive);
	fake_put(f, at + 32, 15);
	fake_put(f, at + 40, OWNER);
}

int fake_world_make(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->bytes = calloc(1, SPACE_SZ);
	assert_non_null(f->bytes);
	f->seed = 1;
	fake_put_arc(f, HANDLE);
	fake_put(f, HANDLE + HANDLE_REMOTES, BASE + SLICE);
	fake_put(f, HANDLE + HANDLE_REMOTES + 8, WORKERS);
	fake_put_arc(f, UNPARK_SHARED);
	for (int i = 0; i < WORKERS; i++) {
		uint64_t unpark = UNPARKS + 0x100ull * (unsigned)i;

		fake_put(f, SLICE + 16ull * (unsigned)i, BASE + QUEUES + 0x100ull * (unsigned)i);
		fake_put(f, SLICE + 16ull * (unsigned)i + 8, BASE + unpark);
		fake_put_arc(f, unpark);
		fake_put(f, unpark + 16, BASE + UNPARK_SHARED);
		fake_put(f, unpark + 24, 1); /* parked on its condvar */
		fake_put_queue(f, i, 7, 3 + (unsigned)i);
		put_thread(f, i);
	}
	fake_put_task(f, 0, -1);
	fake_put_task(f, 1, -1);
	fake_put_owned(f, 50, 20);
	*state = f;
	return 0;
}

int fake_world_free(void **state)
{
	struct fake *f = *state;

	free(f->bytes);
	free(f);
	return 0;
}

struct seats *fake_seats_over(struct fake *f)
{
	const struct memory m = {.read = fake_read, .ctx = f};
	struct seats *s = NULL;

	assert_int_equal(seats_open_memory(&m, NULL, &plan, &s), 0);
	return s;
}
