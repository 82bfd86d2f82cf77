// SPDX-License-Identifier: Apache-2.0
/* test_opt.c - flags, environment, defaults and the help of dial9-agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/opt.h"
#include "agent/plan.h"
#include "agent/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1024ull * 1024)
#define ARGS_MAX 140

static const char *const test_variables[] = {
	"TRACE_DIR",
	"ROTATION_SECS",
	"MAX_DISK_USAGE_MB",
	"MAX_FILE_SIZE_MB",
	"SERVICE_NAME",
	"RUNTIME_NAME",
	"TASK_TRACKING_ENABLED",
	"TOKIO_INSTRUMENTATION_ENABLED",
	"CPU_SAMPLE_HZ",
	"CPU_PROFILE_ENABLED",
};

static int test_clean(void **state)
{
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(test_variables) / sizeof(test_variables[0]); i++) {
		snprintf(name, sizeof(name), "DIAL9_%s", test_variables[i]);
		unsetenv(name);
	}
	return 0;
}

/* Parses one space-separated command line; strings in *o point into a static copy. */
static int parse(struct opt *o, const char *line)
{
	static char copy[4096];
	char *argv[ARGS_MAX] = { (char *)"dial9-agent" };
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word && argc < ARGS_MAX - 1; word = strtok(NULL, " "))
		argv[argc++] = word;
	return opt_parse(argc, argv, o);
}

/* Parses and returns what was logged. */
static const char *complaint(const char *line)
{
	static char text[1024];
	struct opt o;
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	assert_int_equal(parse(&o, line), -EINVAL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = read(pipes[0], text, sizeof(text) - 1);
	assert_true(len > 0);
	text[len] = '\0';
	close(pipes[0]);
	opt_done(&o);
	return text;
}

static void test_defaults(void **state)
{
	struct opt o;

	(void)state;
	assert_int_equal(parse(&o, "--pid 42"), 0);
	assert_int_equal(o.command, OPT_RECORD);
	assert_int_equal(o.pids_cnt, 1);
	assert_int_equal(o.pids[0], 42);
	assert_int_equal(o.level, OPT_LEVEL_AUTO);
	assert_true(o.max_overhead > 0.0299 && o.max_overhead < 0.0301);
	assert_false(o.on_demand.is_set);
	assert_int_equal(o.compress, SEGMENT_ZSTD);
	assert_int_equal(o.rotation_secs, 60);
	assert_int_equal(o.total_max_sz, 1024 * MIB);
	assert_int_equal(o.segment_max_sz, 0);
	assert_int_equal(o.dir_max_sz, 0);
	assert_int_equal(o.cpu_hz, 99);
	assert_int_equal(o.ring_sz, 8 * MIB);
	assert_int_equal(o.duration_ns, 0);
	assert_string_equal(o.trace_dir, "/var/lib/dial9/traces");
	assert_string_equal(o.task_words, "/var/lib/dial9/task-words");
	assert_true(o.has_task_events && o.has_tokio_events);
	assert_null(o.service_name);
	assert_false(o.dry_run || o.json || o.quiet || o.verbose || o.allow_stepped ||
		     o.best_effort);
}

static void test_overhead(void **state)
{
	static const struct {
		const char *text;
		double share;
	} good[] = { { "none", 0 },	 { "3%", 0.03 },  { "0.5%", 0.005 },
		     { "100%", 1 },	 { "12.25%", 0.1225 }, { "0.001%", 0.00001 } };
	static const char *const bad[] = { "3", "0%", "0.0%", "-1%", "101%", "100.1%", "3%%", ".5%",
					   "3.%", "1.2345%", "three", "99999999999999999999%" };
	struct opt o;
	char line[100];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(line, sizeof(line), "-p 1 --max-overhead %s", good[i].text);
		assert_int_equal(parse(&o, line), 0);
		assert_true(o.max_overhead > good[i].share - 1e-9 &&
			    o.max_overhead < good[i].share + 1e-9);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "-p 1 --max-overhead %s", bad[i]);
		assert_non_null(strstr(complaint(line), "--max-overhead"));
	}
}

static void test_on_demand(void **state)
{
	struct opt o;

	(void)state;
	assert_int_equal(parse(&o, "-p 1 --on-demand full:10s,poll>5ms"), 0);
	assert_true(o.on_demand.is_set);
	assert_int_equal(o.on_demand.level, PLAN_FULL);
	assert_int_equal(o.on_demand.time_ns, 10000000000ull);
	assert_int_equal(o.on_demand.poll_ns, 5000000);
	assert_non_null(strstr(complaint("-p 1 --on-demand full"), "--on-demand: 'full'"));
	opt_done(&o);
	assert_int_equal(parse(&o, "-p 1 --zoom full:10s"), 0);
	assert_int_equal(o.command, OPT_ZOOM);
	assert_string_equal(o.zoom, "full:10s");
	assert_non_null(strstr(complaint("-p 1 --zoom full:10s,poll>5ms"), "--zoom: 'full:10s"));
	assert_non_null(strstr(complaint("--zoom full:10s"), "no process to look at"));
}

