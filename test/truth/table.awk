# SPDX-License-Identifier: Apache-2.0
# Rows of `match -f` as a table in Markdown: -v kind=short (groups, for README.md) or long (each row).
function add(g) {
	if (!(g in seen)) {
		seen[g] = ++groups_cnt
		groups[groups_cnt] = g
	}
	for (k in v)
		sum[g, k] += v[k]
	max(g, "start_p99")
	max(g, "end_p99")
	max(g, "warm_p99")
	max(g, "warm_end_p99")
}
function max(g, k) {
	if (v[k] > most[g, k])
		most[g, k] = v[k]
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
function us(ns) { return sprintf("%.1f", ns / 1000) }

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
}
kind == "short" { add(group(name)) }
kind == "long" {
	if (NR == 1) {
		print "| workload | | cold | over- taken | wakes: at once | own | redun- dant | late | after end | swal- lowed | be- lated | aborts | queue read | stolen | global, deep | alive, off | parks | guessed | given | locked | after | unseen | edge |"
		print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	}
	printf "| %s | %s | %s, %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s | %d | %d, %d | %d, %d | %d | %d | %d | %d | %d | %d | %d |\n", \
		name, v["is_equal"] ? "equal" : "**differs**", share(v["cold"], v["polls_both"]), us(v["cold_p99"]), \
		v["overtaken"], v["direct"], v["own"], v["redundant"], v["late"], v["after_end"], v["swallowed"], \
		v["belated"], v["aborts"], share(v["queue_read"], v["polls_both"]), v["queue_stolen"], \
		v["global_read"], v["global_deep"], v["alive_read"], v["alive_off"], v["parks"], v["guessed"], \
		v["given"], v["locked"], v["after"], v["unseen"], v["edge"]
}
END {
	if (kind != "short")
		exit
	print "| workloads | polls | spawns + ends | missing, invented | other worker or place | start, end p99 us | the same, cold caches too | wakes of dial9's, mapped | only ours | queue within 1 | lost | |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= groups_cnt; i++) {
		g = groups[i]
		printf "| %s | %s | %s | %d, %d | %d | %s, %s | %s, %s | %s, %s | %s | %s | %d | %s |\n", g, \
			num(sum[g, "polls"]), num(sum[g, "births"]), sum[g, "missing"], sum[g, "invented"], \
			sum[g, "wrong"], most[g, "warm_p99"] ? us(most[g, "warm_p99"]) : "-", us(most[g, "warm_end_p99"]), \
			us(most[g, "start_p99"]), us(most[g, "end_p99"]), num(sum[g, "wakes"]), \
			share(sum[g, "wakes"] - sum[g, "unmapped"], sum[g, "wakes"]), num(sum[g, "plain"]), \
			share(sum[g, "queue_read"] - sum[g, "far"], sum[g, "queue_read"]), sum[g, "lost"], \
			sum[g, "differ"] ? sum[g, "differ"] " differ" : "equal"
	}
}
