// SPDX-License-Identifier: Apache-2.0
#include "calibration.h"

#include "ladder.h"
#include "log.h"
#include "metadata.h"
#include "plan.h"
#include "taskword.h"

bool calibration_is_over(const struct calibration *c, bool is_learning, uint64_t hits,
			 uint64_t now_ns)
{
	uint64_t age_ns = now_ns - c->start_ns;

	if (c->known_ns)
		return now_ns - c->known_ns >= CALIBRATION_RESTS_NS;
	if (!is_learning)
		return true;
	return age_ns >= TASKWORD_EAGER_NS && hits >= CALIBRATION_BUSY_HITS &&
	       (age_ns >= CALIBRATION_PATIENT_NS ||
		hits / CALIBRATION_BUSY_HITS >= age_ns / 1000000000);
}

void calibration_tick(struct calibration *c, uint64_t hits, uint64_t now_ns)
{
	bool is_known = taskword_is_known(c->taskword);

	if (!is_known)
		c->known_ns = 0;
	else if (!c->known_ns)
		c->known_ns = now_ns;
	if (!calibration_is_over(c, taskword_is_learning(c->taskword), hits, now_ns))
		return;
	if (ladder_go(c->ladder, PLAN_STAT, is_known ? "task word learnt" : "task word not learnt"))
		return;
	c->is_on = false;
	if (is_known) {
		log_info("pid %d: level stat: no probe is left in it", c->pid);
		return;
	}
	metadata_drop(c->metadata, "agent.has", "agent:OffCpu");
	metadata_drop(c->metadata, "agent.has", "agent:Sample");
	log_warn(0, "pid %d: level stat without task ids: the task word was not learnt", c->pid);
}
