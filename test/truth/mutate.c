// SPDX-License-Identifier: Apache-2.0
/*
 * mutate - one of our traces with one thing broken, to see that match notices.
 *   mutate HOW FROM TO
 * HOW: end (drop one poll end), start (drop one poll), wake (drop one wake in a thousand), ids
 * (every task id one more), shift (every poll start 20 us later), swap (two workers of one poll
 * exchanged), spawn (drop one spawn), death (drop one end of a task), loc (one location changed),
 * none (nothing: must still be equal).
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace.h"

#define SCHEMAS_MAX 256
#define FIELDS_MAX 32
#define BUF_SZ (4u << 20)
#define SHIFT_NS 20000u
#define AT 200u /* which of its kind is dropped: not among the first */

enum how { HOW_NONE, HOW_END, HOW_START, HOW_WAKE, HOW_IDS, HOW_SHIFT, HOW_SWAP, HOW_SPAWN,
	   HOW_DEATH, HOW_LOC, HOW_CNT };
static const char *const names[HOW_CNT] = { "none", "end",  "start", "wake",  "ids",
					    "shift", "swap", "spawn", "death", "loc" };

struct mutation {
	enum how how;
	uint64_t seen[D9_EV_CNT + 1];
	uint64_t victim; /* worker whose poll start was dropped: its end goes too */
	bool is_pending;
	uint64_t changed;
	int fd;
	uint8_t *buf;
	struct d9_enc enc;
	struct d9_pool *pool;
	uint64_t batch;
	bool is_declared[SCHEMAS_MAX];
};

static void out(struct mutation *m)
{
	for (size_t done = 0; done < m->enc.len;) {
		ssize_t n = write(m->fd, m->enc.buf + done, m->enc.len - done);

		if (n < 0)
			err(3, "mutate: write");
		done += (size_t)n;
	}
	d9_enc_drain(&m->enc);
}

/* Each call fits an empty buffer. */
#define PUT(m, call)                                                   \
	do {                                                           \
		int rc_ = (call);                                      \
                                                                       \
		if (rc_ == -D9_E_ROOM) {                               \
			out(m);                                        \
			rc_ = (call);                                  \
		}                                                      \
		if (rc_)                                               \
			errx(3, "mutate: %s", d9_strerror(rc_));       \
	} while (0)

static struct d9_value *val(const struct d9_ev *ev, struct d9_value *copy, int field)
{
	int at = ev->schema->slot[field];

	return at < 0 ? NULL : &copy[at];
}

/* Whether it is left out. */
static bool drop(struct mutation *m, const struct d9_ev *ev, struct d9_value *v, uint64_t *ts_ns)
{
	enum d9_event kind = ev->schema->kind;
	uint64_t nth = ++m->seen[kind];

	switch (kind) {
	case D9_EV_POLL_START:
		if (m->how == HOW_IDS)
			val(ev, v, D9F_poll_start_task_id)->u++;
		if (m->how == HOW_SHIFT)
			*ts_ns += SHIFT_NS;
		if (m->how == HOW_SWAP && nth == AT) {
			m->victim = val(ev, v, D9F_poll_start_worker_id)->u;
			m->is_pending = true;
			val(ev, v, D9F_poll_start_worker_id)->u = m->victim ^ 1;
		}
		if (m->how == HOW_LOC && nth == AT) {
			struct d9_value *loc = val(ev, v, D9F_poll_start_spawn_loc);

			loc->str = "elsewhere.rs:1:1";
			loc->cnt = (uint32_t)strlen(loc->str);
		}
		if (m->how != HOW_START || nth != AT)
			return false;
		m->victim = val(ev, v, D9F_poll_start_worker_id)->u;
		return m->is_pending = true;
	case D9_EV_POLL_END:
		if (m->is_pending && val(ev, v, D9F_poll_end_worker_id)->u == m->victim) {
			m->is_pending = false;
			if (m->how == HOW_SWAP)
				val(ev, v, D9F_poll_end_worker_id)->u = m->victim ^ 1;
			return m->how == HOW_START;
		}
		return m->how == HOW_END && nth == AT;
	case D9_EV_WAKE:
		if (m->how == HOW_IDS)
			val(ev, v, D9F_wake_woken_task_id)->u++;
		return m->how == HOW_WAKE && nth % 1000 == AT;
	case D9_EV_TASK_SPAWN:
		if (m->how == HOW_IDS)
			val(ev, v, D9F_task_spawn_task_id)->u++;
		return m->how == HOW_SPAWN && nth == 2;
	case D9_EV_TASK_TERMINATE:
		if (m->how == HOW_IDS)
			val(ev, v, D9F_task_terminate_task_id)->u++;
		return m->how == HOW_DEATH && nth == 2;
	default:
		return false;
	}
}

