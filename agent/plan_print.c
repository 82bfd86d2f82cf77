// SPDX-License-Identifier: Apache-2.0
/* plan_print.c - the plan for people (80 columns, grouped by kind) and as one JSON document. */
#include "plan.h"

#include "target.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

struct plan_kind {
	const char *name, *yields;
};

static const struct plan_kind plan_kinds[WIRE_SITE_CNT] = {
	[WIRE_SITE_RETURN] = { "return", "poll end, task end" },
	[WIRE_SITE_SPAWN_ID] = { "spawn_id", "spawn with spawning task, blocking tasks too" },
	[WIRE_SITE_BIND] = { "bind", "spawn with type and place" },
	[WIRE_SITE_SCHEDULE] = { "schedule", "wake with waking task" },
	[WIRE_SITE_SHUTDOWN] = { "shutdown", "task ended by runtime shutdown" },
	[WIRE_SITE_POLL] = { "poll", "poll start" },
	[WIRE_SITE_RAISE] = { "raise", "panic inside a poll" },
	[WIRE_SITE_OWN_END] = { "own_end", "poll end of one type, where others are not probed" },
};

/* order in which kinds are attached and shown */
static const uint8_t plan_kind_order[] = {
	WIRE_SITE_RETURN,   WIRE_SITE_RAISE,	WIRE_SITE_SPAWN_ID, WIRE_SITE_BIND,
	WIRE_SITE_SCHEDULE, WIRE_SITE_SHUTDOWN, WIRE_SITE_POLL,	    WIRE_SITE_OWN_END,
};
#define PLAN_KINDS (sizeof(plan_kind_order) / sizeof(plan_kind_order[0]))

static const char *const plan_level_names[] = { "stat", "polls", "wakes", "full" };

/* text from a target, with whatever could drive a terminal replaced */
static void plan_put_text(FILE *out, const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, out);
}

static void plan_print_file(const struct plan *p, const struct target *t, size_t i, FILE *out)
{
	const struct plan_file *f = &p->files[i];
	size_t blocking_cnt = 0;

	for (size_t v = 0; v < f->vtables_cnt; v++)
		blocking_cnt += f->vtables[v].is_blocking;
	fprintf(out, "file %zu: ", i);
	plan_put_text(out, t->files[f->target_file].path);
	if (!f->vtables_cnt) {
		fprintf(out, "%s\n  no Tokio in it, but the unwinder\n",
			t->files[f->target_file].is_deleted ? " (deleted)" : "");
		return;
	}
	fprintf(out, "%s\n  tokio %s%s, rustc %s, %s\n  build id %s\n",
		t->files[f->target_file].is_deleted ? " (deleted)" : "",
		f->tokio[0] ? f->tokio : "unknown", f->is_unstable ? " (tokio_unstable)" : "",
		f->rustc[0] ? f->rustc : "unknown",
		f->is_pie ? "position independent" : "fixed address",
		f->build_id[0] ? f->build_id : "none");
	fprintf(out, "  %zu task types, %zu of them of the blocking pool; %zu id counter%s\n",
		f->vtables_cnt, blocking_cnt, f->counters_cnt, f->counters_cnt == 1 ? "" : "s");
}

static void plan_print_kind(const struct plan *p, uint8_t kind, FILE *out)
{
	size_t cnt = 0, stepped_cnt = 0;

	for (size_t i = 0; i < p->sites_cnt; i++) {
		cnt += p->sites[i].kind == kind;
		stepped_cnt += p->sites[i].kind == kind && !p->sites[i].is_emulated;
	}
	if (!cnt)
		return;
	fprintf(out, "\n%s: %zu site%s (%s)%s\n", plan_kinds[kind].name, cnt, cnt == 1 ? "" : "s",
		plan_kinds[kind].yields, stepped_cnt ? ", some single-stepped" : "");
	fprintf(out, "  file %12s %12s  %-9s %s\n", "address", "file offset", "kernel",
		"instruction");
	for (size_t i = 0; i < p->sites_cnt; i++) {
		const struct plan_site *s = &p->sites[i];

		if (s->kind == kind)
			fprintf(out, "  %4u %#12llx %#12llx  %-9s %s\n", s->file,
				(unsigned long long)s->vaddr, (unsigned long long)s->file_off,
				s->is_emulated ? "emulates" : "steps", s->insn);
	}
}

