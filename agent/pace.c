// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int pace_set(struct pace *p, uint64_t period_ns)
{
	struct itimerspec tick = {
		.it_interval.tv_nsec = (long)period_ns,
		.it_value.tv_nsec = (long)period_ns,
	};

	p->period_ns = period_ns;
	return timerfd_settime(p->fd, 0, &tick, NULL) ? -errno : 0;
}

int pace_open(struct pace *p, uint64_t now_ns)
{
	p->looked_ns = p->busy_ns = now_ns;
	p->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return p->fd < 0 ? -errno : pace_set(p, PACE_FAST_NS);
}

void pace_close(struct pace *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

bool pace_is_due(struct pace *p)
{
	uint64_t ticks;

	return read(p->fd, &ticks, sizeof(ticks)) == sizeof(ticks);
}

void pace_found(struct pace *p, uint64_t records_cnt, bool is_sparse, uint64_t now_ns)
{
	uint64_t little = is_sparse ? PACE_LITTLE_SPARSE : PACE_LITTLE;
	uint64_t period_ns;

	if (records_cnt > little * (now_ns - p->looked_ns) / PACE_FAST_NS + little)
		p->busy_ns = now_ns;
	p->looked_ns = now_ns;
	period_ns = now_ns - p->busy_ns < PACE_CALM_NS ? PACE_FAST_NS : PACE_SLOW_NS;
	if (period_ns != p->period_ns)
		pace_set(p, period_ns); /* of a descriptor at hand: it does not fail */
}
