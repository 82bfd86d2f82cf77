// SPDX-License-Identifier: Apache-2.0
/*
 * match - is a recording from outside equal to dial9's own of the same process?
 *   match [-v] [-b] [-l LEVEL] [-c WORKERS] [-n NAME] [-f FILE] [-w FROM:TO]... THEIRS OURS
 * Prints one row (match -H prints the head) and exits 1 if anything differs, 4 if nothing but times
 * does. -b: the machine is busy, judge no times. -l: ours was recorded at level polls or wakes; then
 * what that level does not record is not missed. -c: workers that its runtime was given. -f: appends the row to FILE as "name=value ..." for
 * table.awk. -w: ns of CLOCK_MONOTONIC between which the recorder said
 * it records, TO may be empty; match -t tells the present ns.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test/truth/depths.h"
#include "test/truth/guess.h"
#include "test/truth/pair.h"
#include "test/truth/samples.h"
#include "test/truth/side.h"
#include "test/truth/wakemap.h"

static const struct head {
	const char *name;
	int width;
} heads[] = {
	{ "workload", -22 }, { "polls", 8 },	 { "recall%", 8 },   { "precis%", 8 },
	{ "start99", 8 },    { "end99", 8 },	 { "cold99", 8 },    { "max us", 8 },    { "spawns", 8 },
	{ "ends", 8 },	     { "workers", 8 },	 { "wakes", 8 },     { "mapped%", 8 },
	{ "own", 8 },	     { "redund", 8 },	 { "late", 6 },	     { "only-us", 8 },
	{ "parks", 7 },	     { "no-slp", 7 },	 { "queue", 7 },     { "alive", 6 },
	{ "unseen", 7 },     { "edge", 6 },	 { "lost", 5 },
};

static void print_head(void)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		printf("%*s", heads[i].width, heads[i].name);
	printf("  verdict\n");
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 100.0;
}

static char why[1024];

static void fault(const char *what, uint64_t cnt)
{
	size_t len = strlen(why);

	if (cnt)
		snprintf(why + len, sizeof(why) - len, "%s%" PRIu64 " %s", len ? ", " : " ", cnt,
			 what);
}

/* The 99th percentile if it is over the limit; too few to have one are held to nothing. */
static uint64_t over(const struct diffs *d)
{
	return d->v.cnt >= 100 && diffs_at(d, 990) > PAIR_SLACK_NS ? diffs_at(d, 990) : 0;
}

/* What depends on how soon threads get a CPU, ours or the program's: not where the machine is busy. */
static void judge_times(const struct pairing *p)
{
	fault("overtaken polls", p->level == PAIR_FULL && p->polls_overtaken * 1000 > p->polls.both ?
					 p->polls_overtaken :
					 0);
	fault("unparks unseen", p->parks_guessed > 3 && p->parks_guessed * 50 > p->parks_ours ?
					p->parks_guessed :
					0);
	fault("parks given away", p->parks_given * 100 > p->parks_ours ? p->parks_given : 0);
	fault("parks for locks", p->parks_locked > 3 && p->parks_locked * 100 > p->parks_ours &&
						 p->parks_locked * 10000 > p->polls.both ?
					 p->parks_locked :
					 0);
	if (p->level == PAIR_FULL &&
	    pair_workers_at_once(p) <= (unsigned long)sysconf(_SC_NPROCESSORS_ONLN)) {
		fault("ns start p99", over(&p->start));
		fault("ns end p99", over(&p->end));
	}
	fault("queue depths", p->queue_off);
	fault("thefts", p->queue_stolen * 33 > p->queue_read ? p->queue_stolen : 0);
	fault("alive counts", p->alive_off * 100 > p->alive_read ? p->alive_off : 0);
	fault("global queues", p->global_off);
}

