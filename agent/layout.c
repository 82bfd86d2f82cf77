/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <errno.h>
#include <string.h>

#define PIECE_WORDS 512 /* TLS words read at once */
#define DTV_OFF 8 /* in the thread control block, glibc and musl alike */
#define DTV_UNALLOCATED UINT64_MAX
#define CORE_NEAR 3 /* words between Worker and Core in a Context: what lies farther is not of it */

struct search {
	struct memory *m;
	struct remotes *remotes;
	uint64_t fsbase;
	struct layout *layout;
	struct layout_worker *worker;
};

static bool is_fatal(int err)
{
	return err == -ESRCH || err == -E2BIG;
}

/*
 * The index is known from the Core; the Worker must say the same. For worker 0 the word of an
 * empty Core cell looks the same, so its place stays open until another worker is seen.
 */
static int index_judge(const uint64_t *words, int cnt, int handle, uint32_t index,
		       struct layout *l)
{
	int found = 0;

	for (int i = 2; i < cnt && i < 5; i++) {
		if (i == handle || words[i] != index)
			continue;
		l->index_off = (uint16_t)(i * 8);
		found++;
	}
	l->has_index = found == 1 && index;
	return found ? 0 : -ENOENT;
}

/*
 * One word of the Context as the Core box: a word in it must be a queue (or unparker) Arc. What
 * is read may run on into the next heap object, so the caller takes the nearest find; the slice
 * of Remotes itself holds the same Arcs and is no Core.
 */
static int core_judge(struct search *s, uint64_t core, uint16_t *ret_off, uint32_t *ret_remote)
{
	const struct remotes *r = s->remotes;
	uint64_t words[LAYOUT_CORE_WORDS];
	int cnt;

	if (!memory_is_ptr(core))
		return -ENOENT;
	cnt = memory_words(s->m, core, words, LAYOUT_CORE_WORDS);
	if (cnt < 0)
		return cnt;
	for (int i = 0; i < cnt; i++) {
		if (!memory_is_ptr(words[i]) || core + (uint64_t)i * 8 - r->addr < 16ull * r->cnt)
			continue;
		for (uint32_t k = 0; k < 2 * r->cnt; k++) {
			/* before the queue's column is proven, either Arc tells the index */
			if (words[i] != r->words[k] ||
			    (s->layout->queue.is_proven && k % 2 != s->layout->queue.column))
				continue;
			*ret_off = (uint16_t)(i * 8);
			*ret_remote = k;
			return 0;
		}
	}
	return -ENOENT;
}

/* One word of the Context is a Worker with a Handle: is another one its Core? */
static int context_judge(struct search *s, const uint64_t *context, int cnt, int at,
			 const uint64_t *words, int words_cnt, int handle)
{
	struct layout *l = s->layout;
	uint16_t nearest = UINT16_MAX;
	uint32_t remote = 0;
	int err, core = -1;

	err = remotes_prove(s->m, s->remotes, &l->queue);
	if (err && err != -EAGAIN)
		return err;
	for (int c = at > CORE_NEAR ? at - CORE_NEAR : 0; c < cnt && c <= at + CORE_NEAR; c++) {
		uint16_t off;
		uint32_t k;

		if (c == at || context[c] == words[handle])
			continue;
		err = core_judge(s, context[c], &off, &k);
		if (is_fatal(err))
			return err;
		if (err || off >= nearest)
			continue;
		nearest = off;
		remote = k;
		core = c;
	}
	if (core < 0 || index_judge(words, words_cnt, handle, remote / 2, l))
		return -ENOENT;
	l->worker_off = (uint16_t)(at * 8);
	l->core_off = (uint16_t)(core * 8);
	l->handle_off = (uint16_t)(handle * 8);
	l->remotes_off = s->remotes->handle_off;
	l->queue_off = nearest;
	l->core_column = (uint8_t)(remote % 2);
	s->worker->worker = context[at];
	s->worker->core = context[core];
	s->worker->handle = words[handle];
	s->worker->index = remote / 2;
	s->worker->workers_cnt = s->remotes->cnt;
	s->worker->queue = l->queue.is_proven ?
			   s->remotes->words[remote / 2 * 2 + l->queue.column] : 0;
	return 0;
}

static int worker_judge(struct search *s, const uint64_t *context, int cnt, int at)
{
	uint64_t words[LAYOUT_WORKER_WORDS];
	int words_cnt, err;

	words_cnt = memory_words(s->m, context[at], words, LAYOUT_WORKER_WORDS);
	if (words_cnt < 0)
		return words_cnt;
	if (words_cnt < 5 || !memory_is_arc(words[0], words[1]))
		return -ENOENT;
	for (int h = 2; h < 5; h++) {
		if (!memory_is_ptr(words[h]))
			continue;
		err = remotes_find(s->m, words[h], s->remotes);
		if (!err)
			err = context_judge(s, context, cnt, at, words, words_cnt, h);
		if (!err || is_fatal(err))
			return err;
	}
	return -ENOENT;
}

