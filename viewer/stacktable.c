// SPDX-License-Identifier: Apache-2.0
/* stacktable.c - stacks by the hash of their addresses, names by address: two open tables. */
#include "stacktable.h"

#include "labels.h"
#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

#define STACKTABLE_SLOTS (2 * STACKTABLE_MAX)
#define STACKTABLE_NAME_SLOTS (2 * STACKTABLE_NAMES_MAX)
#define STACKTABLE_NAME_SZ 4096u /* of one address with what is inlined there */

struct stack {
	uint32_t at, cnt, hash;
};

struct stackname {
	uint64_t addr; /* 0 = free */
	uint32_t label, depth; /* of the last name joined on, plus 1 */
};

struct stacktable {
	struct stack stacks[STACKTABLE_MAX];
	uint32_t slots[STACKTABLE_SLOTS]; /* 0 = free */
	struct stackname names[STACKTABLE_NAME_SLOTS];
	uint32_t cnt, names_cnt;
	uint64_t *frames;
	uint32_t frames_cnt, frames_room;
	uint64_t over_cap;
};

struct stacktable *stacktable_new(void)
{
	struct stacktable *t = calloc(1, sizeof(*t)); /* pages are touched as it fills */

	if (t)
		t->cnt = 1;
	return t;
}

void stacktable_free(struct stacktable *t)
{
	if (t)
		free(t->frames);
	free(t);
}

static int stacktable_room(struct stacktable *t, uint32_t cnt)
{
	uint32_t room = t->frames_room ? t->frames_room : 4096;
	uint64_t *grown;

	if (cnt > STACKTABLE_FRAMES_MAX - t->frames_cnt)
		return -1;
	while (room < t->frames_cnt + cnt)
		room *= 2;
	if (room == t->frames_room)
		return 0;
	grown = realloc(t->frames, room * sizeof(*grown));
	if (!grown)
		return -1;
	t->frames = grown;
	t->frames_room = room;
	return 0;
}

uint32_t stacktable_put(struct stacktable *t, const struct d9_value *stack)
{
	uint32_t cnt, at, hash;
	uint64_t h = 0xcbf29ce484222325ull;

	if (!stack || (stack->type != D9_T_PSTACK && stack->type != D9_T_STACK) || !stack->frames ||
	    stack->cnt == 0)
		return 0;
	cnt = stack->cnt < STACKTABLE_DEPTH_MAX ? stack->cnt : STACKTABLE_DEPTH_MAX;
	for (uint32_t i = 0; i < cnt; i++) {
		h = (h ^ stack->frames[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 31;
	}
	hash = (uint32_t)(h >> 16);
	for (at = hash % STACKTABLE_SLOTS; t->slots[at]; at = (at + 1) % STACKTABLE_SLOTS) {
		const struct stack *s = &t->stacks[t->slots[at]];

		if (s->hash == hash && s->cnt == cnt &&
		    memcmp(t->frames + s->at, stack->frames, cnt * sizeof(*t->frames)) == 0)
			return t->slots[at];
	}
	if (t->cnt == STACKTABLE_MAX || stacktable_room(t, cnt) != 0) {
		t->over_cap++;
		return 0;
	}
	memcpy(t->frames + t->frames_cnt, stack->frames, cnt * sizeof(*t->frames));
	t->stacks[t->cnt] = (struct stack){ t->frames_cnt, cnt, hash };
	t->frames_cnt += cnt;
	t->slots[at] = t->cnt;
	return t->cnt++;
}

static uint32_t stacktable_name_slot(const struct stacktable *t, uint64_t addr)
{
	uint32_t at = (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 40) % STACKTABLE_NAME_SLOTS;

	while (t->names[at].addr && t->names[at].addr != addr)
		at = (at + 1) % STACKTABLE_NAME_SLOTS;
	return at;
}

void stacktable_name(struct stacktable *t, const struct d9_ev *ev, struct labels *labels)
{
	uint64_t addr, depth = d9_u64(ev, D9F_symbol_inline_depth, 0);
	char joined[STACKTABLE_NAME_SZ];
	size_t old_len, new_len;
	const char *old, *new;
	struct stackname *n;
	uint32_t label;

	if (!d9_value_u64(d9_val(ev, D9F_symbol_addr), &addr) || addr == 0)
		return;
	n = &t->names[stacktable_name_slot(t, addr)];
	label = labels_field(labels, ev, D9F_symbol_symbol_name);
	if (n->addr == 0) {
		if (t->names_cnt == STACKTABLE_NAMES_MAX)
			return;
		t->names_cnt++;
		n->addr = addr;
	} else if (depth != n->depth) { /* told again, by a later segment, or not in a row */
		return;
	} else {
		old = labels_text(labels, n->label, &old_len);
		new = labels_text(labels, label, &new_len);
		if (old_len + 1 + new_len > sizeof(joined))
			return;
		memcpy(joined, old, old_len);
		joined[old_len] = ';';
		memcpy(joined + old_len + 1, new, new_len);
		label = labels_put(labels, joined, old_len + 1 + new_len);
	}
	n->label = label;
	n->depth = depth < UINT32_MAX - 1 ? (uint32_t)depth + 1 : UINT32_MAX;
}

const uint64_t *stacktable_frames(const struct stacktable *t, uint32_t stack, uint32_t *ret_cnt)
{
	*ret_cnt = t->stacks[stack].cnt;
	return t->frames ? t->frames + t->stacks[stack].at : NULL;
}

uint32_t stacktable_label(const struct stacktable *t, uint64_t addr)
{
	const struct stackname *n = &t->names[stacktable_name_slot(t, addr)];

	return n->addr && addr ? n->label : LABEL_UNKNOWN;
}

uint32_t stacktable_cnt(const struct stacktable *t)
{
	return t->cnt;
}

uint64_t stacktable_over_cap(const struct stacktable *t)
{
	return t->over_cap;
}
