# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts that put a server under load. Needs BUILD, $work (a directory) and
# $program (the load generator: test/targets, rich).

wait_line() { # FILE REGEX [PID]: for so long as that process lives
	local _
	for _ in $(seq 1500); do
		grep -qs "$2" "$1" && return
		[ $# -lt 3 ] || kill -0 "$3" 2>/dev/null || break
		sleep 0.02
	done
	echo "${0##*/}: no '$2' in time:" >&2
	cat "$1" >&2
	exit 1
}

cpu_ns() { # PID: of its living threads, as the scheduler counts it
	cat /proc/"$1"/task/*/schedstat | awk '{ s += $1 } END { printf "%.0f\n", s }'
}

serve() { # PID PORT RATE SECS: prints requests a second, p99 in us, the server's CPU ns a request
	local before after
	before=$(cpu_ns "$1")
	"$program" --mode load --addr "127.0.0.1:$2" --conns 8 --paths /,/,/,/spawn --rate "$3" \
		--secs "$4" >"$work/load" 2>&1 </dev/null
	after=$(cpu_ns "$1")
	awk -v ns=$((after - before)) '/requests_per_s/ { for (i = 1; i < NF; i++) v[$i] = $(i + 1)
		print v["requests_per_s"], v["p99_us"], ns / v["requests"] }' "$work/load"
}

sites() { # PID LEVEL: file offsets in the program that the agent would probe
	"$BUILD/dial9-agent" --pid "$1" --level "$2" --dry-run --json |
		jq -r '.files as $f | .sites[] | select($f[.file].tokio != "") | .file_off' | sort -un
}

# for awk: of list[name, 1..n]
median='function median(name, n,    i, j, t, v) {
	for (i = 1; i <= n; i++) v[i] = list[name, i]
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}'
