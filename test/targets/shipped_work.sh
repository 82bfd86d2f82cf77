#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets a shipped program do real work for SECS seconds, for a recorder to attach meanwhile.
#   shipped_work.sh NAME DIR [SECS]     NAME and DIR are those of shipped.sh, which is called first
# Prints a line "pid N ROLE" for each Tokio process as soon as it works, at the end "rounds N ..."
# (turbo: "lines N"). Fails when no work was done. All it started is gone when it ends.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || {
	echo "usage: shipped_work.sh NAME DIR [SECS]" >&2
	exit 2
}
name=$1 secs=${3:-10}
program=$(sh "$here/shipped.sh" "$2" "$name" | sed "s/^$name //")
[ -n "$program" ] || exit 1
dir=$(cd "$2" && pwd)
work=$dir/work-$name
rm -rf "$work"
mkdir -p "$work"
export DO_NOT_TRACK=1 TURBO_TELEMETRY_DISABLED=1 TURBO_NO_UPDATE_NOTIFIER=1 DENO_NO_UPDATE_CHECK=1
export PYTHONDONTWRITEBYTECODE=1

children=
trap 'for p in $children; do kill "$p" 2>/dev/null || :; done' EXIT
trap 'exit 143' TERM INT

start() { # COMMAND...: in the background, pid in child
	"$@" &
	child=$!
	children="$child $children"
}

finish() { # waits for the last one started; then the others go
	wait "$child"
	children=${children#"$child "}
}

until_true() { # COMMAND...: for at most 30 s, while the last one started runs
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] && kill -0 "$child" 2>/dev/null || {
			cat out.txt >&2 2>/dev/null || :
			exit 1
		}
		sleep 0.1
	done
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

listens() { python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 1)"; }

load() { # PORT PATH...: HTTP requests until the time is over
	port=$1
	shift
	python3 "$here/shipped/http_client.py" "$port" "$secs" "$@"
}

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
biome* | dprint | ast-grep)
	export DPRINT_PLUGIN="$dir/node_modules/@dprint/json/plugin.wasm"
	start python3 "$here/shipped/lsp_client.py" "${name%-musl}" "$program" "$work" "$secs"
	finish
	;;
turbo)
	turbo_workspace
	start "$program" run work --no-daemon >out.txt 2>&1
	until_true grep 'line one' out.txt
	echo "pid $child run"
	finish
	echo "lines $(grep -c 'line ' out.txt)"
	;;
deno)
	export DENO_DIR="$work/cache"
	start "$program" run --allow-all --no-remote "$here/shipped/work.js" "$secs"
	sleep 0.5
	kill -0 "$child" || exit 1
	echo "pid $child run"
	finish
	;;
libsql | rspack)
	start node "$here/shipped/$name.js" "$program" "$work" "$secs"
	finish
	;;
obstore)
	export PYTHONPATH="$program"
	start python3 "$here/shipped/obstore_work.py" "$work" "$secs"
	finish
	;;
granian)
	export PYTHONPATH="$program:$here/shipped"
	port=$(free_port)
	start python3 -m granian --interface wsgi --workers 1 --port "$port" wsgi_app:app >out.txt 2>&1
	until_true listens "$port"
	# it serves in a process that it starts
	echo "pid $(pgrep -P "$child" | tail -n 1) worker"
	load "$port" /
	;;
uv)
	start python3 "$here/shipped/slow_index.py" 400 >index.txt
	until_true grep '^port' index.txt
	url=http://127.0.0.1:$(sed -n 's/^port //p' index.txt)/simple
	echo pkg0 >all.in
	start "$program" pip install --quiet --no-cache --no-config --python "$(command -v python3)" \
		--target env --index-url "$url" -r all.in
	echo "pid $child install"
	finish
	echo "rounds $(ls env/*.py | wc -l)"
	[ -f env/pkg399.py ]
	;;
mini-redis)
	port=$(free_port)
	start "$program" --port "$port" >out.txt 2>&1
	until_true listens "$port"
	echo "pid $child server"
	python3 "$here/shipped/resp_client.py" "$port" "$secs"
	;;
bore)
	port=$(free_port) remote=$(free_port)
	start python3 -m http.server --bind 127.0.0.1 --directory . "$port" >http.txt 2>&1
	until_true listens "$port"
	start "$program" server --bind-addr 127.0.0.1 >server.txt 2>&1
	until_true listens 7835
	echo "pid $child server"
	start "$program" local "$port" --to 127.0.0.1 --port "$remote" >out.txt 2>&1
	until_true listens "$remote"
	echo "pid $child local"
	load "$remote" /http.txt
	;;
dummyhttp | dufs)
	port=$(free_port)
	echo "some text" >file.txt
	if [ "$name" = dufs ]; then
		start "$program" --bind 127.0.0.1 --port "$port" . >out.txt 2>&1
	else
		start "$program" --port "$port" >out.txt 2>&1
	fi
	until_true listens "$port"
	echo "pid $child server"
	load "$port" /file.txt /
	;;
esac
