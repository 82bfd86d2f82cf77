#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Counts the events that dial9's own JavaScript toolkit (0.5.7) sees in a trace, by wire name:
//   node toolkit.js TOOLKIT_DIR TRACE
// Prints "NAME COUNT" lines, sorted. Exit code 1 when the toolkit calls the trace truncated.
const fs = require('fs');
const path = require('path');
const { parseTrace, EVENT_TYPES } = require(path.join(process.argv[2], 'trace_parser.js'));

const names = {
  [EVENT_TYPES.PollStart]: 'PollStartEvent',
  [EVENT_TYPES.PollEnd]: 'PollEndEvent',
  [EVENT_TYPES.WorkerPark]: 'WorkerParkEvent',
  [EVENT_TYPES.WorkerUnpark]: 'WorkerUnparkEvent',
  [EVENT_TYPES.WakeEvent]: 'WakeEventEvent',
};

async function main() {
  const trace = await parseTrace(fs.readFileSync(process.argv[3]));
  const counts = new Map();
  const add = (name, count) => count && counts.set(name, (counts.get(name) || 0) + count);
  for (const event of trace.events) add(names[event.eventType] || `type ${event.eventType}`, 1);
  for (const event of trace.customEvents) add(event.name, 1);
  add('CpuSampleEvent', trace.cpuSamples.length);
  add('RuntimeMetricsEvent', trace.runtimeMetrics.length);
  add('ClockSyncEvent', trace.clockSyncAnchors.length);
  // these the toolkit keeps by key, not one by one
  add('TaskSpawnEvent', trace.taskSpawnTimes.size);
  add('TaskTerminateEvent', trace.taskTerminateTimes.size);
  const lines = [...counts].map(([name, count]) => `${name} ${count}`);
  console.log(lines.sort().join('\n'));
  process.exit(trace.truncated ? 1 : 0);
}

main();