static void test_every_flag(void **state)
{
	struct opt o;

	(void)state;
	assert_int_equal(parse(&o,
			       "-p 7 --pid=8 --pid 7 --level polls --duration 5m --trace-dir /t "
			       "--compress gzip --rotation-secs 5 --max-disk-usage-mb 100 "
			       "--max-file-size-mb 10 --max-total-mb 200 --metadata a=b=c -m d= "
			       "--service-name svc --runtime-name rt --cpu-hz 0 --ring-mb 16 "
			       "--allow-stepped --best-effort --dry-run --json -v"),
			 0);
	assert_int_equal(o.pids_cnt, 2);
	assert_int_equal(o.pids[1], 8);
	assert_int_equal(o.level, PLAN_POLLS);
	assert_int_equal(o.duration_ns, 300ull * 1000000000);
	assert_string_equal(o.trace_dir, "/t");
	assert_int_equal(o.compress, SEGMENT_GZIP);
	assert_int_equal(o.rotation_secs, 5);
	assert_int_equal(o.total_max_sz, 100 * MIB);
	assert_int_equal(o.segment_max_sz, 10 * MIB);
	assert_int_equal(o.dir_max_sz, 200 * MIB);
	assert_int_equal(o.metadata_cnt, 2);
	assert_string_equal(o.metadata[0].key, "a");
	assert_string_equal(o.metadata[0].value, "b=c");
	assert_string_equal(o.metadata[1].value, "");
	assert_string_equal(o.service_name, "svc");
	assert_string_equal(o.runtime_name, "rt");
	assert_int_equal(o.cpu_hz, 0);
	assert_int_equal(o.ring_sz, 16 * MIB);
	assert_true(o.allow_stepped && o.best_effort && o.dry_run && o.json && o.verbose);
	opt_done(&o);
}

static void test_duration_units(void **state)
{
	static const struct {
		const char *line;
		uint64_t secs;
	} cases[] = { { "-p1 -d 90", 90 }, { "-p1 -d 10s", 10 }, { "-p1 -d 2h", 7200 } };
	struct opt o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&o, cases[i].line), 0);
		assert_int_equal(o.duration_ns, cases[i].secs * 1000000000ull);
	}
}

static void test_environment(void **state)
{
	struct opt o;

	(void)state;
	setenv("DIAL9_TRACE_DIR", "/env", 1);
	setenv("DIAL9_ROTATION_SECS", "7", 1);
	setenv("DIAL9_MAX_DISK_USAGE_MB", "8", 1);
	setenv("DIAL9_MAX_FILE_SIZE_MB", "2", 1);
	setenv("DIAL9_SERVICE_NAME", "svc", 1);
	setenv("DIAL9_RUNTIME_NAME", "rt", 1);
	setenv("DIAL9_TASK_TRACKING_ENABLED", "False", 1);
	setenv("DIAL9_TOKIO_INSTRUMENTATION_ENABLED", "0", 1);
	setenv("DIAL9_CPU_SAMPLE_HZ", "500", 1);
	assert_int_equal(parse(&o, "--pid 1"), 0);
	assert_string_equal(o.trace_dir, "/env");
	assert_int_equal(o.rotation_secs, 7);
	assert_int_equal(o.total_max_sz, 8 * MIB);
	assert_int_equal(o.segment_max_sz, 2 * MIB);
	assert_string_equal(o.service_name, "svc");
	assert_string_equal(o.runtime_name, "rt");
	assert_false(o.has_task_events || o.has_tokio_events);
	assert_int_equal(o.cpu_hz, 500);

	assert_int_equal(parse(&o, "--pid 1 --trace-dir /flag --rotation-secs 9"), 0);
	assert_string_equal(o.trace_dir, "/flag");
	assert_int_equal(o.rotation_secs, 9);

	setenv("DIAL9_CPU_PROFILE_ENABLED", "false", 1);
	assert_int_equal(parse(&o, "--pid 1"), 0);
	assert_int_equal(o.cpu_hz, 0);
	assert_int_equal(parse(&o, "--pid 1 --cpu-hz 50"), 0);
	assert_int_equal(o.cpu_hz, 50);
}

