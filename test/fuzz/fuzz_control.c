/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a message to the control socket. What is accepted must be a closer look within bounds. */
#include <stdint.h>
#include <stdlib.h>

#include "control.h"
#include "plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct trigger_options look;

	if (control_parse((const char *)data, sz, &look))
		return 0;
	if (look.level <= PLAN_STAT || look.level > PLAN_FULL || !look.time_ns ||
	    look.time_ns > 24ull * 3600 * 1000000000 || look.poll_ns || look.delay_ns ||
	    look.cpu_percent)
		abort();
	return 0;
}
