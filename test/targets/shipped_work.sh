#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets a shipped program do real work for SECS seconds, for a recorder to attach meanwhile.
#   shipped_work.sh NAME DIR [SECS]     DIR is that of shipped.sh, which is called first
# Prints a line "pid N ROLE" for each Tokio process as soon as it works, at the end "rounds N ..."
# (turbo: "lines N"). Fails when no work was done. All it started is gone when it ends.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || {
	echo "usage: shipped_work.sh biome|biome-musl|turbo|deno DIR [SECS]" >&2
	exit 2
}
name=$1 secs=${3:-10}
program=$(sh "$here/shipped.sh" "$2" "$name" | sed "s/^$name //")
[ -n "$program" ] || exit 1
work=$(cd "$2" && pwd)/work-$name
mkdir -p "$work"
export DO_NOT_TRACK=1 TURBO_TELEMETRY_DISABLED=1 TURBO_NO_UPDATE_NOTIFIER=1 DENO_NO_UPDATE_CHECK=1

child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null || :' EXIT
trap 'exit 143' TERM INT

# A workspace of four packages, each of which prints lines for the given time.
turbo_workspace() {
	cat >package.json <<-T
		{"name":"work","private":true,"packageManager":"npm@10.0.0","workspaces":["packages/*"]}
	T
	cat >turbo.json <<-T
		{"tasks":{"work":{"cache":false}},"ui":"stream"}
	T
	cat >package-lock.json <<-T
		{"name":"work","lockfileVersion":3,"requires":true,
		"packages":{"":{"name":"work","workspaces":["packages/*"]}}}
	T
	for i in 1 2 3 4; do
		mkdir -p packages/p$i
		cat >packages/p$i/package.json <<-T
			{"name":"p$i","version":"1.0.0","scripts":{"work":"sh ../../lines.sh $secs"}}
		T
	done
	cat >lines.sh <<-'T'
		end=$(($(date +%s) + $1))
		while [ "$(date +%s)" -lt "$end" ]; do
			echo "line one"
			echo "line two"
			sleep 0.005
		done
	T
}

cd "$work"
case $name in
biome*)
	python3 "$here/shipped/lsp_client.py" "$program" "$work" "$secs" &
	child=$!
	wait "$child"
	;;
turbo)
	turbo_workspace
	"$program" run work --no-daemon >out.txt 2>&1 &
	child=$!
	tries=0
	until grep -q 'line one' out.txt; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] && kill -0 "$child" 2>/dev/null || {
			cat out.txt >&2
			exit 1
		}
		sleep 0.1
	done
	echo "pid $child run"
	wait "$child"
	echo "lines $(grep -c 'line ' out.txt)"
	;;
deno)
	DENO_DIR=$work/cache "$program" run --allow-all --no-remote "$here/shipped/work.js" "$secs" &
	child=$!
	sleep 0.5
	kill -0 "$child" || exit 1
	echo "pid $child run"
	wait "$child"
	;;
esac
child=