static void judge(const struct pairing *p, const struct wakemap *m, const struct guesses *g,
		  const struct side *theirs, const struct side *ours)
{
	bool is_full = p->level == PAIR_FULL;

	fault("polls missing", p->polls.theirs_only);
	fault("polls invented", p->polls.ours_only);
	fault("polls outside", p->polls_outside);
	fault("poll ends inferred", p->polls_inferred);
	fault("locations", p->polls.wrong_loc + p->births.wrong_loc);
	fault("workers", p->polls.wrong_worker + p->worker_clash + p->births.wrong_worker);
	fault("runtimes", p->runtime_clash);
	fault("spawns missing", is_full ? p->births.theirs_only : 0);
	fault("spawns invented", p->births.ours_only);
	fault("ends missing", is_full ? p->deaths.theirs_only : 0);
	fault("ends invented", p->deaths.ours_only);
	fault("parks stray", p->parks_stray);
	fault("ends before dial9's", g->early > 1 && g->early * 1000 > g->all.v.cnt ? g->early : 0);
	fault("wakes unmapped", m->unmapped);
	fault("wakes invented", m->ours_only);
	fault("wakers", m->wrong_waker);
	fault("queues longer than dial9's", p->queue_more);
	fault("lost", ours->lost);
	fault("unpaired starts or ends", ours->flaws);
	fault("unpaired in dial9's", theirs->flaws);
	if (!p->polls.both && !m->theirs)
		fault("polls at all: nothing was compared", 1);
}

static void print_row(const char *name, const struct pairing *p, const struct wakemap *m,
		      const struct side *ours)
{
	uint64_t max_ns = diffs_at(&p->start, 1000), mapped = m->theirs - m->unmapped;
	char queue[16] = "-", alive[16] = "-";

	if (diffs_at(&p->end, 1000) > max_ns)
		max_ns = diffs_at(&p->end, 1000);
	if (p->queue_read)
		snprintf(queue, sizeof(queue), "%.1f",
			 percent(p->queue_read - p->queue_off - p->queue_more -
					 p->queue_stolen,
				 p->queue_read));
	if (p->alive_read)
		snprintf(alive, sizeof(alive), "%.0f",
			 percent(p->alive_read - p->alive_off, p->alive_read));
	printf("%-22s%8" PRIu64 "%8.3f%8.3f%8.2f%8.2f%8.2f%8.0f", name, p->polls.both,
	       percent(p->polls.both, p->polls.theirs),
	       percent(p->polls.both, p->polls.ours - p->polls.unseen),
	       (double)diffs_at(&p->start, 990) / 1e3, (double)diffs_at(&p->end, 990) / 1e3,
	       (double)diffs_at(&p->start_cold, 990) / 1e3, (double)max_ns / 1e3);
	printf("%8" PRIu64 "%8" PRIu64 "%8" PRIu64 "%8" PRIu64 "%8.3f%8" PRIu64 "%8" PRIu64
	       "%6" PRIu64 "%8" PRIu64,
	       p->births.both, p->deaths.both, p->workers, m->theirs, percent(mapped, m->theirs),
	       m->own, m->redundant + m->after_end + m->swallowed, m->late, m->plain);
	printf("%7" PRIu64 "%7" PRIu64 "%7s%6s%7" PRIu64 "%6" PRIu64 "%5" PRIu64 "  %s%s\n",
	       p->parks_ours, p->never_slept, queue, alive, p->polls.unseen, p->polls.edge,
	       ours->lost, *why ? "DIFFERS:" : "equal", why);
}