/* One TLS word as the address of a Context on this thread's stack. */
static int word_judge(struct search *s, uint64_t word)
{
	uint64_t context[LAYOUT_CONTEXT_WORDS];
	int cnt, err;

	if (!memory_is_ptr(word) || word >= s->fsbase || s->fsbase - word > LAYOUT_STACK_MAX)
		return -ENOENT;
	cnt = memory_words(s->m, word, context, LAYOUT_CONTEXT_WORDS);
	if (cnt < 0)
		return cnt;
	for (int i = 0; i < cnt; i++) {
		if (!memory_is_ptr(context[i]))
			continue;
		err = worker_judge(s, context, cnt, i);
		if (!err)
			s->worker->context = word;
		if (!err || is_fatal(err))
			return err;
	}
	return -ENOENT;
}

/* All words of one TLS block of `sz` bytes. *ret_addr is where the Context's address stands. */
static int block_search(struct search *s, uint64_t start, uint32_t sz, uint64_t *ret_addr)
{
	uint64_t words[PIECE_WORDS];

	for (uint32_t off = 0; off < sz; off += sizeof(words)) {
		uint32_t left = (sz - off) / 8;
		int cnt = memory_words(s->m, start + off, words,
				       left < PIECE_WORDS ? left : PIECE_WORDS);

		if (is_fatal(cnt))
			return cnt;
		for (int i = 0; i < cnt; i++) {
			int err = word_judge(s, words[i]);

			*ret_addr = start + off + (uint64_t)i * 8;
			if (!err || is_fatal(err))
				return err;
		}
	}
	return -ENOENT;
}

/* glibc: entries of (block, what to free), counted by the entry before the first. */
static int modules_search(struct search *s, uint32_t sz)
{
	uint64_t dtv, cnt, entries[2 * LAYOUT_MODULES_MAX], addr;
	int err;

	if (memory_read(s->m, s->fsbase + DTV_OFF, &dtv, sizeof(dtv)) || !memory_is_ptr(dtv) ||
	    memory_read(s->m, dtv - 16, &cnt, sizeof(cnt)))
		return -ENOENT;
	if (cnt > LAYOUT_MODULES_MAX - 1)
		cnt = LAYOUT_MODULES_MAX - 1;
	if (memory_read(s->m, dtv, entries, (cnt + 1) * 16))
		return -ENOENT;
	for (uint64_t i = 1; i <= cnt; i++) {
		if (entries[2 * i] == DTV_UNALLOCATED || !memory_is_ptr(entries[2 * i]))
			continue;
		err = block_search(s, entries[2 * i], sz, &addr);
		if (!err) {
			s->layout->module = (uint16_t)i;
			s->layout->tls_off = (uint32_t)(addr - entries[2 * i]);
		}
		if (!err || is_fatal(err))
			return err;
	}
	return -ENOENT;
}

int layout_search(struct memory *m, uint64_t fsbase, const struct layout_tls *tls,
		  struct remotes *scratch, struct layout *ret, struct layout_worker *worker)
{
	struct layout found = {0};
	struct layout_worker at = {0};
	struct search s = {m, scratch, fsbase, &found, &at};
	uint32_t sz = tls->sz < LAYOUT_TLS_MAX ? tls->sz & ~7u : LAYOUT_TLS_MAX;
	uint64_t self, addr = 0;
	int err;

	if (!memory_is_ptr(fsbase))
		return -ENOENT;
	/* both C libraries keep the thread pointer's own value there */
	err = memory_read(m, fsbase, &self, sizeof(self));
	if (is_fatal(err))
		return err;
	if (err || self != fsbase)
		return -ENOENT;
	if (tls->is_main) {
		err = block_search(&s, fsbase - sz, sz, &addr);
		found.tls_off = (uint32_t)(fsbase - addr);
	} else {
		err = modules_search(&s, sz);
	}
	if (err)
		return is_fatal(err) ? err : -ENOENT;
	found.is_known = true;
	*ret = found;
	*worker = at;
	return 0;
}

/* Address of the thread's TLS word. -ENOENT when the module has no block in this thread. */
static int tls_addr(struct memory *m, const struct layout *l, uint64_t fsbase, uint64_t *ret)
{
	/* from the count before the first entry up to the module's own, in one read */
	uint64_t dtv, entries[2 * (LAYOUT_MODULES_MAX + 1)];
	int err;

	if (!memory_is_ptr(fsbase))
		return -ENOENT;
	if (!l->module) {
		*ret = fsbase - l->tls_off;
		return 0;
	}
	err = memory_read(m, fsbase + DTV_OFF, &dtv, sizeof(dtv));
	if (!err && !memory_is_ptr(dtv))
		return -ENOENT;
	if (!err)
		err = memory_read(m, dtv - 16, entries, 16 * (l->module + 2u));
	if (err)
		return is_fatal(err) ? err : -ENOENT;
	/* a short table, or a block not yet made: this thread never used the module */
	if (entries[0] < l->module || !memory_is_ptr(entries[2 * (l->module + 1)]))
		return -ENOENT;
	*ret = entries[2 * (l->module + 1)] + l->tls_off;
	return 0;
}