int plan_print(const struct plan *p, const struct target *t, FILE *out)
{
	fprintf(out, "process %d (", (int)t->pid);
	plan_put_text(out, t->comm);
	fprintf(out, "), level %s\n", plan_level_names[p->level]);
	for (size_t i = 0; i < p->files_cnt; i++)
		plan_print_file(p, t, i, out);
	for (size_t k = 0; k < PLAN_KINDS; k++)
		plan_print_kind(p, plan_kind_order[k], out);
	if (p->omissions_cnt)
		fprintf(out, "\nomitted: %zu\n", p->omissions_cnt);
	for (size_t i = 0; i < p->omissions_cnt; i++)
		fprintf(out, "  %4u %#12llx  %s: %s\n", p->omissions[i].file,
			(unsigned long long)p->omissions[i].vaddr,
			plan_kinds[p->omissions[i].kind].name, p->omissions[i].reason);
	fprintf(out, "\ntotal: %zu sites in %zu file%s, %zu omitted\n", p->sites_cnt, p->files_cnt,
		p->files_cnt == 1 ? "" : "s", p->omissions_cnt);
	return ferror(out) ? -EIO : 0;
}

static void plan_key(yajl_gen g, const char *key)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
}

static void plan_text(yajl_gen g, const char *key, const char *value)
{
	plan_key(g, key);
	if (yajl_gen_string(g, (const unsigned char *)value, strlen(value)) != yajl_gen_status_ok)
		yajl_gen_null(g); /* a path that is not UTF-8 */
}

static void plan_number(yajl_gen g, const char *key, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	/* as its own digits: yajl's integers are signed */
	plan_key(g, key);
	yajl_gen_number(g, digits, (size_t)n);
}

static void plan_bool(yajl_gen g, const char *key, bool value)
{
	plan_key(g, key);
	yajl_gen_bool(g, value);
}

static void plan_json_file(yajl_gen g, const struct plan_file *f, const struct target *t)
{
	const struct target_file *tf = &t->files[f->target_file];

	yajl_gen_map_open(g);
	plan_text(g, "path", tf->path);
	plan_text(g, "link", tf->link);
	plan_bool(g, "deleted", tf->is_deleted);
	plan_text(g, "build_id", f->build_id);
	plan_text(g, "tokio", f->tokio);
	plan_text(g, "rustc", f->rustc);
	plan_bool(g, "unstable", f->is_unstable);
	plan_bool(g, "pie", f->is_pie);
	plan_number(g, "bias", f->bias);
	plan_number(g, "types", f->vtables_cnt);
	plan_key(g, "counters");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < f->counters_cnt; i++) {
		yajl_gen_map_open(g);
		plan_number(g, "vaddr", f->counters[i]);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
	yajl_gen_map_close(g);
}

static void plan_json_site(yajl_gen g, const struct plan_site *s)
{
	yajl_gen_map_open(g);
	plan_text(g, "kind", plan_kinds[s->kind].name);
	plan_text(g, "yields", plan_kinds[s->kind].yields);
	plan_number(g, "file", s->file);
	plan_number(g, "vaddr", s->vaddr);
	plan_number(g, "file_off", s->file_off);
	plan_number(g, "function", s->func_vaddr);
	plan_text(g, "insn", s->insn);
	plan_bool(g, "emulated", s->is_emulated);
	plan_number(g, "register", s->reg);
	plan_number(g, "pushed_words", s->pushed_words);
	yajl_gen_map_close(g);
}

static void plan_json_omission(yajl_gen g, const struct plan_omission *o)
{
	yajl_gen_map_open(g);
	plan_text(g, "kind", plan_kinds[o->kind].name);
	plan_number(g, "file", o->file);
	plan_number(g, "vaddr", o->vaddr);
	plan_text(g, "reason", o->reason);
	yajl_gen_map_close(g);
}

static void plan_json_put(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, ctx);
}

int plan_print_json(const struct plan *p, const struct target *t, FILE *out)
{
	yajl_gen g = yajl_gen_alloc(NULL);

	if (!g)
		return -ENOMEM;
	yajl_gen_config(g, yajl_gen_beautify, 1);
	yajl_gen_config(g, yajl_gen_validate_utf8, 1);
	yajl_gen_config(g, yajl_gen_print_callback, plan_json_put, out);
	yajl_gen_map_open(g);
	plan_number(g, "pid", (uint64_t)t->pid);
	plan_text(g, "comm", t->comm);
	plan_text(g, "level", plan_level_names[p->level]);
	plan_key(g, "files");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < p->files_cnt; i++)
		plan_json_file(g, &p->files[i], t);
	yajl_gen_array_close(g);
	plan_key(g, "sites");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < p->sites_cnt; i++)
		plan_json_site(g, &p->sites[i]);
	yajl_gen_array_close(g);
	plan_key(g, "omissions");
	yajl_gen_array_open(g);
	for (size_t i = 0; i < p->omissions_cnt; i++)
		plan_json_omission(g, &p->omissions[i]);
	yajl_gen_array_close(g);
	yajl_gen_map_close(g);
	yajl_gen_free(g);
	return ferror(out) ? -EIO : 0;
}
