// SPDX-License-Identifier: Apache-2.0
/*
 * match - is a recording from outside equal to dial9's own of the same process?
 *   match [-v] [-b] [-n NAME] [-f FILE] [-w FROM:TO]... THEIRS OURS
 * Prints one row (match -H prints the head) and exits 1 if anything differs. -b: the machine is
 * busy, judge no times. -f: appends the row to
 * FILE as "name=value ..." for table.awk. -w: ns of CLOCK_MONOTONIC between which the recorder said
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
static uint64_t over(const struct diffs *d, uint64_t limit_ns)
{
	return d->v.cnt >= 100 && diffs_at(d, 990) > limit_ns ? diffs_at(d, 990) : 0;
}

/* What depends on how soon threads get a CPU, ours or the program's: not where the machine is busy. */
static void judge_times(const struct pairing *p)
{
	fault("overtaken polls", p->polls_overtaken * 1000 > p->polls.both ? p->polls_overtaken : 0);
	fault("unparks unseen", p->parks_guessed * 50 > p->parks_ours ? p->parks_guessed : 0);
	fault("parks given away", p->parks_given * 100 > p->parks_ours ? p->parks_given : 0);
	fault("parks for locks", p->parks_locked > 3 && p->parks_locked * 100 > p->parks_ours ?
					 p->parks_locked :
					 0);
	fault("ns start p99", over(&p->start, PAIR_SLACK_NS));
	fault("ns end p99", over(&p->end, PAIR_SLACK_NS));
	fault("ns cold start p99", over(&p->start_cold, PAIR_COLD_LIMIT_NS));
	fault("ns cold end p99", over(&p->end_cold, PAIR_COLD_LIMIT_NS));
	fault("queue depths", p->queue_off);
	fault("thefts", p->queue_stolen * 33 > p->queue_read ? p->queue_stolen : 0);
	fault("alive counts", p->alive_off * 100 > p->alive_read ? p->alive_off : 0);
	fault("global queues", p->global_off);
}

