#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// What dial9's own JavaScript toolkit (0.5.7) finds in a trace, as one JSON object that differ.bats
// compares with our answers:
//   node differ.js TOOLKIT_DIR TRACE
// Its functions are called as its scripts call them; the thresholds of flags are those of its
// red_flag_scan.js, which itself stops with a TypeError on any trace that holds custom events.
const fs = require('fs');
const path = require('path');
const kit = process.argv[2];
const { parseTrace, EVENT_TYPES } = require(path.join(kit, 'trace_parser.js'));
const a = require(path.join(kit, 'trace_analysis.js'));

const group = (list, key, value) => {
  const out = {};
  for (const x of list) {
    const row = (out[key(x)] ??= { count: 0, sum: 0, max: 0 });
    const v = value(x);
    row.count++;
    row.sum += v;
    row.max = Math.max(row.max, v);
  }
  return out;
};

async function main() {
  const trace = await parseTrace(fs.readFileSync(process.argv[3]));
  const ids = [...new Set(trace.events
    .filter((e) => e.eventType !== EVENT_TYPES.QueueSample && e.eventType !== EVENT_TYPES.WakeEvent)
    .map((e) => e.workerId))].sort((x, y) => x - y);
  const spans = a.buildWorkerSpans(trace.events, ids, trace.maxTs, trace.blockInPlaceGaps);
  a.attachCpuSamples(trace.cpuSamples, spans.workerSpans);
  // Tokio's own measure of a wait stands in some traces; without it the toolkit goes by wakes, as we do
  const measured = [];
  for (const w of ids)
    for (const p of spans.workerSpans[w].polls) {
      if (p.schedulingDelay != null) measured.push([w, p.start, p.schedulingDelay]);
      p.schedulingDelay = null;
    }
  const delays = a.computeSchedulingDelays(spans.workerSpans, ids, spans.wakesByTask);
  const queue = a.globalQueueSeries(trace, spans);
  const polls = ids.flatMap((w) => spans.workerSpans[w].polls.map((p) => ({ ...p, w })));
  const whole = polls.filter((p) => !p.openEnded);
  const alive = a.buildActiveTaskTimeline(trace.taskSpawnTimes, trace.taskTerminateTimes).activeTaskSamples;

  // each delay by how many wakes of the task lie behind the start of its poll before: where it is
  // one, the first and the latest are the same. zero: a wake at the very start of a poll, not listed
  const byTask = {};
  for (const p of polls) (byTask[p.taskId] ??= []).push(p);
  const since = new Map();
  for (const list of Object.values(byTask)) {
    list.sort((x, y) => x.start - y.start);
    list.forEach((p, i) => since.set(`${p.w} ${p.start}`, i ? list[i - 1].start : -Infinity));
  }
  const firstAt = (list, ns) => {
    let lo = 0, hi = list.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (list[mid].timestamp < ns) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  };
  const kinds = { same: [], several: [], old: [], zero: [] };
  for (const d of delays) {
    const wakes = spans.wakesByTask[d.taskId];
    const count = firstAt(wakes, d.pollTime) - firstAt(wakes, since.get(`${d.worker} ${d.pollTime}`));
    kinds[count === 1 ? 'same' : count ? 'several' : 'old'].push([d.worker, d.pollTime, d.delay]);
  }
  for (const p of polls) {
    const wakes = spans.wakesByTask[p.taskId] || [];
    if (wakes[firstAt(wakes, p.start)]?.timestamp === p.start) kinds.zero.push([p.w, p.start]);
  }

  const flags = [];
  const longest = whole.reduce((m, p) => Math.max(m, p.end - p.start), 0);
  if (longest > 10e6) flags.push(`long-poll ${longest > 50e6 ? 'critical' : 'warning'}`);
  const late = delays.filter((d) => d.delay > 5e6);
  if (late.length) flags.push(`late-poll ${late.some((d) => d.delay > 50e6) ? 'critical' : 'warning'}`);
  const deepest = queue.reduce((m, s) => Math.max(m, s.global), 0);
  if (deepest > 100) flags.push(`queue-depth ${deepest > 1000 ? 'critical' : 'warning'}`);
  const parks = ids.flatMap((w) => spans.workerSpans[w].parks.map((p) => ({ ...p, w })));
  const waited = parks.filter((p) => p.schedWait > 1e6);
  if (waited.length) flags.push(`kernel-delay ${waited.some((p) => p.schedWait > 10e6) ? 'warning' : 'info'}`);
  if (ids.some((w) => {
    const active = spans.workerSpans[w].actives;
    return active.length > 10 &&
      active.filter((x) => x.ratio < 0.5 && x.end - x.start > 1e6).length > active.length * 0.1;
  })) flags.push('cpu-contention warning');
  const last = alive.length ? alive[alive.length - 1].count : 0;
  if (alive.length > 10 && last > 2 * alive[0].count && last === Math.max(...alive.map((s) => s.count)))
    flags.push('task-leak warning');

  const sched = trace.cpuSamples.filter((s) => s.source === 1);
  const made = a.buildSpanData(trace.customEvents);
  console.log(JSON.stringify({
    types: group(whole, (p) => p.spawnLoc, (p) => p.end - p.start),
    workers: group(whole, (p) => p.w, (p) => p.end - p.start),
    parks: group(parks.filter((p) => p.schedWait !== undefined), (p) => p.w, (p) => p.end - p.start),
    longest: whole.map((p) => [p.end - p.start, p.start, p.taskId, p.w])
      .sort((x, y) => y[0] - x[0] || x[1] - y[1]).slice(0, 20),
    queue: { samples: queue.length, max: deepest, sum: queue.reduce((s, q) => s + q.global, 0) },
    local_max: spans.maxLocalQueue,
    spawned: trace.taskSpawnTimes.size,
    ended: trace.taskTerminateTimes.size,
    samples: trace.cpuSamples.filter((s) => s.source === 0).length,
    samples_in_polls: trace.cpuSamples.filter((s) => s.source === 0 && s.inPoll).length,
    off_samples: sched.length,
    off_samples_in_polls: sched.filter((s) => s.inPoll).length,
    spans: group(made.allSpans, (s) => s.spanName, (s) => s.end - s.start),
    unmatched: made.unmatchedSpans.length,
    delays: { total: delays.length, measured, ...kinds },
    flags: flags.sort(),
  }));
}

main();
