// SPDX-License-Identifier: Apache-2.0
#include "doctor.h"

#include <cap-ng.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "feature.h"
#include "log.h"
#include "opt.h"

static int doctor_line(FILE *out, bool is_ok, bool is_needed, const char *what, const char *mend)
{
	fprintf(out, "%-5s %s\n", is_ok ? "ok" : is_needed ? "MISS" : "note", what);
	if (!is_ok)
		fprintf(out, "      %s\n", mend);
	return is_ok || !is_needed ? 0 : 1;
}

static int doctor_capabilities(FILE *out)
{
	static const struct {
		unsigned cap;
		bool is_needed;
		const char *what, *mend;
	} caps[] = {
		{ CAP_BPF, true, "CAP_BPF: load BPF programs", "run as root, or grant CAP_BPF" },
		{ CAP_PERFMON, true, "CAP_PERFMON: attach them, read user memory in them, sample CPUs",
		  "run as root, or grant CAP_PERFMON" },
		{ CAP_SYS_PTRACE, true, "CAP_SYS_PTRACE: read another user's process",
		  "run as root, or grant CAP_SYS_PTRACE; without it only your own processes" },
		{ CAP_DAC_READ_SEARCH, false, "CAP_DAC_READ_SEARCH: open binaries you may not read",
		  "grant it if a target's files are not readable by you" },
		{ CAP_CHECKPOINT_RESTORE, false, "CAP_CHECKPOINT_RESTORE: open /proc/PID/map_files",
		  "grant it, or CAP_SYS_ADMIN" },
		{ CAP_SYS_ADMIN, false, "CAP_SYS_ADMIN: perf uprobes on kernels without uprobe_multi",
		  "needed before Linux 6.6 only" },
	};
	int missing = 0;

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		missing += doctor_line(out, capng_have_capability(CAPNG_EFFECTIVE, caps[i].cap),
				       caps[i].is_needed, caps[i].what, caps[i].mend);
	return missing;
}

static int doctor_kernel(FILE *out, const struct features *f)
{
	char cost[128];
	int missing = 0;

	missing += doctor_line(out, f->has_btf, true, "kernel type information (BTF)",
			       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y");
	missing += doctor_line(out, f->is_privileged, true, "BPF programs can be loaded",
			       "see the capabilities above; sysctl kernel.unprivileged_bpf_disabled is no "
			       "obstacle for root");
	if (!f->is_privileged) { /* nothing below was looked at */
		fprintf(out, "?     ring buffers, task storage, uprobes: not known until programs can be "
			     "loaded\n");
		return missing;
	}
	missing += doctor_line(out, f->has_ringbuf, true, "BPF ring buffers (Linux 5.8)",
			       "use a newer kernel");
	missing += doctor_line(out, f->has_task_storage, true, "BPF task storage (Linux 5.11)",
			       "use a newer kernel");
	missing += doctor_line(out, f->has_uprobe, true, "a uprobe on this program was hit",
			       "CONFIG_UPROBE_EVENTS=y is needed; see `dmesg | tail` for lockdown");
	doctor_line(out, f->has_uprobe_multi, false, "one link for many uprobes (Linux 6.6)",
		    "attaching takes one perf event a site: slower, and needs CAP_SYS_ADMIN");
	doctor_line(out, f->has_multi_pid_filter, false, "its pid filter sees every thread (Linux 6.10)",
		    "other processes of the same binary are probed too, though not recorded");
	if (f->hit_cost_ns) {
		snprintf(cost, sizeof(cost), "one probe hit costs %u ns here", f->hit_cost_ns);
		doctor_line(out, true, false, cost, "");
	}
	return missing;
}

/* Below a directory in which this user may write? */
static bool doctor_can_make(const char *dir)
{
	char above[PATH_MAX];
	char *slash;

	if (snprintf(above, sizeof(above), "%s", dir) >= (int)sizeof(above))
		return false;
	while ((slash = strrchr(above, '/')) && slash > above) {
		*slash = '\0';
		if (access(above, F_OK) == 0)
			return access(above, W_OK | X_OK) == 0;
	}
	return access(slash ? "/" : ".", W_OK | X_OK) == 0;
}

static int doctor_trace_dir(FILE *out, const char *dir)
{
	char what[512];
	struct stat st;
	bool exists = !lstat(dir, &st), is_dir = exists && S_ISDIR(st.st_mode);

	snprintf(what, sizeof(what), "trace dir %s %s", dir,
		 is_dir ? "can be written" :
		 exists ? "is a directory, no symbolic link" :
			  "can be made");
	return doctor_line(out, exists ? is_dir && access(dir, W_OK) == 0 : doctor_can_make(dir), true,
			   what,
			   "choose another with --trace-dir, or change its owner");
}

int doctor_run(const struct opt *o, FILE *out)
{
	struct features f;
	struct utsname u;
	int missing;

	if (!uname(&u))
		fprintf(out, "Linux %s %s\n", u.release, u.machine);
	features_probe(&f, true);
	if (capng_get_caps_process())
		return log_error(-EIO, "cannot read this process's capabilities: is /proc mounted?");
	missing = doctor_capabilities(out);
	missing += doctor_kernel(out, &f);
	missing += doctor_trace_dir(out, o->trace_dir);
	fprintf(out, missing ? "%d needed thing(s) missing: see above\n" : "this machine can record\n",
		missing);
	return missing ? -EOPNOTSUPP : 0;
}
