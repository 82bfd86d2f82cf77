// SPDX-License-Identifier: Apache-2.0
/* command.c - parsing and help, both made of command_table and the option table here. */
#include "command.h"

#include "notice.h"
#include "plain.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DIAL9_VERSION
#define DIAL9_VERSION "0.1.0"
#endif

#define COMMAND_TOP_DEFAULT 20
#define COMMAND_LIMIT_DEFAULT 20
#define COMMAND_ROWS_DEFAULT 1000 /* of a query */

struct command_entry {
	const char *name;
	int letter; /* 0 = no short form */
	const char *arg; /* NULL = takes none */
	unsigned int option; /* enum command_option; 0 = every command has it */
	const char *help;
};

enum { COMMAND_HELP = 'h', COMMAND_VERSION = 'V' };

/* Two commands may use one long name for different things: they never take both. */
static const struct command_entry command_entries[] = {
	{ "json", 0, NULL, COMMAND_JSON, "print JSON" },
	{ "kind", 'k', "NAME", COMMAND_KIND, "only events of this name; may be repeated" },
	{ "from", 0, "TIME", COMMAND_FROM, "leave out what was before TIME" },
	{ "to", 0, "TIME", COMMAND_UNTIL, "leave out what was after TIME" },
	{ "to", 't', "FORMAT", COMMAND_FORMAT, "raw, gzip or zstd" },
	{ "task", 0, "ID", COMMAND_FILTER, "only this task: 812 or t:812" },
	{ "type", 0, "TEXT", COMMAND_FILTER, "only task types whose name holds TEXT" },
	{ "worker", 0, "ID", COMMAND_FILTER, "only this worker: 3 or w3" },
	{ "runtime", 0, "NAME", COMMAND_FILTER, "only workers of this runtime" },
	{ "output", 'o', "OUT", COMMAND_OUT, "file to write, - for standard output" },
	{ "force", 'f', NULL, COMMAND_FORCE, "replace OUT if it exists" },
	{ "top", 'n', "N", COMMAND_TOP, "rows in each table, 0 for all (20)" },
	{ "limit", 'n', "N", COMMAND_LIMIT, "rows of the list, 0 for all" },
	{ "seconds", 0, "N", COMMAND_SECONDS, "time that the query may take (60)" },
	{ "fail-on", 0, "LEVEL", COMMAND_FAIL_ON, "exit 1 at warning or critical" },
	{ "longest", 0, NULL, COMMAND_LONGEST, "the longest first, not the earliest" },
	{ "explain", 'x', "POLL", COMMAND_EXPLAIN, "only the wait before this poll: p:812.17" },
	{ "off", 0, NULL, COMMAND_OFF, "time off CPU in polls, not CPU samples" },
	{ "folded", 0, NULL, COMMAND_FOLDED, "one line a stack, for flame graph tools" },
	{ "listen", 0, "ADDRESS", COMMAND_SERVE, "numeric address to listen on (127.0.0.1)" },
	{ "port", 0, "PORT", COMMAND_SERVE, "port to listen on (a free one)" },
	{ "allow-host", 0, "NAME", COMMAND_SERVE, "answer to this name too; may be repeated" },
	{ "token", 0, NULL, COMMAND_SERVE, "ask for a token on loopback too" },
	{ "help", COMMAND_HELP, NULL, 0, "print this help" },
};

#define COMMAND_ENTRIES (sizeof(command_entries) / sizeof(command_entries[0]))
#define COMMAND_LONG 256 /* getopt values of entries: this plus their index */