static void write_facts(const char *path, const char *name, const struct pairing *p,
			const struct wakemap *m, const struct guesses *g, const struct side *ours)
{
	static const char *const kinds[GUESS_CNT] = { "next", "park", "other", "elsewhere" };
	FILE *f = fopen(path, "ae");

	if (!f)
		err(2, "match: %s", path);
	fprintf(f, "row=%s is_equal=%d", name, !*why);
#define FACT(key, value) fprintf(f, " " key "=%" PRIu64, (uint64_t)(value))
	FACT("polls", p->polls.theirs);
	FACT("polls_both", p->polls.both);
	FACT("unseen", p->polls.unseen);
	FACT("edge", p->polls.edge + p->deaths.edge);
	FACT("wrong", p->polls.wrong_loc + p->births.wrong_loc + p->polls.wrong_worker +
			      p->worker_clash + p->births.wrong_worker + p->runtime_clash);
	FACT("spawns", p->births.theirs);
	FACT("ends", p->deaths.theirs);
	FACT("missing", p->polls.theirs_only + (p->level == PAIR_FULL ? p->births.theirs_only +
							   p->deaths.theirs_only :
						   0));
	FACT("invented", p->polls.ours_only + p->births.ours_only + p->deaths.ours_only);
	FACT("at_once", pair_workers_at_once(p));
	FACT("start_p50", diffs_at(&p->start, 500));
	FACT("start_p99", diffs_at(&p->start, 990));
	FACT("end_p99", diffs_at(&p->end, 990));
	FACT("far_cold", p->far_cold);
	FACT("far_warm", p->far_warm);
	FACT("cold", p->start_cold.v.cnt);
	FACT("cold_p99", diffs_at(&p->start_cold, 990));
	FACT("overtaken", p->polls_overtaken);
	FACT("wakes", m->theirs);
	FACT("unmapped", m->unmapped + m->ours_only + m->wrong_waker);
	FACT("direct", m->direct);
	FACT("own", m->own);
	FACT("own_unseen", m->own_unseen);
	FACT("redundant", m->redundant);
	FACT("late", m->late);
	FACT("late_p50", diffs_at(&m->lateness, 500));
	FACT("after_end", m->after_end);
	FACT("swallowed", m->swallowed);
	FACT("belated", m->belated);
	FACT("aborts", m->aborts);
	FACT("plain", m->plain);
	FACT("queue_read", p->queue_read);
	FACT("queue_stolen", p->queue_stolen);
	FACT("queue_off", p->queue_off + p->queue_more);
	FACT("global_read", p->metric_read);
	FACT("global_deep", p->metric_deep);
	FACT("alive_read", p->alive_read);
	FACT("alive_off", p->alive_off);
	FACT("parks", p->parks_ours);
	FACT("guessed", p->parks_guessed);
	FACT("given", p->parks_given);
	FACT("locked", p->parks_locked);
	FACT("after", p->parks_after);
	FACT("lost", ours->lost);
	FACT("level", p->level);
	FACT("handed", g->handed);
	FACT("early", g->early);
	FACT("ours_ns", g->ours_ns);
	FACT("theirs_ns", g->theirs_ns);
	FACT("guess_p50", diffs_at(&g->all, 500));
	FACT("guess_p99", diffs_at(&g->all, 990));
	for (int k = 0; k < GUESS_CNT; k++)
		fprintf(f, " %s=%zu %s_p50=%" PRIu64 " %s_p99=%" PRIu64, kinds[k], g->by[k].v.cnt,
			kinds[k], diffs_at(&g->by[k], 500), kinds[k], diffs_at(&g->by[k], 990));
#undef FACT
	fputc('\n', f);
	fclose(f);
}

static void print_more(const struct pairing *p, const struct wakemap *m)
{
	fprintf(stderr,
		"  cold start p50 %" PRIu64 " p99 %" PRIu64 " of %zu; over 5 us: %" PRIu64
		" cold, %" PRIu64 " not; start p50 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64 " ns; end p50 %" PRIu64
		" p99 %" PRIu64 " max %" PRIu64 " ns; spawn p99 %" PRIu64 ", end p99 %" PRIu64
		" ns; wake p50 %" PRIu64 " p99 %" PRIu64 " ns\n",
		diffs_at(&p->start_cold, 500), diffs_at(&p->start_cold, 990),
		p->start_cold.v.cnt, p->far_cold, p->far_warm,
		diffs_at(&p->start, 500), diffs_at(&p->start, 990), diffs_at(&p->start, 1000),
		diffs_at(&p->end, 500), diffs_at(&p->end, 990), diffs_at(&p->end, 1000),
		diffs_at(&p->birth, 990), diffs_at(&p->death, 990), diffs_at(&m->delay, 500),
		diffs_at(&m->delay, 990));
	fprintf(stderr,
		"  polls theirs %" PRIu64 " ours %" PRIu64 "; spawns %" PRIu64 "/%" PRIu64
		"; ends %" PRIu64 "/%" PRIu64 " (%" PRIu64 " of no task); wakes direct %" PRIu64
		" own %" PRIu64 " redundant %" PRIu64 " after end %" PRIu64 " swallowed %" PRIu64
		" late %" PRIu64 " (p50 %" PRIu64 " max %" PRIu64 " ns) aborts %" PRIu64 "; parks theirs %" PRIu64 " ours %" PRIu64
		" guessed %" PRIu64 " given away %" PRIu64
		" after the last %" PRIu64 "\n",
		p->polls.theirs, p->polls.ours, p->births.theirs, p->births.ours, p->deaths.theirs,
		p->deaths.ours, p->deaths.unseen, m->direct, m->own, m->redundant, m->after_end,
		m->swallowed, m->late, diffs_at(&m->lateness, 500), diffs_at(&m->lateness, 1000),
		m->aborts, p->parks_theirs, p->parks_ours, p->parks_guessed,
		p->parks_given, p->parks_after);
}

