#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules of the house that a machine can check, one TAP line each: which room may include
# which, one meaning per file name, a licence line in every file, no uretprobe anywhere.
set -u
shopt -s nullglob
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0

rule() { # NAME OFFENDERS
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		bad=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# FILE:HEADER of each include by FILES that matches neither of the allowed patterns.
# Headers of the own room, written by bare name, are always allowed.
foreign() { # ROOM ALLOWED-REGEX FILES...
	local room=$1 allowed=$2 f h
	shift 2
	for f in "$@"; do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$f" | while read -r h; do
			[ -e "$room/$h" ] || [[ $h =~ ^($allowed)$ ]] || echo "$f includes \"$h\""
		done
	done
}

including() { # HEADER-REGEX FILES...: FILE:LINE of includes of any of these headers
	local header=$1
	shift
	[ $# = 0 ] || grep -nE "^[ \t]*#[ \t]*include[ \t]*[<\"]($header)[>\"]" /dev/null "$@"
}

except() { # NAMES-REGEX FILES...: the files whose base name does not match
	local names=$1 f
	shift
	for f in "$@"; do
		[[ $(basename "$f") =~ ^($names)$ ]] || echo "$f"
	done
}

echo 1..14
rule 'format/ includes nothing of ours but itself' \
	"$(foreign format 'format/[a-z_]+\.(h|def)' format/*.[ch])"
rule 'viewer/core/ includes only itself and the public header of format/' \
	"$(foreign viewer/core '[a-z_]+\.def|format/trace\.h' viewer/core/*.[ch])"
rule 'viewer/ includes only itself, its core and the public files of format/' \
	"$(foreign viewer 'viewer/[a-z_]+\.h|core/[a-z_]+\.(h|def)|format/(trace\.h|records\.def|errors\.def)' viewer/*.[ch])"
rule 'agent/ includes only itself, the public files of format/, the shared ones of bpf/ and skeletons' \
	"$(foreign agent 'agent/[a-z_]+\.h|format/(trace\.h|records\.def|errors\.def)|bpf/(wire|cookie)\.h|[a-z_]+\.skel\.h' agent/*.[ch])"
rule 'bpf/ includes only itself' "$(foreign bpf 'bpf/[a-z_.]+\.h' bpf/*.[ch])"
rule 'BPF objects are known to probe, ring and feature alone' \
	"$(including '[a-z_]+\.skel\.h|bpf/(bpf|libbpf)\.h' $(except '(probe|ring|feature)[a-z_]*\.[ch]' agent/*.[ch]))"
rule 'target and plan know nothing to their right' \
	"$(including '(probe|ring|order|track|emit|segment|recorder)\.h' \
		agent/{target,plan,image,maps,relocs,vtable,sites}*.[ch])"
rule 'order, track and emit know no files, no ELF and no probes' \
	"$(including '(segment|retain|dirlock|probe|ring|target|plan|image)\.h' agent/{order,track,emit}*.[ch])"
rule 'segment and retain do not know what an event is' \
	"$(including '(track|emit|order|ring|probe|bpf/wire|bpf/cookie)\.h' agent/{segment,retain,dirlock}*.[ch])"
rule 'no two source files share a name' \
	"$(for f in agent/*.[ch] viewer/*.[ch] viewer/core/*.[ch] format/*.[ch] bpf/*.[ch]; do basename "$f"; done | sort | uniq -d)"
rule 'no uretprobe' \
	"$(grep -nE 'SEC\("uretprobe|retprobe *= *true|\.session *= *true' /dev/null bpf/* agent/*.[ch])"
rule 'every source file says its licence' \
	"$(for f in Makefile agent/*.[ch] viewer/*.[ch] viewer/core/*.[ch] viewer/core/*.def format/*.[ch] \
		format/*.def bpf/*.[ch] \
		test/*.sh test/*/*.[ch] test/*/*.sh test/*/*.bats test/*/*.bash test/targets/*/*.rs deploy/*.* deploy/*/*/*; do
		head -n 5 "$f" | grep -q 'SPDX-License-Identifier: ' || echo "$f"
	done
	grep -LE 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' bpf/*.[ch])"
rule 'CONTEXT.md names every file of the rooms' \
	"$(for f in agent/*.[ch] viewer/*.[ch] viewer/core/*.[ch] format/*.[ch] bpf/*.[ch]; do
		b=$(basename "$f")
		grep -qE "^- \`(${b%.[ch]}|$b)\`" CONTEXT.md || echo "$f"
	done)"
rule 'each golden trace has its text, and nothing else lies there' \
	"$(for f in test/golden/* test/golden_bad/*; do
		[ -e "$f.txt" ] || [ -e "${f%.txt}" ] && [[ $f == *.bin* ]] || echo "$f"
	done)"
exit $bad
