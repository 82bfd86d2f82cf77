// SPDX-License-Identifier: Apache-2.0
/* scratch.c - mkdtemp and rm. */
#include "test/unit/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char scratch[64];

int scratch_make(void **state)
{
	(void)state;
	strcpy(scratch, "/tmp/dial9-test-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

int scratch_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}
