/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - which instruction of which file is to be probed, why, and what is left out.
 *
 * A plan is a pure function of (files, options, kernel features): it touches no process and no
 * BPF object, so that --dry-run, the tests and the recorder share it. Addresses are ELF virtual
 * addresses; file offsets are what uprobes take. Sites come in attach order: return sites first,
 * polls last, so that no poll starts whose end could be missed.
 */
#ifndef DIAL9_PLAN_H
#define DIAL9_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct target;
struct features; /* feature.h */

enum plan_level { PLAN_STAT, PLAN_POLLS, PLAN_WAKES, PLAN_FULL };

#define PLAN_SITES_MAX 16384 /* per target; what is over it is an omission */
#define PLAN_VTABLES_MAX 8192 /* per file */
#define PLAN_COUNTERS_MAX 16 /* id counter candidates per file */
#define PLAN_COUNTERS_ALL_MAX 64 /* and of all files */
#define PLAN_REASON_SZ 120

struct plan_site {
	uint8_t kind; /* enum wire_site */
	uint8_t reg; /* enum wire_reg: holds the task header, or the new id */
	uint8_t stack_word; /* with reg WIRE_RSP: it stands in memory, this many words above rsp, */
	bool is_below_rbp; /* or rather below rbp; to be or-ed in by WIRE_COOKIE_STACK */
	uint8_t pushed_words; /* 8-byte words pushed since function entry or the return ... */
	bool is_popped; /* ... or, at a return site further up the stack, popped */
	bool is_list_lost; /* WIRE_SITE_BIND: rdi is not the task list there */
	bool is_emulated; /* the kernel need not single-step it */
	bool has_location; /* tokio_unstable: the word at id_off + 8 is &Location */
	uint16_t id_off; /* 0 = differs between the types that share it: ask the vtable */
	uint16_t scheduler_off;
	uint16_t counter; /* WIRE_SITE_SPAWN_ID: number of the counter, over the counters of all files */
	uint32_t file; /* index into the plan's files */
	uint64_t vaddr, file_off; /* of the probed instruction */
	uint64_t func_vaddr; /* start of the function (or the call) it belongs to; of an own end that of
			      * its poll site */
	uint64_t return_vaddr; /* WIRE_SITE_RETURN: where the poll function returns to */
	char insn[64]; /* the instruction, decoded */
};

struct plan_omission {
	uint8_t kind; /* enum wire_site */
	uint32_t file;
	uint64_t vaddr;
	char reason[PLAN_REASON_SZ];
};

struct plan_vtable { /* one future type, as Tokio's static task vtable shows it */
	uint64_t vaddr;
	uint64_t poll, schedule, dealloc, shutdown; /* vaddrs of functions */
	uint16_t scheduler_off, id_off;
	uint32_t trailer_off; /* a large future is part of its task */
	bool has_location;
	bool is_blocking; /* belongs to the blocking pool (id_off - scheduler_off != 8) */
};

struct plan_file { /* one with Tokio in it, numbered as wire.h numbers copies of Tokio; without types
		    * it only holds the raise site, and comes after those */
	uint32_t target_file; /* index into struct target.files */
	char build_id[41]; /* hex; "" = none */
	char tokio[24]; /* "1.47.1", "" = unknown */
	char rustc[64]; /* from .comment or /rustc/<hash>, "" = unknown */
	bool is_unstable; /* built with tokio_unstable */
	bool is_pie;
	uint64_t bias; /* runtime address = vaddr + bias in this process */
	struct plan_vtable *vtables; /* sorted by vaddr */
	size_t vtables_cnt;
	uint64_t counters[PLAN_COUNTERS_MAX]; /* vaddrs of id counter candidates */
	size_t counters_cnt;
	size_t counters_before; /* of the files before this one */
	uint64_t tls_sz; /* PT_TLS memsz of this file, 0 = none */
	uint64_t tls_align;
};

struct plan {
	enum plan_level level;
	struct plan_file *files;
	size_t files_cnt;
	struct plan_site *sites;
	size_t sites_cnt;
	struct plan_omission *omissions;
	size_t omissions_cnt;
};

struct plan_options {
	enum plan_level level;
	bool allow_stepped; /* take sites that the kernel must single-step (2-40x the cost) */
	bool allow_stack; /* take sites where the value is in memory (plan_site.stack_word) */
	bool has_own_ends; /* also the places where each poll function returns, single-stepped mostly */
};

/*
 * Searches every file of the target for Tokio and lays the plan. -ENOENT when no file carries
 * Tokio (logged with what was searched), -ENOEXEC when a file is damaged beyond use and no other
 * carries it. Damage in one file never hides another. Free with plan_free.
 */
int plan_build(const struct target *t, const struct plan_options *o, const struct features *f,
	       struct plan **ret);
void plan_free(struct plan *p);

/* Does this file of the target carry Tokio? Says nothing of files that are damaged. */
bool plan_carries_tokio(const struct target *t, size_t file);

/* Is there any site of this kind (enum wire_site)? */
bool plan_has_site(const struct plan *p, int kind);

/* --dry-run: the plan for people, or as one JSON document. */
int plan_print(const struct plan *p, const struct target *t, FILE *out);
int plan_print_json(const struct plan *p, const struct target *t, FILE *out);

/* The type a runtime vtable address stands for; NULL if it is none of the plan's.
 * *ret_file (if not NULL) receives the index of its plan_file. */
const struct plan_vtable *plan_vtable_at(const struct plan *p, uint64_t runtime_addr,
					 size_t *ret_file);

#endif /* DIAL9_PLAN_H */
