// SPDX-License-Identifier: Apache-2.0
/*
 * bench_empty.c - attaches an empty BPF program where the recorder would attach its own, or one
 * that does the least with which something could be recorded (empty.bpf.c).
 *
 *     bench_empty empty|least PID FILE < OFFSETS
 *
 * Reads file offsets (decimal or 0x hex, one a line) up to the end of input, attaches one uprobe
 * link to all of them in FILE for process PID, prints "attached N" and waits for a signal. Records
 * are taken out of the ring each 10 ms and forgotten; "recorded N" tells at the end how many.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

static uint64_t recorded;

static int forget(void *ctx, void *data, size_t sz)
{
	(void)ctx, (void)data, (void)sz;
	recorded++;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct timespec tick = { .tv_nsec = 10000000 };
	static unsigned long offsets[SITES_MAX];
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts);
	struct empty_bpf *skel = NULL;
	struct ring_buffer *ring = NULL;
	struct bpf_link *link = NULL;
	bool is_least = argc == 4 && !strcmp(argv[1], "least");
	sigset_t stop;
	int rc = 1;
	size_t cnt;

	if (argc != 4 || (!is_least && strcmp(argv[1], "empty"))) {
		fprintf(stderr, "usage: bench_empty empty|least PID FILE < OFFSETS\n");
		return 2;
	}
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, NULL);

	if (read_offsets(offsets, &cnt)) {
		fprintf(stderr, "bench_empty: bad offsets on standard input\n");
		return 2;
	}
	skel = empty_bpf__open_and_load();
	if (skel)
		ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), forget, NULL, NULL);
	if (!ring) {
		fprintf(stderr, "bench_empty: cannot load: %s\n", strerror(errno));
		goto out;
	}
	opts.offsets = offsets;
	opts.cnt = cnt;
	link = bpf_program__attach_uprobe_multi(
		is_least ? skel->progs.least_hit : skel->progs.empty_hit, atoi(argv[2]), argv[3], NULL,
		&opts);
	if (!link) {
		fprintf(stderr, "bench_empty: cannot attach to %s: %s\n", argv[3], strerror(errno));
		goto out;
	}
	printf("attached %zu\n", cnt);
	fflush(stdout);
	if (is_least) {
		while (sigtimedwait(&stop, NULL, &tick) < 0)
			ring_buffer__consume(ring);
		printf("recorded %" PRIu64 "\n", recorded);
	} else {
		sigwaitinfo(&stop, NULL);
	}
	rc = 0;
out:
	bpf_link__destroy(link);
	ring_buffer__free(ring);
	empty_bpf__destroy(skel);
	return rc;
}
