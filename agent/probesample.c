// SPDX-License-Identifier: Apache-2.0
#include "probesample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "log.h"

struct probesample {
	unsigned cpus_cnt;
	struct bpf_link *links[]; /* one per CPU, NULL where the CPU is offline */
};

static int probesample_cpu(struct probesample *s, struct bpf_program *prog, unsigned cpu, uint64_t hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = hz,
		.freq = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int err;

	if (fd < 0 && errno == ENODEV) /* possible, but offline */
		return 0;
	if (fd < 0)
		return log_error(-errno, "cannot open the CPU clock of CPU %u: %s; set "
					 "kernel.perf_event_paranoid to 2 or less, or use --cpu-hz 0",
				 cpu, strerror(errno));
	s->links[cpu] = bpf_program__attach_perf_event(prog, fd);
	if (s->links[cpu])
		return 0;
	err = -errno;
	close(fd);
	return log_error(err, "cannot attach to the CPU clock of CPU %u: %s", cpu, strerror(-err));
}

int probesample_open(struct bpf_program *prog, unsigned cpus_cnt, uint64_t hz,
		     struct probesample **ret)
{
	struct probesample *s = calloc(1, sizeof(*s) + cpus_cnt * sizeof(s->links[0]));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->cpus_cnt = cpus_cnt;
	for (unsigned cpu = 0; !err && cpu < cpus_cnt; cpu++)
		err = probesample_cpu(s, prog, cpu, hz);
	if (err)
		probesample_close(s);
	else
		*ret = s;
	return err;
}

void probesample_close(struct probesample *s)
{
	if (!s)
		return;
	for (unsigned cpu = 0; cpu < s->cpus_cnt; cpu++)
		bpf_link__destroy(s->links[cpu]);
	free(s);
}
