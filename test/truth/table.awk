# SPDX-License-Identifier: Apache-2.0
# Rows of `match -f` as a table in Markdown: -v kind=short (groups, for README.md), long (each row of
# level full) or levels (each of the others).
function add(g) {
	if (!(g in seen)) {
		seen[g] = ++groups_cnt
		groups[groups_cnt] = g
	}
	for (k in v)
		sum[g, k] += v[k]
	max(g, "start_p99", v["is_crowded"])
	max(g, "end_p99", v["is_crowded"])
}
function max(g, k, where) {
	if (v[k] > most[g, k, where])
		most[g, k, where] = v[k]
}
function times(g, where) {
	return us(most[g, "start_p99", where]) ", " us(most[g, "end_p99", where])
}
function group(row) {
	if (row ~ /\+late/) return "attached while it ran"
	if (row ~ /\+twice/) return "detached and attached again"
	if (row ~ /alive100k/) return "100,000 tasks alive"
	if (row ~ /storm/) return "spawn storm without pause"
	if (row ~ /tiny/) return "polls of 100 ns"
	if (row ~ /long_poll/) return "a poll of 3 s, of 10 s"
	if (row ~ /rebuild/) return "runtimes shut down and built again"
	if (row ~ /localset|current_thread|runtimes/) return "current_thread, LocalSet, three runtimes"
	if (row ~ /@1$/) return "1 worker"
	if (row ~ /@8/) return "8 workers"
	if (row ~ /@64/) return "64 workers"
	return "2 workers, each behaviour"
}
function num(n,   s, out) { # 1234567 -> 1,234,567
	s = sprintf("%d", n)
	while (length(s) > 3) {
		out = "," substr(s, length(s) - 2) out
		s = substr(s, 1, length(s) - 3)
	}
	return s out
}
function share(part, of,   p) { # never rounded up to 100
	if (!of)
		return "-"
	p = 100 * part / of
	if (part < of && p > 99.99)
		p = 99.99
	return (part == of ? "100" : sprintf("%.2f", p)) " %"
}
function part(of_them, all) { return all ? sprintf("%.2f %%", 100 * of_them / all) : "-" }
function us(ns) { return sprintf("%.1f", ns / 1000) }

function ends(k) { # share of all, p50, p99
	return v[k] ? sprintf("%s: %s, %s", part(v[k], v["next"] + v["park"] + v["other"] + v["elsewhere"]), \
			us(v[k "_p50"]), us(v[k "_p99"])) : "-"
}

{
	delete v
	for (i = 1; i <= NF; i++) {
		at = index($i, "=")
		v[substr($i, 1, at - 1)] = substr($i, at + 1) + 0
	}
	name = substr($1, 5)
	v["births"] = v["spawns"] + v["ends"]
	v["far"] = v["queue_stolen"] + v["queue_off"]
	v["differ"] = !v["is_equal"]
	v["is_crowded"] = v["at_once"] > cpus # not judged
	v["crowded"] = v["is_crowded"]
	v["rows"] = 1
}
kind == "levels" && v["level"] {
	if (!levels_cnt++) {
		print "| workload | | polls | missing, invented | start p99 us | all ends: p50, p99 us | by next start | at a park | at a wake, a lost CPU | polled elsewhere | early | handed off | time in polls | wakes mapped | own |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	}
	printf "| %s | %s | %s | %d, %d | %s | %s, %s | %s | %s | %s | %s | %d | %d | %+.1f %% | %s | %s |\n", name, \
		v["is_equal"] ? "equal" : "**differs**", num(v["polls"]), v["missing"], v["invented"], \
		us(v["start_p99"]), us(v["guess_p50"]), us(v["guess_p99"]), ends("next"), ends("park"), \
		ends("other"), ends("elsewhere"), v["early"], v["handed"], \
		v["theirs_ns"] ? 100 * (v["ours_ns"] / v["theirs_ns"] - 1) : 0, \
		name ~ /wakes/ ? num(v["wakes"]) ", " share(v["wakes"] - v["unmapped"], v["wakes"]) : "-", \
		name ~ /wakes/ ? v["own_unseen"] : "-"
}
v["level"] { next }
kind == "short" { add(group(name)) }
kind == "long" {
	if (NR == 1) {
		print "| workload | runs | | start p50, p99, end p99 us | cold, their p99 | over 5 us: cold, other | over- taken | wakes: at once | own | redun- dant | late | after end | swal- lowed | be- lated | aborts | queue read | stolen | global, deep | alive, off | parks | guessed | given | locked | after | unseen | edge |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	}
	printf "| %s | %d | %s | %s, %s, %s%s | %s, %s | %d, %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s | %d | %d, %d | %d, %d | %d | %d | %d | %d | %d | %d | %d |\n", \
		name, v["again"] + 1, v["is_equal"] ? "equal" : "**differs**", us(v["start_p50"]), us(v["start_p99"]), \
		us(v["end_p99"]), v["is_crowded"] ? " (" v["at_once"] " workers)" : "", share(v["cold"], v["polls_both"]), us(v["cold_p99"]), \
		v["far_cold"], v["far_warm"], v["overtaken"], v["direct"], v["own"], v["redundant"], v["late"], v["after_end"], v["swallowed"], \
		v["belated"], v["aborts"], share(v["queue_read"], v["polls_both"]), v["queue_stolen"], \
		v["global_read"], v["global_deep"], v["alive_read"], v["alive_off"], v["parks"], v["guessed"], \
		v["given"], v["locked"], v["after"], v["unseen"], v["edge"]
}
END {
	if (kind != "short")
		exit
	print "| workloads | polls | spawns + ends | missing, invented | other worker or place | start, end p99 us | starts over 5 us | wakes of dial9's, mapped | only ours | queue within 1 | lost | |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= groups_cnt; i++) {
		g = groups[i]
		printf "| %s | %s | %s | %d, %d | %d | %s%s | %s | %s, %s | %s | %s | %d | %s |\n", g, \
			num(sum[g, "polls"]), num(sum[g, "births"]), sum[g, "missing"], sum[g, "invented"], \
			sum[g, "wrong"], sum[g, "crowded"] < sum[g, "rows"] ? times(g, 0) : "", \
			!sum[g, "crowded"] ? "" : (sum[g, "crowded"] < sum[g, "rows"] ? " " : "") \
				"(" times(g, 1) ")", \
			part(sum[g, "far_cold"] + sum[g, "far_warm"], sum[g, "polls_both"]), num(sum[g, "wakes"]), \
			share(sum[g, "wakes"] - sum[g, "unmapped"], sum[g, "wakes"]), num(sum[g, "plain"]), \
			share(sum[g, "queue_read"] - sum[g, "far"], sum[g, "queue_read"]), sum[g, "lost"], \
			sum[g, "differ"] ? sum[g, "differ"] " differ" : "equal"
	}
}
