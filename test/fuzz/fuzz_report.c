// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_report.c - any bytes as a trace, through every command that prints it. links: viewer
 */
#include "viewer/command.h"
#include "viewer/dump.h"
#include "viewer/report.h"
#include "viewer/traceset.h"
#include "viewer/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

/* The commands read files and print: the file is in memory, the output goes nowhere. */
static int fuzz_fd(void)
{
	static int fd = -1;

	if (fd >= 0)
		return fd;
	fd = memfd_create("trace", 0);
	/* notices of damage go nowhere too; the sanitizers write to descriptor 2 itself */
	stderr = fopen("/dev/null", "w");
	if (fd < 0 || !stderr || !freopen("/dev/null", "w", stdout))
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	struct request req = { .top = 20, .has_from = true, .from_relative = true };
	int fd = fuzz_fd();
	struct traceset set;
	char path[64];

	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, sz, 0) != (ssize_t)sz)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (traceset_open(path, &set) != 0)
		abort();
	for (int json = 0; json < 2; json++) {
		req.json = json;
		req.path = path;
		dump_run(&req, &set);
		verify_run(&req, &set);
		report_run(&req, &set);
	}
	traceset_close(&set);
	return 0;
}
