#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports read by tools of their own formats, from npm and PyPI; no root. TAP.
# What needs no package is in test/cli/export.bats.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
tools=$BUILD/formats
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME=$dir/cache PYTHONPATH=$PWD/$tools/py PYTHONDONTWRITEBYTECODE=1

get() { # the packages, once for each set of versions
	cat test/formats/package-lock.json test/formats/requirements.txt >"$dir/want"
	cmp -s "$dir/want" "$tools/.have" && return
	rm -rf "$tools" && mkdir -p "$tools/py" || return
	cp test/formats/package.json test/formats/package-lock.json "$tools" || return
	(cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || return
	python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
		--target "$tools/py" -r test/formats/requirements.txt || return
	cp "$dir/want" "$tools/.have"
}
get >"$dir/get" 2>&1 || { sed 's/^/# /' "$dir/get"; exit 1; }

"$BUILD/test/cli/make_traces" "$dir" && "$BUILD/test/cli/make_broken" "$dir" || exit 1
for trace in traces/abcd-42 hostile.bin cut.bin; do
	rm -f "$dir"/o.*
	for format in speedscope pprof firefox perfetto; do
		"$BUILD/dial9-view" export $format -o "$dir/o.$format" "$dir/$trace" 2>"$dir/err" ||
			[ $? = 3 ] || cat "$dir/err" # 3: the file ends early, as it should
	done
	node test/formats/check.mjs "$trace" "$tools/node_modules" "$dir"
	python3 test/formats/check_perfetto.py "$trace" "$dir/o.perfetto" 2>&1
done >"$dir/tap"
awk 'BEGIN { print "1..12" } /^(not )?ok - / { sub(/ok - /, "ok " ++n " - ") } { print }' "$dir/tap"
! grep -q '^not ok' "$dir/tap"