static void print_guesses(const struct guesses *g)
{
	static const char *const kinds[GUESS_CNT] = { "next start", "park", "other", "elsewhere" };

	fprintf(stderr, "  ends inferred:");
	for (int k = 0; k < GUESS_CNT; k++)
		fprintf(stderr, " by %s %zu (p50 %" PRIu64 " p90 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64 " ns)", kinds[k],
			g->by[k].v.cnt, diffs_at(&g->by[k], 500), diffs_at(&g->by[k], 900),
			diffs_at(&g->by[k], 990), diffs_at(&g->by[k], 1000));
	fprintf(stderr, "; early %" PRIu64 ", handed off %" PRIu64 "; time in polls %+.1f %%\n",
		g->early, g->handed,
		g->theirs_ns ? 100.0 * ((double)g->ours_ns / (double)g->theirs_ns - 1) : 0.0);
}

static enum pair_level level_of(const char *name)
{
	if (!strcmp(name, "polls"))
		return PAIR_POLLS;
	if (!strcmp(name, "wakes"))
		return PAIR_WAKES;
	if (strcmp(name, "full"))
		errx(2, "match: -l %s: full, wakes or polls", name);
	return PAIR_FULL;
}

int main(int argc, char **argv)
{
	static struct pairing p;
	static struct window windows[PAIR_WINDOWS_MAX];
	struct wakemap m = { 0 };
	struct guesses g = { 0 };
	size_t hard;
	struct side theirs, ours;
	bool is_busy = false;
	const char *name = "match", *facts = NULL;
	int opt;

	p.windows = windows;
	while ((opt = getopt(argc, argv, "vHtbl:c:n:f:w:")) != -1) {
		char *rest;

		if (opt == 't') {
			struct timespec ts;

			clock_gettime(CLOCK_MONOTONIC, &ts);
			printf("%" PRIu64 "\n",
			       (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
			return 0;
		}

		if (opt == 'H') {
			print_head();
			return 0;
		}
		if (opt == 'v') {
			p.verbose = true;
		} else if (opt == 'b') {
			is_busy = true;
		} else if (opt == 'l') {
			p.level = level_of(optarg);
		} else if (opt == 'c') {
			p.workers_given = (unsigned)strtoul(optarg, NULL, 10);
		} else if (opt == 'n') {
			name = optarg;
		} else if (opt == 'f') {
			facts = optarg;
		} else if (opt == 'w' && p.windows_cnt < PAIR_WINDOWS_MAX) {
			struct window *w = &windows[p.windows_cnt++];

			w->from_ns = strtoull(optarg, &rest, 10);
			w->to_ns = *rest == ':' && rest[1] ? strtoull(rest + 1, NULL, 10) :
							     UINT64_MAX - 1;
		} else {
			argc = 0;
		}
	}
	if (argc - optind != 2)
		errx(2, "usage: match [-v] [-b] [-l LEVEL] [-c WORKERS] [-n NAME] [-f FILE] [-w FROM:TO]... THEIRS OURS   |   match -H");
	if (!p.windows_cnt)
		windows[p.windows_cnt++] = (struct window){ 0, UINT64_MAX - 1 };
	side_load(&theirs, argv[optind], false);
	side_load(&ours, argv[optind + 1], true);
	pair_all(&p, &theirs, &ours);
	if (p.level != PAIR_POLLS)
		wakemap_all(&m, &p, &theirs, &ours);
	depths_compare(&p, &theirs, &ours);
	samples_compare(&p, &theirs, &ours);
	if (p.level != PAIR_FULL)
		guess_all(&g, &p, &theirs, &ours);
	judge(&p, &m, &g, &theirs, &ours);
	hard = strlen(why);
	if (!is_busy)
		judge_times(&p);
	print_row(name, &p, &m, &ours);
	if (facts)
		write_facts(facts, name, &p, &m, &g, &ours);
	if (p.verbose)
		print_more(&p, &m);
	if (p.verbose && p.level != PAIR_FULL)
		print_guesses(&g);
	side_free(&theirs);
	side_free(&ours);
	pairing_free(&p);
	wakemap_free(&m);
	guesses_free(&g);
	return hard ? 1 : *why ? 4 : 0;
}
