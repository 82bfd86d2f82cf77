# SPDX-License-Identifier: Apache-2.0
"""Wall and CPU seconds (all threads, user and system) and greatest memory in MiB of a command that
must end well; its output goes nowhere:   measure.py TIMES COMMAND...
Run so many times, the median of each: what takes a blink is measured no worse than what takes long."""
import resource
import statistics
import subprocess
import sys
import time

times, command = int(sys.argv[1]), sys.argv[2:]
walls, cpus, before = [], [], 0.0
for _ in range(times):
    begun = time.monotonic()
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    walls.append(time.monotonic() - begun)
    if code:
        sys.exit(f"measure.py: {command[0]}: exit code {code}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpus.append(used.ru_utime + used.ru_stime - before)
    before += cpus[-1]
print(f"{statistics.median(walls):.3f} {statistics.median(cpus):.3f} {used.ru_maxrss / 1024:.0f}")
