/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger.h - when to look closer for a while: `--on-demand LEVEL:TIME[,CONDITION...]`.
 *
 * A signal (SIGUSR1) and the control socket always pull it; a condition does when a fact that is
 * seen at any level passes its limit: a time off the CPU inside a poll that is too long, or CPU
 * samples of a thread that show nothing but one task for too long (poll>TIME); a thread that waited too long for a CPU (delay>TIME); the target's CPU time
 * (cpu>N%, of one core). Pure: facts and times come from the caller.
 */
#ifndef DIAL9_TRIGGER_H
#define DIAL9_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#define TRIGGER_REST_FACTOR \
	4 /* after a closer look by condition, none for so many times its length */

struct trigger_options {
	bool is_set;
	int level; /* enum plan_level */
	uint64_t time_ns; /* the closer look lasts so long */
	uint64_t poll_ns, delay_ns; /* limits, 0 = no such condition */
	uint64_t cpu_percent; /* of one core, 0 = no such condition */
};

struct trigger {
	struct trigger_options o;
	int level; /* of the closer look that waits or holds; */
	uint64_t time_ns; /* its length */
	const char *reason; /* of the pull that waits or holds, NULL = none; a literal */
	uint64_t until_ns; /* of the closer look, 0 = there is none */
	uint64_t rest_until_ns; /* no condition counts before */
	uint64_t pulls_cnt;
};

/* "full:10s,poll>5ms,delay>2ms,cpu>150%". 0 or -EINVAL. Times in s, ms, us or m, h. */
int trigger_parse(const char *text, struct trigger_options *ret);

void trigger_init(struct trigger *t, const struct trigger_options *o);

/* Facts; each costs a comparison. */
void trigger_poll(struct trigger *t, uint64_t ns);
void trigger_delay(struct trigger *t, uint64_t ns);
void trigger_cpu(struct trigger *t, uint64_t cpu_ns, uint64_t took_ns);

/* By hand: also while it rests, and again while it holds (it then lasts longer). `reason`: a literal.
 * Without options nothing happens. */
void trigger_pull(struct trigger *t, const char *reason);
/* The same, to a level and for a time of its own, and without options too. */
void trigger_ask(struct trigger *t, int level, uint64_t time_ns, const char *reason);

enum trigger_turn { TRIGGER_NONE, TRIGGER_BEGIN, TRIGGER_END };

/* What is to be done at now_ns; t->reason says why it begins. */
enum trigger_turn trigger_turn(struct trigger *t, uint64_t now_ns);

/* Is a closer look being taken? */
bool trigger_holds(const struct trigger *t);

#endif /* DIAL9_TRIGGER_H */