static void judge(const struct pairing *p, const struct wakemap *m, const struct side *theirs,
		  const struct side *ours)
{
	fault("polls missing", p->polls.theirs_only);
	fault("polls invented", p->polls.ours_only);
	fault("polls outside", p->polls_outside);
	fault("poll ends inferred", p->polls_inferred);
	fault("locations", p->polls.wrong_loc + p->births.wrong_loc);
	fault("workers", p->polls.wrong_worker + p->worker_clash + p->births.wrong_worker);
	fault("runtimes", p->runtime_clash);
	fault("spawns missing", p->births.theirs_only);
	fault("spawns invented", p->births.ours_only);
	fault("ends missing", p->deaths.theirs_only);
	fault("ends invented", p->deaths.ours_only);
	fault("parks stray", p->parks_stray);
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
	const struct diffs *all[] = { &p->start, &p->end, &p->start_cold, &p->end_cold };
	uint64_t max_ns = 0, mapped = m->theirs - m->unmapped;
	char queue[16] = "-", alive[16] = "-";

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (diffs_at(all[i], 1000) > max_ns)
			max_ns = diffs_at(all[i], 1000);
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

/* p99 of two lists taken as one. */
static uint64_t p99_of(const struct diffs *a, const struct diffs *b)
{
	struct diffs all = { 0 };
	uint64_t ret;

	for (size_t i = 0; i < a->v.cnt; i++)
		diffs_add(&all, a->v.at[i], 0);
	for (size_t i = 0; i < b->v.cnt; i++)
		diffs_add(&all, b->v.at[i], 0);
	diffs_close(&all);
	ret = diffs_at(&all, 990);
	free(all.v.at);
	return ret;
}

static void write_facts(const char *path, const char *name, const struct pairing *p,
			const struct wakemap *m, const struct side *ours)
{
	FILE *f = fopen(path, "ae");

	if (!f)
		err(2, "match: %s", path);
	fprintf(f, "row=%s is_equal=%d", name, !*why);
#define FACT(key, value) fprintf(f, " " key "=%" PRIu64, (uint64_t)(value))
	FACT("polls", p->polls.theirs);
	FACT("polls_both", p->polls.both);
	FACT("unseen", p->polls.unseen);
	FACT("edge", p->polls.edge);
	FACT("wrong", p->polls.wrong_loc + p->births.wrong_loc + p->polls.wrong_worker +
			      p->worker_clash + p->births.wrong_worker + p->runtime_clash);
	FACT("spawns", p->births.theirs);
	FACT("ends", p->deaths.theirs);
	FACT("missing", p->polls.theirs_only + p->births.theirs_only + p->deaths.theirs_only);
	FACT("invented", p->polls.ours_only + p->births.ours_only + p->deaths.ours_only);
	/* of a hundred and more: else it is their largest */
	FACT("warm_p99", p->start.v.cnt >= 100 ? diffs_at(&p->start, 990) : 0);
	FACT("warm_end_p99", p->end.v.cnt >= 100 ? diffs_at(&p->end, 990) : 0);
	FACT("start_p99", p99_of(&p->start, &p->start_cold));
	FACT("end_p99", p99_of(&p->end, &p->end_cold));
	FACT("cold", p->start_cold.v.cnt);
	FACT("cold_p99", diffs_at(&p->start_cold, 990));
	FACT("overtaken", p->polls_overtaken);
	FACT("wakes", m->theirs);
	FACT("unmapped", m->unmapped + m->ours_only + m->wrong_waker);
	FACT("direct", m->direct);
	FACT("own", m->own);
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
#undef FACT
	fputc('\n', f);
	fclose(f);
}

static void print_more(const struct pairing *p, const struct wakemap *m)
{
	fprintf(stderr,
		"  cold start p50 %" PRIu64 " p99 %" PRIu64 " of %zu, cold end p99 %" PRIu64
		" of %zu; start p50 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64 " ns; end p50 %" PRIu64
		" p99 %" PRIu64 " max %" PRIu64 " ns; spawn p99 %" PRIu64 ", end p99 %" PRIu64
		" ns; wake p50 %" PRIu64 " p99 %" PRIu64 " ns\n",
		diffs_at(&p->start_cold, 500), diffs_at(&p->start_cold, 990),
		p->start_cold.v.cnt, diffs_at(&p->end_cold, 990), p->end_cold.v.cnt,
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

int main(int argc, char **argv)
{
	static struct pairing p;
	static struct window windows[PAIR_WINDOWS_MAX];
	struct wakemap m = { 0 };
	struct side theirs, ours;
	bool is_busy = false;
	const char *name = "match", *facts = NULL;
	int opt;

	p.windows = windows;
	while ((opt = getopt(argc, argv, "vHtbn:f:w:")) != -1) {
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
		errx(2, "usage: match [-v] [-b] [-n NAME] [-f FILE] [-w FROM:TO]... THEIRS OURS   |   match -H");
	if (!p.windows_cnt)
		windows[p.windows_cnt++] = (struct window){ 0, UINT64_MAX - 1 };
	side_load(&theirs, argv[optind], false);
	side_load(&ours, argv[optind + 1], true);
	pair_all(&p, &theirs, &ours);
	wakemap_all(&m, &p, &theirs, &ours);
	depths_compare(&p, &theirs, &ours);
	samples_compare(&p, &theirs, &ours);
	judge(&p, &m, &theirs, &ours);
	if (!is_busy)
		judge_times(&p);
	print_row(name, &p, &m, &ours);
	if (facts)
		write_facts(facts, name, &p, &m, &ours);
	if (p.verbose)
		print_more(&p, &m);
	side_free(&theirs);
	side_free(&ours);
	pairing_free(&p);
	wakemap_free(&m);
	return *why ? 1 : 0;
}
