# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads a Perfetto trace with Perfetto's own messages, and refuses what trace_processor would drop or count as an error.

Prints what the trace holds as JSON. Run by .deps/peers/bin/python: trace_processor itself is not in a package. Its rules,
as its documentation and its importers have them: packets are sorted by time, and stay in their order if times are equal.
A sequence clears its state before it interns. A number is interned before it is used. A track is described before an
event is on it, and so is its parent. An end closes the slice that began last on its track.
"""

import collections
import json
import pathlib
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

BEGIN, END, INSTANT, COUNTER = (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END, TrackEvent.TYPE_INSTANT, TrackEvent.TYPE_COUNTER)
CLEARED, NEEDS = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED, TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
INTERNED = ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values", "function_names",
            "mapping_paths", "source_paths", "build_ids", "mappings", "frames", "callstacks")


def unknown_fields(message, path):
    for field in UnknownFieldSet(message):
        yield f"{path}: field {field.field_number} is not Perfetto's"
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                yield from unknown_fields(each, f"{path}.{field.name}")


class Sequence:
    def __init__(self):
        self.is_clear, self.tables = False, {}


class Checker:
    def __init__(self, data):
        self.errors, self.tracks, self.samples, self.events = [], {}, [], []
        self.flows = collections.defaultdict(list)
        self.sequences = collections.defaultdict(Sequence)
        self.clocks = []
        for number, packet in enumerate(Trace.FromString(data).packet):
            self.errors += unknown_fields(packet, f"packet {number}")
            self.take(number, packet)
        self.check_tracks()
        self.nest()

    def fail(self, words):
        if len(self.errors) < 50:
            self.errors.append(words)

    def find(self, sequence, table, number, words):
        if number not in sequence.tables.get(table, {}):
            self.fail(f"{words}: {table} {number} was not interned")
            return None
        return sequence.tables[table][number]

    def take(self, number, packet):
        if packet.HasField("clock_snapshot"):
            self.clocks.append({clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks})
            return
        sequence = self.sequences[packet.trusted_packet_sequence_id]
        if packet.trusted_packet_sequence_id == 0:
            self.fail(f"packet {number} has no sequence")
        if packet.sequence_flags & CLEARED:
            sequence.is_clear, sequence.tables = True, {}
        elif packet.sequence_flags & NEEDS and not sequence.is_clear:
            self.fail(f"packet {number} needs a state that was never cleared")
        for table in INTERNED:
            for entry in getattr(packet.interned_data, table):
                known = sequence.tables.setdefault(table, {})
                if entry.iid == 0 or entry.iid in known:
                    self.fail(f"packet {number}: {table} {entry.iid} is 0 or interned twice")
                known[entry.iid] = entry
                self.check_interned(sequence, table, entry, number)
        if packet.HasField("track_descriptor"):
            self.describe(packet.track_descriptor)
        if packet.HasField("track_event"):
            self.event(sequence, packet)
        if packet.HasField("perf_sample"):
            self.sample(sequence, packet)

    def check_interned(self, sequence, table, entry, number):
        words = f"packet {number}"
        if table == "frames":
            self.find(sequence, "function_names", entry.function_name_id, words)
            self.find(sequence, "mappings", entry.mapping_id, words)
            if entry.source_path_iid:
                self.find(sequence, "source_paths", entry.source_path_iid, words)
        elif table == "mappings":
            for path in entry.path_string_ids:
                self.find(sequence, "mapping_paths", path, words)
            if entry.build_id:
                self.find(sequence, "build_ids", entry.build_id, words)
        elif table == "callstacks":
            for frame in entry.frame_ids:
                self.find(sequence, "frames", frame, words)

    def describe(self, track):
        if track.uuid == 0 or track.uuid in self.tracks:
            self.fail(f"track {track.uuid} is 0 or described twice")
        if track.parent_uuid and track.parent_uuid not in self.tracks:
            self.fail(f"track {track.uuid}: its parent {track.parent_uuid} is not known")
        name = track.name or track.process.process_name or track.thread.thread_name
        self.tracks[track.uuid] = {
            "uuid": track.uuid, "name": name, "parent": track.parent_uuid, "is_counter": track.HasField("counter"),
            "unit": track.counter.unit_name, "pid": track.process.pid or track.thread.pid, "tid": track.thread.tid,
            "order": track.sibling_order_rank, "slices": [], "values": []}

    def check_tracks(self):
        for kind in ("process", "thread"):
            known = collections.Counter((t["pid"], t["tid"]) for t in self.tracks.values() if t["pid"] and bool(t["tid"]) == (kind == "thread"))
            for key, count in known.items():
                if count > 1:
                    self.fail(f"{kind} {key} has {count} tracks")

    def value(self, sequence, annotation, words):
        kind = annotation.WhichOneof("value")
        if annotation.dict_entries:
            return {self.key(sequence, each, words): self.value(sequence, each, words) for each in annotation.dict_entries}
        if annotation.array_values:
            return [self.value(sequence, each, words) for each in annotation.array_values]
        if kind == "string_value_iid":
            entry = self.find(sequence, "debug_annotation_string_values", annotation.string_value_iid, words)
            return entry.str.decode() if entry else None
        if kind is None:
            self.fail(f"{words}: an argument has no value")
            return None
        return getattr(annotation, kind)

    def key(self, sequence, annotation, words):
        entry = self.find(sequence, "debug_annotation_names", annotation.name_iid, words)
        return entry.name if entry else ""

    def event(self, sequence, packet):
        event, words = packet.track_event, f"event at {packet.timestamp}"
        if not packet.HasField("timestamp"):
            self.fail("an event has no time")
        if event.track_uuid not in self.tracks:
            self.fail(f"{words}: track {event.track_uuid} is not known")
            return
        track = self.tracks[event.track_uuid]
        if (event.type == COUNTER) != track["is_counter"]:
            self.fail(f"{words} does not fit its track {track['name']}")
        name = event.name
        if event.name_iid:
            entry = self.find(sequence, "event_names", event.name_iid, words)
            name = entry.name if entry else ""
        categories = [self.find(sequence, "event_categories", each, words) for each in event.category_iids]
        stack = []
        if event.callstack_iid:
            stack = self.frames(sequence, event.callstack_iid, words)
        args = {self.key(sequence, each, words): self.value(sequence, each, words) for each in event.debug_annotations}
        self.events.append((packet.timestamp, event.type, track, {
            "name": name, "category": categories[0].name if categories and categories[0] else "", "start": packet.timestamp, "args": args,
            "flows": list(event.flow_ids), "stack": stack, "value": event.double_counter_value}))

    def frames(self, sequence, number, words):
        stack = self.find(sequence, "callstacks", number, words)
        frames = [self.find(sequence, "frames", each, words) for each in stack.frame_ids] if stack else []
        if not frames:
            self.fail(f"{words}: a stack has no frame")
        return [sequence.tables["function_names"][frame.function_name_id].str.decode() for frame in frames if frame]

    def sample(self, sequence, packet):
        sample = packet.perf_sample
        self.samples.append({"time": packet.timestamp, "pid": sample.pid, "tid": sample.tid,
                             "stack": self.frames(sequence, sample.callstack_iid, "sample")})

    def nest(self):
        """Orders the events as trace_processor does, and closes slices."""
        open_slices = collections.defaultdict(list)
        self.events.sort(key=lambda event: event[0])
        for time, kind, track, event in self.events:
            stack = open_slices[track["uuid"]]
            if kind == BEGIN:
                if stack and stack[-1].get("limit", time) < time:
                    self.fail(f"{event['name']} begins behind the end of its caller")
                event["depth"] = len(stack)
                stack.append(event)
                track["slices"].append(event)
            elif kind == END:
                if not stack:
                    self.fail(f"an end at {time} on {track['name']} closes no slice")
                    continue
                stack.pop()["end"] = time
            elif kind == INSTANT:
                event["end"], event["depth"], event["is_instant"] = time, len(stack), True
                track["slices"].append(event)
            elif kind == COUNTER:
                track["values"].append((time, event["value"]))
            for flow in event["flows"]:
                self.flows[flow].append((track["uuid"], event["name"], event["args"].get("correlation")))
        for number, stack in open_slices.items():
            if stack:
                self.fail(f"{len(stack)} slices of {self.tracks[number]['name']} have no end")
        for flow, ends in self.flows.items():
            if len(ends) < 2:
                self.fail(f"the arrow {flow} has one end")


def main():
    checker = Checker(pathlib.Path(sys.argv[1]).read_bytes())
    for track in checker.tracks.values():
        for event in track["slices"]:
            event.pop("value")
    json.dump({"errors": checker.errors, "tracks": list(checker.tracks.values()), "samples": checker.samples,
               "flows": list(checker.flows.values()), "clocks": checker.clocks}, sys.stdout)


main()
