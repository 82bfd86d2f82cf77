/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the command line of dial9-view: one table makes parsing and help.
 *
 * dial9-view COMMAND [options] FILE|DIR. A path in place of the command means `serve PATH`.
 */
#ifndef DIAL9_COMMAND_H
#define DIAL9_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/trace.h"

struct traceset;

#define COMMAND_HOSTS_MAX 8 /* the same for --allow-host */
#define COMMAND_KINDS_MAX 32 /* --kind given more often is a usage error */

/* What the options say; strings are borrowed from argv. */
struct request {
	const char *path; /* FILE or DIR; NULL for a command that reads none */
	const char *path_b; /* the second one of a command that compares */
	const char *query; /* of sql; NULL: none given */
	const char *target; /* of export: the format */
	bool json, force;
	const char *kinds[COMMAND_KINDS_MAX];
	uint32_t kinds_cnt;
	bool has_from, from_relative, has_to, to_relative;
	uint64_t from_ns, to_ns; /* relative: since the recording's first event */
	const char *out; /* "-" = standard output */
	enum d9_compression compression;
	uint64_t top; /* rows of a table for people, 0 = all */
	uint64_t limit; /* rows of a list, 0 = all (up to a cap that the command names) */
	uint64_t seconds; /* a query may take; 0: SQL_SECONDS_DEFAULT */
	bool has_task, has_worker;
	uint64_t task;
	uint32_t worker;
	const char *type, *runtime; /* NULL = any; type: a part of its name */
	bool off_cpu, folded; /* flame: what is counted, and how it is printed */
	bool longest; /* first, instead of the earliest first */
	uint32_t explain_nr; /* --explain: this poll of `task`; 0 = none */
	enum { COMMAND_FAIL_NEVER, COMMAND_FAIL_WARNING, COMMAND_FAIL_CRITICAL } fail_on;
	const char *listen_on; /* NULL: loopback */
	uint64_t port; /* 0: a free one */
	const char *hosts[COMMAND_HOSTS_MAX]; /* names beside its own that a server answers to */
	uint32_t hosts_cnt;
	bool token; /* ask for one on loopback too */
};

struct command {
	const char *name;
	const char *args;
	const char *brief; /* for the list of commands */
	const char *about; /* for its own help; lines end in \n */
	unsigned int options; /* bits of enum command_option */
	unsigned int required; /* those without which it is a usage error */
	/* Runs on the files of req->path. Returns an exit code of notice.h. */
	int (*run)(const struct request *req, const struct traceset *set);
};

enum command_option {
	COMMAND_JSON = 1,
	COMMAND_KIND = 2,
	COMMAND_FROM = 4,
	COMMAND_UNTIL = 8, /* --to TIME */
	COMMAND_FORMAT = 16, /* --to raw|gzip|zstd */
	COMMAND_OUT = 32,
	COMMAND_FORCE = 64,
	COMMAND_TOP = 128,
	COMMAND_LIMIT = 256,
	COMMAND_FILTER = 512, /* --task --type --worker --runtime */
	COMMAND_FAIL_ON = 1024,
	COMMAND_LONGEST = 2048,
	COMMAND_EXPLAIN = 4096,
	COMMAND_OFF = 8192,
	COMMAND_FOLDED = 16384,
	COMMAND_TWO_PATHS = 65536, /* no option: it compares two recordings */
	COMMAND_NO_PATH = 32768, /* no option: it reads no recording */
	COMMAND_SERVE = 1u << 30, /* --listen --port --allow-host --token */
	COMMAND_QUERY = 1 << 20, /* no option: a text behind the path, may be left out */
	COMMAND_SECONDS = 1 << 22,
	COMMAND_TARGET = 1 << 21, /* no option: a format before the path */
	/* what every analysis takes */
	COMMAND_STUDY =
		COMMAND_JSON | COMMAND_FROM | COMMAND_UNTIL | COMMAND_FILTER | COMMAND_LIMIT,
};

/* Ends in an entry whose name is NULL. Defined beside main. */
extern const struct command command_table[];

/*
 * Takes argv apart. 1: *ret_command is to be run with *ret. 0: done (help or version printed).
 * EXIT_USAGE: a notice said what is wrong.
 */
int command_parse(int argc, char **argv, const struct command **ret_command, struct request *ret);

#endif /* DIAL9_COMMAND_H */
