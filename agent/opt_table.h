/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt_table.h - every option of dial9-agent, once: what parsing, defaults and help are made of.
 */
#ifndef DIAL9_OPT_TABLE_H
#define DIAL9_OPT_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum opt_kind {
	PID,
	CHOICE,
	DURATION,
	NUMBER,
	POWER,
	TEXT,
	PAIR,
	SWITCH,
	TRUTH,
	COMMAND,
	SHARE, /* "3%", "0.5%" or "none" */
	ON_DEMAND, /* trigger.h */
	ZOOM, /* the same without conditions, and a command */
};

struct opt_choice {
	const char *word;
	int value;
};

struct opt_entry {
	const char *name; /* long option; NULL = environment only */
	char letter; /* short option, 0 = none */
	enum opt_kind kind;
	size_t off; /* of its member in struct opt */
	const char *arg; /* what the help calls its argument; NULL = it takes none */
	const char *env; /* variable, without DIAL9_; NULL = none */
	const char *value; /* default, parsed as if given; NULL = zero */
	const struct opt_choice *choices;
	uint64_t min, max, scale; /* of numbers; scale multiplies what was written */
	int set; /* COMMAND: the command */
	const char *help; /* NULL = it shares the line of the next entry */
};

/* In the order of the help, and in that order applied: a later entry may override an earlier. */
extern const struct opt_entry opt_table[];
extern const size_t opt_table_cnt;

/* Of TRUTH entries, NULL-terminated. */
extern const struct opt_choice opt_truths[];

#define OPT_TABLE_MAX 64

#endif /* DIAL9_OPT_TABLE_H */
