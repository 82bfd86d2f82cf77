# SPDX-License-Identifier: Apache-2.0
"""CPU seconds (all threads, user and system) and greatest memory in MiB of a command that must end
well; its output goes nowhere:   measure.py COMMAND..."""
import resource
import subprocess
import sys

code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
if code:
    sys.exit(f"measure.py: {sys.argv[1]}: exit code {code}")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss / 1024:.0f}")
