/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target's memory made of the input: words are the fuzzer's choice, addresses wrap around in it,
 * every second look may see the input's other half. Nothing may crash or run on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plan.h"
#include "seat.h"

#define BASE 0x100000ull
#define THREADS (BASE + 0x1000)
#define THREAD_GAP 0x800

struct input {
	const uint8_t *bytes;
	size_t sz;
	unsigned reads;
};

static int read_input(void *ctx, uint64_t addr, void *buf, size_t sz)
{
	struct input *in = ctx;
	uint8_t *to = buf;
	size_t at = (size_t)(addr - BASE) % in->sz;

	/* 16-bit words of the input become addresses inside it, or small numbers */
	for (size_t i = 0; i < sz; i++, at = (at + 1) % in->sz)
		to[i] = in->bytes[at];
	for (size_t i = 0; i + 8 <= sz; i += 8) {
		uint64_t word;

		memcpy(&word, to + i, sizeof(word));
		if (word & 1)
			word = BASE + (word >> 8 & 0xfff8);
		else
			word = word >> 8 & 0x1f;
		memcpy(to + i, &word, sizeof(word));
	}
	if (++in->reads > 100000)
		abort();
	/* a thread pointer that points to itself, as it must: else nothing is searched */
	if (sz == sizeof(addr) && addr >= THREADS && (addr - THREADS) % THREAD_GAP == 0)
		memcpy(buf, &addr, sizeof(addr));
	return in->reads % 97 == 0 ? -14 /* EFAULT */ : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	struct input in = {.bytes = bytes, .sz = sz};
	const struct memory m = {.read = read_input, .ctx = &in};
	struct plan_vtable vtable = {.vaddr = BASE + 0x40, .trailer_off = 128};
	struct plan_file file = {.vtables = &vtable, .vtables_cnt = 1, .tls_sz = 0x80};
	struct plan plan = {.files = &file, .files_cnt = 1};
	struct seats *s;

	if (sz < 64 || seats_open_memory(&m, NULL, &plan, &s))
		return 0;
	for (uint64_t i = 0; i < 3; i++) {
		struct seat_runtime runtime;
		enum seat_flavor flavor;
		struct seat seat;

		seats_find(s, (int)i, THREADS + i * THREAD_GAP, &seat);
		seats_flavor(s, BASE + i * 0x100, &flavor);
		seats_runtime(s, BASE + i * 0x100, i + 1, 0, &runtime);
	}
	seats_close(s);
	return 0;
}
