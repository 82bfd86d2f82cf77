// SPDX-License-Identifier: Apache-2.0
/* schedule.c - one analysis after the other over the same columns. */
#include "schedule.h"

#include "inquiry.h"
#include "schedjson.h"
#include "schedtext.h"

#include <errno.h>
#include <stdlib.h>

int schedule_of(const struct columns *c, const struct scope *s, struct schedule *ret)
{
	int err = crews_init(&ret->crews, c);

	if (err)
		return err;
	ret->avail = calloc(ret->crews.cnt + 1u, sizeof(*ret->avail));
	ret->starve = calloc(ret->crews.cnt + 1u, sizeof(*ret->starve));
	if (!ret->avail || !ret->starve)
		return -ENOMEM;
	for (uint32_t i = 0; err == 0 && i < ret->crews.cnt; i++)
		err = avail_of(c, &ret->crews.at[i], s, &ret->avail[i]);
	starve_of(&ret->crews, s, ret->starve);
	if (err == 0)
		err = lifo_of(&ret->crews, s, &ret->lifo);
	if (err == 0)
		err = wakeups_of(c, s, &ret->wakeups);
	if (err == 0)
		err = buildup_of(c, s, &ret->buildup);
	if (err == 0)
		err = leaks_of(c, s, &ret->leaks);
	if (err == 0)
		err = blockpool_of(c, s, &ret->pool);
	if (err == 0)
		err = userspans_of(c, s, &ret->spans);
	if (err == 0)
		err = summed_lanes(c, s->from_ns, s->to_ns, &ret->summed);
	return err;
}

void schedule_done(struct schedule *x)
{
	free(x->avail);
	free(x->starve);
	lifo_done(&x->lifo);
	wakeups_done(&x->wakeups);
	buildup_done(&x->buildup);
	leaks_done(&x->leaks);
	blockpool_done(&x->pool);
	userspans_done(&x->spans);
	free(x->summed);
	crews_done(&x->crews);
}

static int schedule_work(struct inquiry *q)
{
	return schedule_of(q->c, &q->scope, q->own);
}

static void schedule_end(struct inquiry *q)
{
	schedule_done(q->own);
}

int schedule_run(const struct request *req, const struct traceset *set)
{
	static const struct inquiry_ops ops = {
		.schema = "dial9-view.sched/1",
		.own_sz = sizeof(struct schedule),
		.work = schedule_work,
		.text = schedtext_print,
		.json = schedjson_put,
		.done = schedule_end,
	};

	return inquiry_run(req, set, &ops);
}