static const struct command *command_find(const char *name)
{
	for (const struct command *c = command_table; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static bool command_takes(const struct command *c, const struct command_entry *e)
{
	return e->option == 0 || (c->options & e->option);
}

static void command_print_help(void)
{
	printf("usage: dial9-view COMMAND [options] FILE|DIR    (no COMMAND: serve)\n"
	       "Reads a segment or a trace directory, of dial9-agent or dial9.\n");
	for (const struct command *c = command_table; c->name; c++)
		printf("  %-9s %s\n", c->name, c->brief);
	printf("  -h, --help, -V, --version; dial9-view COMMAND --help says more\n"
	       "exit codes: 0 ok, 1 failure or findings, 2 usage, 3 bad or partial input\n");
}

static void command_print_own_help(const struct command *c)
{
	char left[64], letter[16];

	printf("usage: dial9-view %s %s\n\n%s\noptions:\n", c->name, c->args, c->about);
	for (size_t i = 0; i < COMMAND_ENTRIES; i++) {
		const struct command_entry *e = &command_entries[i];

		if (!command_takes(c, e))
			continue;
		snprintf(letter, sizeof(letter), e->letter ? "-%c, " : "    ", e->letter);
		snprintf(left, sizeof(left), "%s--%s %s", letter, e->name, e->arg ? e->arg : "");
		printf("  %-22s %s%s\n", left, e->help,
		       (c->required & e->option) ? " (required)" : "");
	}
}

static int command_set_time(const char *name, const char *text, bool *has, uint64_t *ns,
			    bool *relative)
{
	if (plain_read_time(text, ns, relative) != 0)
		return notice(EXIT_USAGE,
			      "--%s: '%s' is no time: give nanoseconds as the trace has them, or "
			      "+1.5s, +20ms, +300us since its start",
			      name, text);
	*has = true;
	return 0;
}

static int command_set_count(const char *name, const char *text, uint64_t *ret)
{
	char *rest;

	errno = 0;
	*ret = strtoull(text, &rest, 10);
	if (*text < '0' || *text > '9' || *rest || errno)
		return notice(EXIT_USAGE, "--%s: '%s' is not a whole number", name, text);
	return 0;
}

/* --task, --type, --worker and --runtime: one bit, told apart by name. */
static int command_set_filter(struct request *r, const char *name, const char *text)
{
	uint64_t id;
	int err = 0;

	if (strcmp(name, "type") == 0) {
		r->type = text;
	} else if (strcmp(name, "runtime") == 0) {
		r->runtime = text;
	} else if (strcmp(name, "task") == 0) {
		err = command_set_count(name, strncmp(text, "t:", 2) == 0 ? text + 2 : text,
					&r->task);
		r->has_task = true;
	} else {
		err = command_set_count(name, *text == 'w' ? text + 1 : text, &id);
		r->worker = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
		r->has_worker = true;
	}
	return err;
}

/* "p:TASK.NR": the poll that ended a wait. */
static int command_set_explain(struct request *r, const char *text)
{
	unsigned int nr = 0;
	int end = 0;

	if (sscanf(text, "p:%" SCNu64 ".%u%n", &r->task, &nr, &end) != 2 || text[end] || !nr)
		return notice(EXIT_USAGE,
			      "--explain: '%s' is no poll: give one as `waits` and "
			      "`polls` print it, such as p:812.17",
			      text);
	r->has_task = true;
	r->explain_nr = nr;
	return 0;
}

/* --listen, --port, --allow-host and --token: one bit, told apart by name. */
static int command_set_serve(struct request *r, const char *name, const char *text)
{
	int err = 0;

	if (strcmp(name, "listen") == 0) {
		r->listen_on = text;
	} else if (strcmp(name, "token") == 0) {
		r->token = true;
	} else if (strcmp(name, "port") == 0) {
		err = command_set_count(name, text, &r->port);
		if (err == 0 && r->port > 65535)
			err = notice(EXIT_USAGE, "--port: '%s' is not below 65536", text);
	} else {
		if (r->hosts_cnt == COMMAND_HOSTS_MAX)
			return notice(EXIT_USAGE, "--allow-host: at most %d can be given",
				      COMMAND_HOSTS_MAX);
		r->hosts[r->hosts_cnt++] = text;
	}
	return err;
}

static int command_set(struct request *r, const struct command_entry *e, const char *text)
{
	static const char *const formats[] = { "raw", "gzip", "zstd" }; /* as enum d9_compression */

	switch (e->option) {
	case COMMAND_JSON:
		r->json = true;
		return 0;
	case COMMAND_FORCE:
		r->force = true;
		return 0;
	case COMMAND_OFF:
		r->off_cpu = true;
		return 0;
	case COMMAND_FOLDED:
		r->folded = true;
		return 0;
	case COMMAND_LONGEST:
		r->longest = true;
		return 0;
	case COMMAND_EXPLAIN:
		return command_set_explain(r, text);
	case COMMAND_KIND:
		if (r->kinds_cnt == COMMAND_KINDS_MAX)
			return notice(EXIT_USAGE, "--kind: at most %d can be given",
				      COMMAND_KINDS_MAX);
		r->kinds[r->kinds_cnt++] = text;
		return 0;
	case COMMAND_FROM:
		return command_set_time("from", text, &r->has_from, &r->from_ns, &r->from_relative);
	case COMMAND_UNTIL:
		return command_set_time("to", text, &r->has_to, &r->to_ns, &r->to_relative);
	case COMMAND_OUT:
		r->out = text;
		return 0;
	case COMMAND_TOP:
		return command_set_count(e->name, text, &r->top);
	case COMMAND_LIMIT:
		return command_set_count(e->name, text, &r->limit);
	case COMMAND_SECONDS:
		return command_set_count(e->name, text, &r->seconds);
	case COMMAND_FILTER:
		return command_set_filter(r, e->name, text);
	case COMMAND_SERVE:
		return command_set_serve(r, e->name, text);
	case COMMAND_FAIL_ON:
		r->fail_on = strcmp(text, "warning") == 0    ? COMMAND_FAIL_WARNING
			     : strcmp(text, "critical") == 0 ? COMMAND_FAIL_CRITICAL
							     : COMMAND_FAIL_NEVER;
		if (r->fail_on == COMMAND_FAIL_NEVER)
			return notice(EXIT_USAGE, "--fail-on: '%s' is none of: warning, critical",
				      text);
		return 0;
	case COMMAND_FORMAT:
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
			if (strcmp(text, formats[i]) == 0) {
				r->compression = (enum d9_compression)i;
				return 0;
			}
		return notice(EXIT_USAGE, "--to: '%s' is none of: raw, gzip, zstd", text);
	}
	return 0;
}

/* A filter that other commands take. */
static bool command_is_filter(const char *arg)
{
	size_t len = strcspn(arg, "=");

	for (size_t i = 0; i < COMMAND_ENTRIES; i++) {
		const struct command_entry *e = &command_entries[i];

		if ((e->option & (COMMAND_FROM | COMMAND_UNTIL | COMMAND_FILTER)) && len > 2 &&
		    strncmp(arg, "--", 2) == 0 && strlen(e->name) == len - 2 &&
		    memcmp(arg + 2, e->name, len - 2) == 0)
			return true;
	}
	return false;
}

static int command_parse_own(const struct command *c, int argc, char **argv, struct request *r)
{
	struct option longs[COMMAND_ENTRIES + 1] = { 0 };
	char shorts[2 * COMMAND_ENTRIES + 2] = ":";
	size_t longs_cnt = 0, at = 1;
	const struct command_entry *e;
	unsigned int given = 0;
	int got, err;

	for (size_t i = 0; i < COMMAND_ENTRIES; i++) {
		e = &command_entries[i];
		if (!command_takes(c, e))
			continue;
		longs[longs_cnt++] =
			(struct option){ e->name, !!e->arg, NULL, COMMAND_LONG + (int)i };
		if (e->letter)
			shorts[at++] = (char)e->letter;
		if (e->letter && e->arg)
			shorts[at++] = ':';
	}
	opterr = 0;
	optind = 0; /* a full restart */
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if ((got == '?' || got == ':') && optopt > 0 && optopt < COMMAND_LONG)
			return notice(EXIT_USAGE, "-%c: %s: see dial9-view %s --help", optopt,
				      got == ':' ? "its value is missing" : "unknown option",
				      c->name);
		if (got == '?' && !optopt && !(c->options & COMMAND_NO_PATH) &&
		    command_is_filter(argv[optind - 1]))
			return notice(EXIT_USAGE,
				      "%s: %s has no such filter. tasks, workers, polls, waits, "
				      "hist and diff have all: see dial9-view tasks --help",
				      argv[optind - 1], c->name);
		if (got == '?' || got == ':')
			return notice(EXIT_USAGE, "%s: %s: see dial9-view %s --help",
				      argv[optind - 1],
				      got == ':' ? "its value is missing"
				      : optopt	 ? "it takes no value"
						 : "unknown or ambiguous option",
				      c->name);
		for (e = command_entries;
		     got < COMMAND_LONG && (e->letter != got || !command_takes(c, e));)
			e++;
		if (got >= COMMAND_LONG)
			e = &command_entries[got - COMMAND_LONG];
		if (e->letter == COMMAND_HELP) {
			command_print_own_help(c);
			return 0;
		}
		given |= e->option;
		err = command_set(r, e, optarg);
		if (err)
			return err;
	}
	for (e = command_entries; e < command_entries + COMMAND_ENTRIES; e++)
		if (e->option & c->required & ~given)
			return notice(EXIT_USAGE,
				      "%s: --%s %s is missing: see dial9-view %s --help", c->name,
				      e->name, e->arg, c->name);
	if ((c->options & COMMAND_NO_PATH) && optind < argc)
		return notice(EXIT_USAGE, "%s: '%s' is one too many: it takes no FILE or DIR",
			      c->name, argv[optind]);
	if (c->options & COMMAND_NO_PATH)
		return 1;
	if ((c->options & COMMAND_TARGET) && optind < argc)
		r->target = argv[optind++];
	if (optind >= argc)
		return notice(EXIT_USAGE, "%s: no %s given: see dial9-view %s --help", c->name,
			      c->options & COMMAND_TARGET ? "FORMAT, FILE or DIR" : "FILE or DIR",
			      c->name);
	if ((c->options & COMMAND_TWO_PATHS) && optind + 1 >= argc)
		return notice(EXIT_USAGE, "%s: the second FILE or DIR is missing", c->name);
	r->path = argv[optind++];
	if (c->options & COMMAND_TWO_PATHS)
		r->path_b = argv[optind++];
	if ((c->options & COMMAND_QUERY) && optind < argc)
		r->query = argv[optind++];
	if (optind < argc)
		return notice(EXIT_USAGE, "%s: '%s' is one too many: give %s FILE or DIR", c->name,
			      argv[optind], r->path_b ? "a second" : "one");
	return 1;
}

int command_parse(int argc, char **argv, const struct command **ret_command, struct request *ret)
{
	const char *first = argc > 1 ? argv[1] : "--help";
	const struct command *c = command_find(first);

	*ret = (struct request){ .top = COMMAND_TOP_DEFAULT, .limit = COMMAND_LIMIT_DEFAULT };
	if (!c && (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)) {
		command_print_help();
		return argc > 1 ? 0 : EXIT_USAGE;
	}
	if (!c && (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0)) {
		printf("dial9-view %s\n", DIAL9_VERSION);
		return 0;
	}
	if (!c && first[0] == '-' && argc == 2)
		return notice(EXIT_USAGE, "%s: unknown option: see dial9-view --help", first);
	if (!c && first[0] != '-' && argc > 2 && argv[2][0] != '-' && access(first, F_OK))
		return notice(EXIT_USAGE, "%s: no such command, FILE or DIR: see dial9-view --help",
			      first);
	/* a bare path is served; its command stands first, so argv keeps its shape */
	*ret_command = c ? c : command_find("serve");
	if (c && c->options & COMMAND_QUERY)
		ret->limit = COMMAND_ROWS_DEFAULT;
	return command_parse_own(*ret_command, c ? argc - 1 : argc, c ? argv + 1 : argv, ret);
}
