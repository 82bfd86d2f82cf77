// SPDX-License-Identifier: Apache-2.0
/*
 * bench_empty.c - attaches an empty BPF program where the recorder would attach its own.
 *
 *     bench_empty PID FILE < OFFSETS
 *
 * Reads file offsets (decimal or 0x hex, one a line) up to the end of input, attaches one uprobe
 * link to all of them in FILE for process PID, prints "attached N" and waits for a signal.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "empty.skel.h"

#define SITES_MAX 65536

static int read_offsets(unsigned long *offsets, size_t *ret_cnt)
{
	char line[64], *end;
	size_t cnt = 0;

	while (fgets(line, sizeof(line), stdin)) {
		errno = 0;
		offsets[cnt] = strtoul(line, &end, 0);
		if (errno || end == line || (*end && *end != '\n'))
			return -EINVAL;
		if (++cnt == SITES_MAX)
			return -E2BIG;
	}
	*ret_cnt = cnt;
	return cnt ? 0 : -ENODATA;
}

int main(int argc, char **argv)
{
	static unsigned long offsets[SITES_MAX];
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts);
	struct empty_bpf *skel = NULL;
	struct bpf_link *link = NULL;
	sigset_t stop;
	size_t cnt;
	int err, sig;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_empty PID FILE < OFFSETS\n");
		return 2;
	}
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, NULL);

	err = read_offsets(offsets, &cnt);
	if (err) {
		fprintf(stderr, "bench_empty: bad offsets on standard input\n");
		return 2;
	}
	skel = empty_bpf__open_and_load();
	if (!skel) {
		fprintf(stderr, "bench_empty: cannot load: %s\n", strerror(errno));
		return 1;
	}
	opts.offsets = offsets;
	opts.cnt = cnt;
	link = bpf_program__attach_uprobe_multi(skel->progs.empty_hit, atoi(argv[1]), argv[2], NULL,
						&opts);
	if (!link) {
		fprintf(stderr, "bench_empty: cannot attach to %s: %s\n", argv[2], strerror(errno));
		empty_bpf__destroy(skel);
		return 1;
	}
	printf("attached %zu\n", cnt);
	fflush(stdout);
	sigwait(&stop, &sig);
	bpf_link__destroy(link);
	empty_bpf__destroy(skel);
	return 0;
}
