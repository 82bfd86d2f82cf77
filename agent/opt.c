// SPDX-License-Identifier: Apache-2.0
/* opt.c - parses the command line and the environment by the option table. */
#include "opt.h"

#include "log.h"
#include "opt_table.h"
#include "plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIB (1024ull * 1024)

/* Digits only: no sign, no space, no base. */
static int opt_number(const char *text, const char **ret_rest, uint64_t *ret)
{
	uint64_t n = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return -ERANGE;
	*ret_rest = text;
	*ret = n;
	return 0;
}

static int opt_duration(const struct opt_entry *e, const char *origin, const char *text,
			uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		uint64_t secs;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 } };
	const char *rest;
	uint64_t n;

	if (opt_number(text, &rest, &n) == 0)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strcmp(rest, units[i].suffix) == 0 && n >= e->min &&
			    n <= e->max / units[i].secs) {
				*ret_ns = n * units[i].secs * 1000000000ull;
				return 0;
			}
	return log_error(
		-EINVAL,
		"%s: '%s' is not a time: give seconds, or a number with s, m or h (at most "
		"366 days)",
		origin, text);
}

/* "3%", "0.25%", "none": as a share, 0 = none. */
static int opt_share(const struct opt_entry *e, const char *origin, const char *text, double *ret)
{
	uint64_t whole, part = 0, unit = 1;
	const char *rest;

	if (strcasecmp(text, "none") == 0) {
		*ret = 0;
		return 0;
	}
	if (opt_number(text, &rest, &whole) == 0 && whole <= e->max) {
		if (rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9')
			for (rest++; *rest >= '0' && *rest <= '9' && unit < 1000; unit *= 10)
				part = part * 10 + (uint64_t)(*rest++ - '0');
		if (strcmp(rest, "%") == 0 && (whole || part) && whole * unit + part <= e->max * unit) {
			*ret = ((double)whole + (double)part / (double)unit) / 100;
			return 0;
		}
	}
	return log_error(-EINVAL,
			 "%s: '%s' is not a share: give 3%% or 0.5%% (at most %llu%%), or none",
			 origin, text, (unsigned long long)e->max);
}

static int opt_on_demand(const char *origin, const char *text, struct trigger_options *ret)
{
	if (trigger_parse(text, ret) == 0)
		return 0;
	return log_error(-EINVAL,
			 "%s: '%s' is not understood: give LEVEL:TIME, as full:10s, and conditions "
			 "if you want: full:10s,poll>5ms,delay>2ms,cpu>150%%",
			 origin, text);
}

static int opt_zoom(struct opt *o, const struct opt_entry *e, const char *origin, const char *text)
{
	struct trigger_options look;

	if (trigger_parse(text, &look) || look.poll_ns || look.delay_ns || look.cpu_percent)
		return log_error(-EINVAL, "%s: '%s' is not understood: give LEVEL:TIME, as full:10s",
				 origin, text);
	o->command = (enum opt_command)e->set;
	o->zoom = text;
	return 0;
}

static int opt_choose(const struct opt_choice *choices, const char *origin, const char *text,
		      int *ret)
{
	char words[128] = "";

	for (const struct opt_choice *c = choices; c->word; c++) {
		if (strcasecmp(text, c->word) == 0) {
			*ret = c->value;
			return 0;
		}
		if (strlen(words) + strlen(c->word) + 3 < sizeof(words)) {
			strcat(words, words[0] ? ", " : "");
			strcat(words, c->word);
		}
	}
	return log_error(-EINVAL, "%s: '%s' is none of: %s", origin, text, words);
}

/* Keys that dial9's readers or ours take for the recorder's word; `text` is "key=value". */
static bool opt_is_reserved(const char *text)
{
	static const char *const keys[] = { "agent.",  "process.", "tokio.",	"runtime.", "rustc.", "cpu.",
					    "sched.",  "clock.",   "memory_profile.", "service_name=",
					    "boot_id=" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strncmp(text, keys[i], strlen(keys[i])))
			return true;
	return false;
}

static int opt_add_pair(struct opt *o, const char *origin, const char *text)
{
	const char *eq = strchr(text, '=');
	struct opt_pair pair;

	if (!eq || eq == text)
		return log_error(-EINVAL, "%s: '%s' is not of the form key=value", origin, text);
	if (opt_is_reserved(text))
		return log_error(-EINVAL, "%s: '%s' would overwrite what the recorder itself says; "
					  "choose a key of another name", origin, text);
	if (o->metadata_cnt == OPT_PAIRS_MAX)
		return log_error(-EINVAL, "%s: '%s' is one too many, at most %d can be given",
				 origin, text, OPT_PAIRS_MAX);
	pair.key = strndup(text, (size_t)(eq - text));
	pair.value = strdup(eq + 1);
	if (!pair.key || !pair.value) {
		free(pair.key);
		free(pair.value);
		return log_error(-ENOMEM, "%s: out of memory", origin);
	}
	o->metadata[o->metadata_cnt++] = pair;
	return 0;
}

static int opt_add_pid(struct opt *o, const char *origin, pid_t pid)
{
	for (size_t i = 0; i < o->pids_cnt; i++)
		if (o->pids[i] == pid)
			return 0;
	if (o->pids_cnt == OPT_PIDS_MAX)
		return log_error(-EINVAL, "%s: %d is one too many, at most %d can be given", origin,
				 (int)pid, OPT_PIDS_MAX);
	o->pids[o->pids_cnt++] = pid;
	return 0;
}

/* Sets one member from `text`; `origin` is "--flag" or "DIAL9_NAME", for the message. */
static int opt_set(struct opt *o, const struct opt_entry *e, const char *origin, const char *text)
{
	void *at = e->off == SIZE_MAX ? NULL : (char *)o + e->off;
	const char *rest = "";
	uint64_t n = 0;
	int err, truth = 0;

	switch (e->kind) {
	case COMMAND:
		o->command = (enum opt_command)e->set;
		return 0;
	case SWITCH:
		*(bool *)at = true;
		/* the last of the two wins */
		if (at == &o->quiet || at == &o->verbose)
			*(at == &o->quiet ? &o->verbose : &o->quiet) = false;
		return 0;
	case TRUTH:
		err = opt_choose(opt_truths, origin, text, &truth);
		if (err == 0 && at)
			*(bool *)at = truth;
		else if (err == 0 && !truth)
			o->cpu_hz = 0;
		return err;
	case CHOICE:
		return opt_choose(e->choices, origin, text, at);
	case DURATION:
		return opt_duration(e, origin, text, at);
	case SHARE:
		return opt_share(e, origin, text, at);
	case ON_DEMAND:
		return opt_on_demand(origin, text, at);
	case ZOOM:
		return opt_zoom(o, e, origin, text);
	case PAIR:
		return opt_add_pair(o, origin, text);
	case TEXT:
		if (!*text)
			return log_error(-EINVAL, "%s: the value is empty", origin);
		*(const char **)at = text;
		return 0;
	case NUMBER:
	case POWER:
	case PID:
		break;
	}
	err = opt_number(text, &rest, &n);
	if (err == -EINVAL || *rest)
		return log_error(-EINVAL, "%s: '%s' is not a whole number", origin, text);
	if (err || n < e->min || n > e->max)
		return log_error(-EINVAL, "%s: '%s' is out of range, %llu to %llu is allowed",
				 origin, text, (unsigned long long)e->min,
				 (unsigned long long)e->max);
	if (e->kind == POWER && (n & (n - 1)))
		return log_error(-EINVAL, "%s: '%s' is not a power of two", origin, text);
	if (e->kind == PID)
		return opt_add_pid(o, origin, (pid_t)n);
	*(uint64_t *)at = n * e->scale;
	return 0;
}

static int opt_from_environment(struct opt *o)
{
	char name[64];
	const char *text;
	int err;

	for (size_t i = 0; i < opt_table_cnt; i++) {
		if (!opt_table[i].env)
			continue;
		snprintf(name, sizeof(name), "DIAL9_%s", opt_table[i].env);
		text = getenv(name);
		err = text ? opt_set(o, &opt_table[i], name, text) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int opt_from_flags(struct opt *o, int argc, char **argv)
{
	struct option longs[OPT_TABLE_MAX + 1] = { 0 };
	char shorts[2 * OPT_TABLE_MAX + 2] = ":", origin[64];
	size_t longs_cnt = 0, shorts_len = 1;
	const struct opt_entry *e;
	int c, err;

	for (size_t i = 0; i < opt_table_cnt; i++) {
		e = &opt_table[i];
		if (!e->name)
			continue;
		longs[longs_cnt++] = (struct option){ e->name, !!e->arg, NULL, 256 + (int)i };
		if (e->letter) {
			shorts[shorts_len++] = e->letter;
			if (e->arg)
				shorts[shorts_len++] = ':';
		}
	}
	opterr = 0;
	optind = 0; /* a full restart: tests parse many command lines */
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		/* a failed short option may stand inside a group: optopt names it */
		if ((c == '?' || c == ':') && optopt > 0 && optopt < 256)
			return log_error(-EINVAL, "-%c: %s: see dial9-agent --help", optopt,
					 c == ':' ? "its value is missing" : "unknown option");
		if (c == '?' || c == ':')
			return log_error(-EINVAL, "%s: %s: see dial9-agent --help",
					 argv[optind - 1],
					 c == ':' ? "its value is missing"
					 : optopt ? "it takes no value"
						  : "unknown or ambiguous option");
		for (e = opt_table; c < 256 && e->letter != c;)
			e++;
		if (c >= 256)
			e = &opt_table[c - 256];
		snprintf(origin, sizeof(origin), "--%s", e->name);
		err = opt_set(o, e, origin, optarg);
		if (err)
			return err;
	}
	for (; optind < argc; optind++) {
		if (strcmp(argv[optind], "doctor") == 0 && o->command == OPT_RECORD)
			o->command = OPT_DOCTOR;
		else if (strcmp(argv[optind], "doctor") != 0)
			return log_error(-EINVAL,
					 "'%s': unexpected argument: a process is named by --pid N",
					 argv[optind]);
	}
	return 0;
}

static int opt_from_all(struct opt *o, int argc, char **argv, bool use_environment)
{
	int err = 0;

	opt_done(o);
	*o = (struct opt){ .command = OPT_RECORD };
	for (size_t i = 0; i < opt_table_cnt && err == 0; i++)
		if (opt_table[i].value)
			err = opt_set(o, &opt_table[i], "default", opt_table[i].value);
	if (err == 0 && use_environment)
		err = opt_from_environment(o);
	if (err == 0)
		err = opt_from_flags(o, argc, argv);
	return err;
}

int opt_parse(int argc, char **argv, struct opt *ret)
{
	int err;

	*ret = (struct opt){ .command = OPT_RECORD };
	/* first without the environment: --help must work when a variable is bad */
	err = opt_from_all(ret, argc, argv, false);
	if (err || ret->command == OPT_HELP || ret->command == OPT_VERSION)
		return err;
	err = opt_from_all(ret, argc, argv, true);
	if (err || (ret->command != OPT_RECORD && ret->command != OPT_ZOOM))
		return err;
	if (ret->pids_cnt == 0)
		return log_error(-EINVAL, "no process to %s: give --pid N, see dial9-agent --help",
				 ret->command == OPT_ZOOM ? "look at" : "record");
	if (ret->segment_max_sz > ret->total_max_sz)
		return log_error(
			-EINVAL,
			"--max-file-size-mb: %llu is more than --max-disk-usage-mb allows (%llu)",
			(unsigned long long)(ret->segment_max_sz / MIB),
			(unsigned long long)(ret->total_max_sz / MIB));
	return 0;
}

int opt_base_level(const struct opt *o)
{
	if (!o->has_tokio_events)
		return PLAN_STAT;
	return o->level == OPT_LEVEL_AUTO ? PLAN_FULL : o->level;
}

int opt_top_level(const struct opt *o)
{
	int level = opt_base_level(o);

	if (!o->has_tokio_events)
		return PLAN_STAT;
	return o->on_demand.is_set && o->on_demand.level > level ? o->on_demand.level : level;
}

int opt_plan_level(const struct opt *o)
{
	int level = opt_top_level(o);

	return level == PLAN_STAT && o->has_tokio_events ? PLAN_WAKES : level;
}

void opt_done(struct opt *o)
{
	for (size_t i = 0; o && i < o->metadata_cnt; i++) {
		free(o->metadata[i].key);
		free(o->metadata[i].value);
	}
	if (o)
		o->metadata_cnt = 0;
}