static void test_bad_values_are_named(void **state)
{
	static const struct {
		const char *line, *who, *what;
	} cases[] = {
		{ "--pid x", "--pid", "'x'" },
		{ "--pid -4", "--pid", "'-4'" },
		{ "--pid 0", "--pid", "'0'" },
		{ "--pid 99999999999", "--pid", "'99999999999'" },
		{ "--pid 18446744073709551617", "--pid", "'18446744073709551617'" },
		{ "-p 1 --level all", "--level", "'all'" },
		{ "-p 1 --duration 5d", "--duration", "'5d'" },
		{ "-p 1 --duration 0", "--duration", "'0'" },
		{ "-p 1 --duration 18446744073709551615h", "--duration", "'1844674407370955" },
		{ "-p 1 --compress lz4", "--compress", "zstd, gzip, none" },
		{ "-p 1 --rotation-secs 1.5", "--rotation-secs", "'1.5'" },
		{ "-p 1 --metadata novalue", "--metadata", "'novalue'" },
		{ "-p 1 --metadata =v", "--metadata", "'=v'" },
		{ "-p 1 --ring-mb 3", "--ring-mb", "'3'" },
		{ "-p 1 --trace-dir=", "--trace-dir", "empty" },
		{ "-p 1 --max-file-size-mb 9 --max-disk-usage-mb 8", "--max-file-size-mb", "9" },
		{ "-p 1 --frob", "--frob", "unknown" },
		{ "-p 1 -x", "-x", "unknown" },
		{ "-p 1 --quiet=3", "--quiet=3", "no value" },
		{ "--pid", "--pid", "missing" },
		{ "-p", "-p", "missing" },
		{ "4242", "'4242'", "--pid" },
		{ "", "--pid", "no process" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *said = complaint(cases[i].line);

		if (!strstr(said, cases[i].who) || !strstr(said, cases[i].what))
			fail_msg("'%s' gave: %s", cases[i].line, said);
	}
}

static void test_bad_environment_is_named(void **state)
{
	const char *said;
	struct opt o;

	(void)state;
	setenv("DIAL9_ROTATION_SECS", "soon", 1);
	said = complaint("--pid 1");
	assert_non_null(strstr(said, "DIAL9_ROTATION_SECS"));
	assert_non_null(strstr(said, "'soon'"));
	assert_int_equal(parse(&o, "--help"), 0);
	assert_int_equal(o.command, OPT_HELP);
	setenv("DIAL9_ROTATION_SECS", "", 1);
	assert_non_null(strstr(complaint("--pid 1"), "DIAL9_ROTATION_SECS"));
	unsetenv("DIAL9_ROTATION_SECS");
	setenv("DIAL9_TASK_TRACKING_ENABLED", "perhaps", 1);
	assert_non_null(strstr(complaint("--pid 1"), "DIAL9_TASK_TRACKING_ENABLED"));
}

static void test_commands(void **state)
{
	struct opt o;

	(void)state;
	assert_int_equal(parse(&o, "doctor"), 0);
	assert_int_equal(o.command, OPT_DOCTOR);
	assert_int_equal(parse(&o, "doctor --json"), 0);
	assert_true(o.command == OPT_DOCTOR && o.json);
	assert_int_equal(parse(&o, "--version"), 0);
	assert_int_equal(o.command, OPT_VERSION);
	assert_int_equal(parse(&o, "-p 1 -q -v"), 0);
	assert_true(o.verbose && !o.quiet);
}

static void test_caps(void **state)
{
	char line[4096] = "";
	struct opt o;

	(void)state;
	for (int i = 1; i <= OPT_PIDS_MAX; i++)
		sprintf(line + strlen(line), "--pid %d ", i);
	assert_int_equal(parse(&o, line), 0);
	assert_int_equal(o.pids_cnt, OPT_PIDS_MAX);
	strcat(line, "--pid 1"); /* given before: not one more */
	assert_int_equal(parse(&o, line), 0);
	strcat(line, " --pid 9999");
	assert_non_null(strstr(complaint(line), "9999"));
}

static void test_help_is_one_screen_and_names_all(void **state)
{
	char *text = NULL, *line, *rest;
	size_t sz, lines = 0;
	FILE *out = open_memstream(&text, &sz);

	(void)state;
	opt_print_help(out);
	fclose(out);
	for (size_t i = 0; i < sizeof(test_variables) / sizeof(test_variables[0]); i++)
		assert_non_null(strstr(text, test_variables[i]));
	assert_non_null(strstr(text, "(/var/lib/dial9/traces)"));
	assert_non_null(strstr(text, "--dry-run, --json"));
	assert_non_null(strstr(text, "  --compress HOW"));
	assert_null(strstr(text, "(null)"));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		lines++;
		if (strlen(line) > 80)
			fail_msg("too wide: %s", line);
	}
	assert_true(lines > 15 && lines <= 24);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_defaults, test_clean),
		cmocka_unit_test_setup(test_overhead, test_clean),
		cmocka_unit_test_setup(test_on_demand, test_clean),
		cmocka_unit_test_setup(test_every_flag, test_clean),
		cmocka_unit_test_setup(test_duration_units, test_clean),
		cmocka_unit_test_setup(test_environment, test_clean),
		cmocka_unit_test_setup(test_bad_values_are_named, test_clean),
		cmocka_unit_test_setup(test_bad_environment_is_named, test_clean),
		cmocka_unit_test_setup(test_commands, test_clean),
		cmocka_unit_test_setup(test_caps, test_clean),
		cmocka_unit_test_setup(test_help_is_one_screen_and_names_all, test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, test_clean);
}
