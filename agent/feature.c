// SPDX-License-Identifier: Apache-2.0
/*
 * feature.c - tries each thing the recorder needs on the smallest object there is.
 *
 * The probed function is our own, its first instruction a push: what the kernel emulates on x86-64
 * and what every site of a plan looks like. It is called from a second thread, as kernels before
 * 6.10 apply the pid filter of a multi link to one thread only (46ba0e49b642).
 */
#include "feature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "calib.skel.h"
#include "clock.h"
#include "log.h"

#define FEATURE_CALLS 2000 /* of the probed function: about 2 ms */
#define FEATURE_STEPS 100 /* of the one whose instruction is single-stepped */
#define FEATURE_BATCH 50 /* calls timed together; the cheapest batch tells the cost */

void feature_site(void);
void feature_stepped(void);
__asm__(".pushsection .text\n"
	".globl feature_site\n"
	".type feature_site, @function\n"
	"feature_site:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size feature_site, . - feature_site\n"
	".globl feature_stepped\n"
	".type feature_stepped, @function\n"
	"feature_stepped:\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size feature_stepped, . - feature_stepped\n"
	".popsection\n");

/* What libbpf says on its own is of use with --verbose only: what fails is said in our words. */
static int feature_libbpf_log(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char line[1024];
	int len;

	if (level == LIBBPF_DEBUG || log_get_level() < LOG_DEBUG)
		return 0;
	len = vsnprintf(line, sizeof(line), fmt, args);
	if (len > 0 && len < (int)sizeof(line) && line[len - 1] == '\n')
		line[len - 1] = '\0';
	log_debug("%s", line);
	return len;
}

/* Offset of `addr` in the file mapped there; 0 = not found (offset 0 is the ELF header). */
static uint64_t feature_file_off(const void *addr)
{
	uint64_t start, end, off, ret = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	if (!f)
		return 0;
	while (!ret && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &off) == 3 &&
		    (uint64_t)addr >= start && (uint64_t)addr < end)
			ret = (uint64_t)addr - start + off;
	fclose(f);
	return ret;
}

/* CPU ns of the cheapest batch. The machine may be busy or stolen from: no other batch, and no other
 * clock, says what a call costs. */
static uint64_t feature_time(void (*site)(void), int calls_cnt)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < calls_cnt; i += FEATURE_BATCH) {
		uint64_t from_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), ns;

		for (int j = 0; j < FEATURE_BATCH; j++)
			site();
		ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
		if (ns < best_ns)
			best_ns = ns;
	}
	return best_ns;
}

/* *arg: CPU ns of a batch. */
static void *feature_call(void *arg)
{
	*(uint64_t *)arg = feature_time(feature_site, FEATURE_CALLS);
	return NULL;
}

/* Calls the site from another thread; how many of the calls were seen, and what a batch took. */
static uint64_t feature_hits(const volatile __u64 *counter, uint64_t *ret_batch_ns)
{
	uint64_t before = *counter;
	pthread_t thread;

	if (pthread_create(&thread, NULL, feature_call, ret_batch_ns))
		return 0;
	pthread_join(thread, NULL);
	return *counter - before;
}

/* What a probe adds to a call that the kernel must single-step; 0 = it could not be attached. */
static uint32_t feature_step_cost(struct calib_bpf *skel)
{
	unsigned long off = feature_file_off((const void *)feature_stepped);
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = &off, .cnt = 1);
	struct bpf_link *link;
	uint64_t bare_ns, ns;

	link = off ? bpf_program__attach_uprobe_multi(skel->progs.on_calib_multi, -1,
						      "/proc/self/exe", NULL, &opts) :
		     NULL;
	if (!link)
		return 0;
	feature_time(feature_stepped, FEATURE_BATCH); /* warms the page and the probe */
	ns = feature_time(feature_stepped, FEATURE_STEPS);
	bpf_link__destroy(link);
	bare_ns = feature_time(feature_stepped, FEATURE_STEPS);
	return ns > bare_ns ? (uint32_t)((ns - bare_ns) / FEATURE_BATCH) : 0;
}

/* Attached to `pid` (-1: to all), are the calls of another thread seen? Notes what one costs. Each
 * link that is closed costs the start tens of milliseconds: the kernel waits for all its CPUs. */
