// SPDX-License-Identifier: Apache-2.0
#include "trigger.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "plan.h"

#define TRIGGER_TIME_MAX_NS (24ull * 3600 * 1000000000)
#define TRIGGER_PERCENT_MAX 1000000

/* Digits and a unit, up to a comma or the end. *ret_rest: behind it. */
static int trigger_number(const char *text, const char *const *units, const uint64_t *scales,
			  uint64_t max, uint64_t *ret, const char **ret_rest)
{
	uint64_t n = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (uint64_t)(*text - '0');
		if (n > max)
			return -EINVAL;
	}
	for (size_t i = 0; units[i]; i++) {
		size_t len = strlen(units[i]);

		if (strncmp(text, units[i], len) || (text[len] && text[len] != ','))
			continue;
		if (!n || n > max / scales[i] || (text[len] && !text[len + 1]))
			return -EINVAL;
		*ret = n * scales[i];
		*ret_rest = text[len] ? text + len + 1 : text + len;
		return 0;
	}
	return -EINVAL;
}

static int trigger_time(const char *text, uint64_t *ret, const char **ret_rest)
{
	static const char *const units[] = { "s", "ms", "us", "m", "h", NULL };
	static const uint64_t scales[] = { 1000000000ull, 1000000, 1000, 60000000000ull,
					   3600000000000ull };

	return trigger_number(text, units, scales, TRIGGER_TIME_MAX_NS, ret, ret_rest);
}

static int trigger_percent(const char *text, uint64_t *ret, const char **ret_rest)
{
	static const char *const units[] = { "%", NULL };
	static const uint64_t scales[] = { 1 };

	return trigger_number(text, units, scales, TRIGGER_PERCENT_MAX, ret, ret_rest);
}

int trigger_parse(const char *text, struct trigger_options *ret)
{
	static const struct {
		const char *word;
		int level;
	} levels[] = { { "polls:", PLAN_POLLS }, { "wakes:", PLAN_WAKES }, { "full:", PLAN_FULL } };
	struct trigger_options o = { .is_set = true };
	int err = -EINVAL;

	for (size_t i = 0; err && i < sizeof(levels) / sizeof(levels[0]); i++) {
		size_t len = strlen(levels[i].word);

		if (strncmp(text, levels[i].word, len))
			continue;
		o.level = levels[i].level;
		text += len;
		err = 0;
	}
	if (!err)
		err = trigger_time(text, &o.time_ns, &text);
	while (!err && *text) {
		if (!strncmp(text, "poll>", 5))
			err = trigger_time(text + 5, &o.poll_ns, &text);
		else if (!strncmp(text, "delay>", 6))
			err = trigger_time(text + 6, &o.delay_ns, &text);
		else if (!strncmp(text, "cpu>", 4))
			err = trigger_percent(text + 4, &o.cpu_percent, &text);
		else
			err = -EINVAL;
	}
	if (!err)
		*ret = o;
	return err;
}

void trigger_init(struct trigger *t, const struct trigger_options *o)
{
	*t = (struct trigger){ .o = *o };
}

/* The first reason stands until the closer look is over. */
static void trigger_condition(struct trigger *t, const char *reason)
{
	if (t->reason)
		return;
	t->reason = reason;
	t->level = t->o.level;
	t->time_ns = t->o.time_ns;
}

void trigger_poll(struct trigger *t, uint64_t ns)
{
	if (t->o.poll_ns && ns > t->o.poll_ns)
		trigger_condition(t, "on demand: a long poll");
}

void trigger_delay(struct trigger *t, uint64_t ns)
{
	if (t->o.delay_ns && ns > t->o.delay_ns)
		trigger_condition(t, "on demand: a long wait for a CPU");
}

void trigger_cpu(struct trigger *t, uint64_t cpu_ns, uint64_t took_ns)
{
	if (t->o.cpu_percent && took_ns && cpu_ns / took_ns < 1u << 20 &&
	    cpu_ns * 100 > t->o.cpu_percent * took_ns)
		trigger_condition(t, "on demand: much CPU time");
}

void trigger_pull(struct trigger *t, const char *reason)
{
	if (t->o.is_set)
		trigger_ask(t, t->o.level, t->o.time_ns, reason);
}

void trigger_ask(struct trigger *t, int level, uint64_t time_ns, const char *reason)
{
	t->rest_until_ns = t->until_ns = 0;
	t->reason = reason;
	t->level = level;
	t->time_ns = time_ns;
}

enum trigger_turn trigger_turn(struct trigger *t, uint64_t now_ns)
{
	if (t->until_ns) {
		if (now_ns < t->until_ns)
			return TRIGGER_NONE;
		t->until_ns = 0;
		t->reason = NULL;
		t->rest_until_ns = now_ns + TRIGGER_REST_FACTOR * t->time_ns;
		return TRIGGER_END;
	}
	if (now_ns < t->rest_until_ns)
		t->reason = NULL;
	if (!t->reason)
		return TRIGGER_NONE;
	t->until_ns = now_ns + t->time_ns;
	t->pulls_cnt++;
	return TRIGGER_BEGIN;
}

bool trigger_holds(const struct trigger *t)
{
	return t->until_ns != 0;
}