bool layout_is_whole(const struct layout *l)
{
	return l->is_known && l->has_index && l->queue.is_proven;
}

static uint64_t word_at(const uint64_t *words, int cnt, uint16_t off)
{
	return off / 8 < cnt ? words[off / 8] : 0;
}

static int err_or(int err, int other)
{
	return is_fatal(err) ? err : other;
}

/* What an incomplete layout lacks, from a worker that holds its Core; sets ret->index. */
static int layout_complete(struct memory *m, struct layout *l, const uint64_t *worker, int cnt,
			   struct remotes *scratch, struct layout_worker *ret)
{
	uint64_t word;
	int err = remotes_at(m, ret->handle, l->remotes_off, scratch);

	if (!err && !l->queue.is_proven)
		err = remotes_prove(m, scratch, &l->queue);
	if (err && err != -EAGAIN)
		return err_or(err, -EBADMSG);
	if (l->has_index)
		return 0;
	if (scratch->cnt == 1)
		return 0;
	if (!memory_is_ptr(ret->core) ||
	    memory_read(m, ret->core + l->queue_off, &word, sizeof(word)))
		return -ENOENT;
	for (uint32_t i = 0; i < scratch->cnt; i++) {
		if (scratch->words[2 * i + l->core_column] != word)
			continue;
		ret->index = i;
		return index_judge(worker, cnt, l->handle_off / 8, i, l) ? -EBADMSG : 0;
	}
	return -ENOENT;
}

/* Remotes[index] and the Core, where there is one, must agree. */
static int queue_read(struct memory *m, const struct layout *l, uint64_t slice,
		      struct layout_worker *ret)
{
	uint64_t pair[2], word;
	int err = memory_read(m, slice + 16ull * ret->index, pair, sizeof(pair));

	if (err)
		return err_or(err, -EBADMSG);
	if (l->queue.is_proven) {
		ret->queue = pair[l->queue.column];
		err = queue_check(m, &l->queue, ret->queue);
		if (err)
			return err_or(err, -EBADMSG);
	}
	/* between polls the Core is on the stack for some nanoseconds: look once more */
	if (!ret->core &&
	    memory_read(m, ret->context + l->core_off, &ret->core, sizeof(ret->core)))
		ret->core = 0;
	if (!ret->core)
		return 0;
	if (!memory_is_ptr(ret->core))
		return -EBADMSG;
	err = memory_read(m, ret->core + l->queue_off, &word, sizeof(word));
	if (err)
		return err_or(err, -EBADMSG);
	return word == pair[l->core_column] ? 0 : -EBADMSG;
}

int layout_read(struct memory *m, struct layout *l, uint64_t fsbase, struct remotes *scratch,
		struct layout_worker *ret)
{
	uint64_t tls, words[LAYOUT_CONTEXT_WORDS], handle[REMOTES_HANDLE_WORDS];
	const uint64_t *slice = handle + l->remotes_off / 8;
	int cnt, err = tls_addr(m, l, fsbase, &tls);

	if (!err)
		err = memory_read(m, tls, &ret->context, sizeof(ret->context));
	if (err)
		return err_or(err, -ENOENT);
	if (!memory_is_ptr(ret->context) || ret->context >= fsbase)
		return -ENOENT; /* at rest: it runs no scheduler now */
	cnt = memory_words(m, ret->context, words, LAYOUT_CONTEXT_WORDS);
	if (cnt < 0)
		return err_or(cnt, -EBADMSG);
	ret->worker = word_at(words, cnt, l->worker_off);
	ret->core = word_at(words, cnt, l->core_off);
	cnt = memory_words(m, ret->worker, words, LAYOUT_WORKER_WORDS);
	if (cnt < 5 || !memory_is_arc(words[0], words[1]))
		return err_or(cnt, -EBADMSG);
	ret->handle = word_at(words, cnt, l->handle_off);
	if (!memory_is_ptr(ret->handle))
		return -EBADMSG;
	err = memory_read(m, ret->handle, handle, l->remotes_off + 16u);
	if (err || !memory_is_arc(handle[0], handle[1]) || !memory_is_ptr(slice[0]) ||
	    slice[1] < 1 || slice[1] > REMOTES_MAX)
		return err_or(err, -EBADMSG);
	ret->workers_cnt = (uint32_t)slice[1];
	/* a lone worker's index needs no learning */
	if (!l->queue.is_proven || (!l->has_index && slice[1] > 1)) {
		err = layout_complete(m, l, words, cnt, scratch, ret);
		if (err)
			return err;
	}
	if (l->has_index) {
		if (words[l->index_off / 8] >= slice[1])
			return -EBADMSG;
		ret->index = (uint32_t)words[l->index_off / 8];
	}
	return queue_read(m, l, slice[0], ret);
}