static bool feature_is_hit(struct features *f, struct calib_bpf *skel, unsigned long off, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = &off, .cnt = 1);
	struct bpf_link *link;
	uint64_t bare_ns = 0, ns = 0;
	bool is_hit;

	link = bpf_program__attach_uprobe_multi(skel->progs.on_calib_multi, pid, "/proc/self/exe",
						NULL, &opts);
	if (!link)
		return false;
	feature_call(&bare_ns); /* warms the page and the probe */
	is_hit = feature_hits(&skel->bss->hits, &ns) == FEATURE_CALLS;
	bpf_link__destroy(link);
	feature_call(&bare_ns);
	if (is_hit && ns > bare_ns)
		f->hit_cost_ns = (uint32_t)((ns - bare_ns) / FEATURE_BATCH);
	if (is_hit)
		f->step_cost_ns = feature_step_cost(skel);
	return is_hit;
}

static void feature_try_multi(struct features *f, struct calib_bpf *skel, unsigned long off)
{
	f->has_multi_pid_filter = feature_is_hit(f, skel, off, getpid());
	f->has_uprobe_multi = f->has_multi_pid_filter || feature_is_hit(f, skel, off, -1);
}

static void feature_try_perf(struct features *f, struct calib_bpf *skel, unsigned long off)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts);
	struct bpf_link *link;
	uint64_t ns = 0;

	link = bpf_program__attach_uprobe_opts(skel->progs.on_calib, -1, "/proc/self/exe", off, &opts);
	if (!link)
		return;
	f->has_perf_uprobe = feature_hits(&skel->bss->hits, &ns) == FEATURE_CALLS;
	bpf_link__destroy(link);
	if (f->has_perf_uprobe)
		f->perf_cost_ns = (uint32_t)(ns / FEATURE_BATCH);
	if (!f->hit_cost_ns)
		f->hit_cost_ns = f->perf_cost_ns;
}

static struct calib_bpf *feature_load(bool is_multi)
{
	struct calib_bpf *skel = calib_bpf__open();

	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.on_calib_multi, is_multi);
	bpf_program__set_autoload(skel->progs.on_calib, !is_multi);
	if (calib_bpf__load(skel)) {
		calib_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

void features_probe(struct features *ret, bool want_perf)
{
	unsigned long off = feature_file_off((const void *)feature_site);
	struct calib_bpf *skel;
	struct features f = {};

	libbpf_set_print(feature_libbpf_log);
	f.cpus_cnt = libbpf_num_possible_cpus();
	f.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
	f.is_privileged = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL) > 0;
	f.has_ringbuf = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) > 0;
	f.has_task_storage = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) > 0;
	if (f.is_privileged && off) {
		skel = feature_load(true);
		if (skel)
			feature_try_multi(&f, skel, off);
		calib_bpf__destroy(skel);
		skel = want_perf || !f.has_uprobe_multi ? feature_load(false) : NULL;
		if (skel)
			feature_try_perf(&f, skel, off);
		calib_bpf__destroy(skel);
	}
	f.has_uprobe = f.has_uprobe_multi || f.has_perf_uprobe;
	*ret = f;
}

int features_check(const struct features *f)
{
	if (!f->is_privileged)
		return log_error(-EPERM, "cannot load BPF programs: this process has no right to; run as root "
					 "(sudo dial9-agent ...) or give it CAP_BPF, CAP_PERFMON and "
					 "CAP_SYS_PTRACE; `dial9-agent doctor` lists what is missing");
	if (!f->has_btf)
		return log_error(-EOPNOTSUPP, "this kernel has no type information (/sys/kernel/btf/vmlinux): "
					      "use a kernel built with CONFIG_DEBUG_INFO_BTF=y (5.8 or later)");
	if (!f->has_ringbuf)
		return log_error(-EOPNOTSUPP, "this kernel has no BPF ring buffer: Linux 5.8 or later is needed");
	if (!f->has_task_storage)
		return log_error(-EOPNOTSUPP, "this kernel has no BPF task storage: Linux 5.11 or later is needed");
	if (!f->has_uprobe)
		return log_error(-EOPNOTSUPP, "a uprobe on this program itself was not hit: use a kernel with "
					      "CONFIG_UPROBE_EVENTS=y, and look for kernel.lockdown or a security "
					      "module that forbids uprobes (`dmesg | tail`)");
	return 0;
}
