# SPDX-License-Identifier: Apache-2.0
"""A Perfetto trace decoded by Perfetto's own definitions:   check_perfetto.py NAME FILE

One TAP line without number; see run.sh."""
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from google.protobuf import unknown_fields


def unknown(message, path):
    """No field may be one that Perfetto does not know, in any message."""
    found = [f"{path}: field {f.field_number}" for f in unknown_fields.UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for v in value if field.is_repeated else [value]:
                found += unknown(v, f"{path}.{field.name}")
    return found


def check(trace):
    tracks, depth, flows, ends, last = {}, {}, set(), [], {}
    for packet in trace.packet:
        yield unknown(packet, "packet") or None
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            yield None if d.uuid and d.uuid not in tracks else f"track {d.uuid} twice"
            yield None if not d.parent_uuid or d.parent_uuid in tracks else f"parent of {d.uuid}"
            yield None if d.name else f"track {d.uuid} without a name"
            tracks[d.uuid] = d.HasField("counter")
            continue
        yield None if packet.HasField("track_event") and packet.trusted_packet_sequence_id else "packet"
        e = packet.track_event
        yield None if e.track_uuid in tracks else f"track {e.track_uuid} is not there"
        yield None if (e.type == TrackEvent.TYPE_COUNTER) == tracks[e.track_uuid] else "counter on a lane"
        if e.type == TrackEvent.TYPE_SLICE_BEGIN:
            depth[e.track_uuid] = depth.get(e.track_uuid, 0) + 1
            last[e.track_uuid] = packet.timestamp
        elif e.type == TrackEvent.TYPE_SLICE_END:
            depth[e.track_uuid] = depth.get(e.track_uuid, 0) - 1
            yield None if packet.timestamp >= last.get(e.track_uuid, 0) else "a slice ends before it begins"
        flows.update(e.flow_ids)
        ends += e.terminating_flow_ids
    yield None if not any(depth.values()) else f"open slices {depth}"
    yield None if all(f in flows for f in ends) else "a flow ends that never began"
    yield None if tracks else "no track"


def main():
    name, path = sys.argv[1:]
    with open(path, "rb") as f:
        trace = Trace.FromString(f.read())
    bad = [b for b in check(trace) if b]
    print(f"{'not ok' if bad else 'ok'} - perfetto: {name}")
    for b in bad[:5]:
        print(f"# {b}")
    sys.exit(bool(bad))


main()