static void declare(struct mutation *m, const struct d9_schema *s)
{
	struct d9_any_field fields[FIELDS_MAX];
	struct d9_any_def def = { .type_id = (uint16_t)(s->type_id + D9_TYPE_ANY_MIN),
				  .name = s->name,
				  .has_no_ts = !s->has_ts,
				  .field_cnt = s->field_cnt,
				  .fields = fields };

	for (uint16_t i = 0; i < s->field_cnt; i++)
		fields[i] = (struct d9_any_field){ s->fields[i].name, s->fields[i].type };
	PUT(m, d9_put_any_schema(&m->enc, &def));
	m->is_declared[s->type_id] = true;
}

static void put(struct mutation *m, const struct d9_ev *ev)
{
	const struct d9_schema *s = ev->schema;
	struct d9_value v[FIELDS_MAX];
	struct d9_any_def def;
	struct d9_any_field fields[FIELDS_MAX];
	uint64_t ts_ns = ev->ts_ns;

	if (s->field_cnt > FIELDS_MAX || s->type_id >= SCHEMAS_MAX)
		errx(3, "mutate: %s: more fields or schemas than ours have", s->name);
	memcpy(v, ev->values, s->field_cnt * sizeof(*v));
	if (drop(m, ev, v, &ts_ns)) {
		m->changed++;
		return;
	}
	if (ev->batch != m->batch) {
		m->batch = ev->batch;
		memset(m->is_declared, 0, sizeof(m->is_declared));
		PUT(m, d9_enc_begin(&m->enc));
	}
	if (!m->is_declared[s->type_id])
		declare(m, s);
	for (uint16_t i = 0; i < s->field_cnt; i++) {
		fields[i] = (struct d9_any_field){ s->fields[i].name, s->fields[i].type };
		if (v[i].type == D9_T_PSTRING)
			PUT(m, d9_intern_str(&m->enc, v[i].str ? v[i].str : "", v[i].cnt,
					     &v[i].pool_id));
		else if (v[i].type == D9_T_PSTACK)
			PUT(m, d9_intern_stack(&m->enc, v[i].frames, v[i].cnt, &v[i].pool_id));
	}
	def = (struct d9_any_def){ .type_id = (uint16_t)(s->type_id + D9_TYPE_ANY_MIN),
				   .name = s->name,
				   .has_no_ts = !s->has_ts,
				   .field_cnt = s->field_cnt,
				   .fields = fields };
	PUT(m, d9_put_any(&m->enc, ts_ns, &def, v));
}

int main(int argc, char **argv)
{
	struct mutation m = { .how = HOW_CNT };
	struct d9_src *src;
	struct d9_ev ev;
	int rc;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (int i = 0; i < HOW_CNT; i++)
			puts(names[i]);
		return 0;
	}
	for (int i = 0; argc == 4 && i < HOW_CNT; i++)
		if (!strcmp(argv[1], names[i]))
			m.how = (enum how)i;
	if (m.how == HOW_CNT)
		errx(2, "usage: mutate HOW FROM TO   |   mutate --list");
	rc = d9_src_open(&src, argv[2], NULL);
	if (rc)
		errx(3, "mutate: %s: %s", argv[2], d9_strerror(rc));
	m.fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	m.buf = malloc(BUF_SZ);
	m.pool = d9_pool_new(0, 0, 0);
	if (m.fd < 0 || !m.buf || !m.pool)
		err(3, "mutate: %s", argv[3]);
	d9_enc_init(&m.enc, m.buf, BUF_SZ, m.pool);
	while ((rc = d9_src_next(src, &ev)) == 1)
		put(&m, &ev);
	if (rc)
		errx(3, "mutate: %s: %s", argv[2], d9_strerror(rc));
	out(&m);
	d9_src_close(src);
	d9_pool_free(m.pool);
	free(m.buf);
	return close(m.fd) ? 3 : 0;
}
