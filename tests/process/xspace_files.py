# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes XSpaces without any code of gpuprof: the numbers of the fields are those of proto/foreign/xspace.proto."""

import gzip
import struct


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _fields(data):
    """Yields the number and value of each field of a message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value - (1 << 64) if value >> 63 else value
            continue
        size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        yield key >> 3, data[at:at + size]
        at += size


def _last(data):
    return dict(_fields(data))


class Plane:
    def __init__(self, data):
        parts = list(_fields(data))
        self.name = _text(dict(parts).get(2))
        self.stat_names = self._map(parts, 5)
        self.names = self._map(parts, 4)
        self.display_names = self._map(parts, 4, 4)
        self.metadata_stats = {}
        for number, value in parts:
            if number == 4:
                entry = _last(value)
                stats = [stat for inner, stat in _fields(entry.get(2, b"")) if inner == 5]
                self.metadata_stats[entry.get(1, 0)] = dict(self._stat(stat) for stat in stats)
        self.stats = dict(self._stat(value) for number, value in parts if number == 6)
        self.lines = [Line(self, value) for number, value in parts if number == 3]

    @staticmethod
    def _map(parts, wanted, field=2):
        entries = [_last(value) for number, value in parts if number == wanted]
        return {entry.get(1, 0): _text(_last(entry.get(2, b"")).get(field)) for entry in entries}

    def _stat(self, data):
        parts = _last(data)
        name = self.stat_names.get(parts.pop(1, 0))
        for number, value in parts.items():
            if number == 2:
                return name, struct.unpack("<d", value)[0]
            if number == 5:
                return name, _text(value)
            return name, self.stat_names.get(value) if number == 7 else value
        return name, None


class Line:
    def __init__(self, plane, data):
        parts = list(_fields(data))
        last = dict(parts)
        self.id, self.name, self.timestamp_ns = last.get(1, 0), _text(last.get(2)), last.get(3, 0)
        self.events = [Event(plane, self, value) for number, value in parts if number == 4]


class Event:
    def __init__(self, plane, line, data):
        parts = list(_fields(data))
        last = dict(parts)
        self.metadata_id = last.get(1, 0)
        self.name = plane.names.get(self.metadata_id)
        self.display_name = plane.display_names.get(self.metadata_id) or self.name
        self.metadata = plane.metadata_stats.get(self.metadata_id, {})
        self.stats = dict(plane._stat(value) for number, value in parts if number == 4)
        offset, duration = last.get(2, 0), last.get(3, 0)
        self.start = line.timestamp_ns + offset // 1000
        self.end = line.timestamp_ns + (offset + duration) // 1000


def _text(data):
    return (data or b"").decode()


def read_planes(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return [Plane(value) for number, value in _fields(data) if number == 1]


def number(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(key, value):
    """Returns a field: of an int, or of bytes, a text or a list of fields."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    data = value.encode() if isinstance(value, str) else b"".join(value) if isinstance(value, list) else value
    return number(key << 3 | 2) + number(len(data)) + data


def plane(name, lines, events=(), stats=(), own=()):
    """Returns a plane: `events` and `stats` are names, numbered from 1; `own` are the plane's stats by number."""
    names = [field(4, [field(1, i), field(2, [field(1, i), field(2, each)])]) for i, each in enumerate(events, 1)]
    keys = [field(5, [field(1, i), field(2, [field(1, i), field(2, each)])]) for i, each in enumerate(stats, 1)]
    return field(1, [field(2, name), *lines, *names, *keys, *(field(6, [field(1, i), field(4, value)]) for i, value in own)])


def line(identifier, name, events, timestamp_ns=0):
    return field(3, [field(1, identifier), field(2, name), field(3, timestamp_ns), *events])


def event(metadata, start_ns, duration_ns, stats=()):
    """Returns an event: `stats` are pairs of a number and a value."""
    values = [field(4, [field(1, key), field(5 if isinstance(value, str) else 4, value)]) for key, value in stats]
    return field(4, [field(1, metadata), field(2, start_ns * 1000), field(3, duration_ns * 1000), *values])
