# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads and writes recordings of CUPTI's activity buffers (buffer_file.h), for tests. Fields of records are where CUDA's headers have
them; nothing here is the recorder's, the doubles' or the tracer's."""

import dataclasses
import pathlib
import struct

ABOUT, DATA, BUFFER, CLOCK, END = 1, 2, 3, 4, 5
TEXT, OWNED = 1, 2
FLUSH_TIMED_OUT, NOT_FLUSHED, FLUSH_FAILED = 1, 2, 4
COPY, SET, DRIVER, RUNTIME, DEVICE, KERNEL, OVERHEAD, SYNC, MEMORY, GRAPH = 1, 2, 4, 5, 8, 10, 17, 38, 49, 51
MAGIC = b"cuptibuf"


def check_of(block, content):
    check = 2166136261
    for byte in struct.pack("<I", block) + content:
        check = (check ^ byte) * 16777619 & 0xFFFFFFFF
    return check


@dataclasses.dataclass
class Record:
    bytes: bytes
    texts: dict  # offset: what its address led to

    def field(self, form, offset):
        found = struct.unpack_from("<" + form, self.bytes, offset)
        return found[0] if len(found) == 1 else found

    @property
    def kind(self):
        return self.field("I", 0)


@dataclasses.dataclass
class Buffer:
    bytes: bytes
    lengths: list
    pointers: list = dataclasses.field(default_factory=list)  # (offset, number of data, type)
    room: int = 1 << 20


class Recording:
    """All of a file; what is not as buffer_file.h says fails loudly."""

    def __init__(self, path=None):
        self.version, self.about, self.data, self.buffers, self.clocks = 130001, "", [], [], []
        self.dropped = self.unread = self.unsafe = self.flags = 0
        if path is not None:
            self._read(pathlib.Path(path).read_bytes())

    def _read(self, content):
        magic, form, self.version = struct.unpack_from("<8sII", content)
        assert (magic, form) == (MAGIC, 1)
        at, block = 16, None
        while block != END:
            block, check, count = struct.unpack_from("<IIQ", content, at)
            part = content[at + 16:at + 16 + count]
            assert len(part) == count and check == check_of(block, part)
            at += 16 + count
            self._take(block, part)
        assert at == len(content)

    def _take(self, block, part):
        if block == ABOUT:
            self.about += part.decode()
        elif block == DATA:
            self.data.append(part)
        elif block == CLOCK:
            self.clocks.append(struct.unpack("<5Q", part))
        elif block == BUFFER:
            valid, room, records, pointers = struct.unpack_from("<4I", part)
            lengths = list(struct.unpack_from(f"<{records}I", part, 16))
            at = 16 + 4 * records
            found = [struct.unpack_from("<3I", part, at + 12 * i) for i in range(pointers)]
            rest = part[at + 12 * pointers:]
            assert len(rest) == valid == sum(lengths) <= room
            self.buffers.append(Buffer(rest, lengths, found, room))
        else:
            assert block == END
            self.dropped, buffers, data, self.unread, self.unsafe, self.flags, version = struct.unpack("<Q6I", part)
            assert (buffers, data, version) == (len(self.buffers), len(self.data), self.version)

    def write(self, path):
        out = [struct.pack("<8sII", MAGIC, 1, self.version)]

        def add(block, part):
            out.append(struct.pack("<IIQ", block, check_of(block, part), len(part)) + part)

        add(ABOUT, self.about.encode())
        for data in self.data:
            add(DATA, data)
        for buffer in self.buffers:
            add(BUFFER, struct.pack("<4I", len(buffer.bytes), buffer.room, len(buffer.lengths), len(buffer.pointers)) +
                struct.pack(f"<{len(buffer.lengths)}I", *buffer.lengths) +
                b"".join(struct.pack("<3I", *pointer) for pointer in buffer.pointers) + buffer.bytes)
        for clock in self.clocks:
            add(CLOCK, struct.pack("<5Q", *clock))
        add(END, struct.pack("<Q6I", self.dropped, len(self.buffers), len(self.data), self.unread, self.unsafe, self.flags, self.version))
        pathlib.Path(path).write_bytes(b"".join(out))

    def records(self, *kinds):
        """Of all buffers, one after the other."""
        for buffer in self.buffers:
            begin, pointers = 0, list(buffer.pointers)
            for length in buffer.lengths:
                texts = {}
                while pointers and pointers[0][0] < begin + length:
                    offset, data, _ = pointers.pop(0)
                    texts[offset - begin] = self.data[data]
                record = Record(buffer.bytes[begin:begin + length], texts)
                begin += length
                if not kinds or record.kind in kinds:
                    yield record

    def without_addresses(self):
        """(bytes, what addresses in it led to by their offsets) of each record: what two processes' recordings have in common."""
        found = []
        for record in self.records():
            content = bytearray(record.bytes)
            for offset in record.texts:
                content[offset:offset + 8] = bytes(8)
            found.append((bytes(content), record.texts))
        return found

    def kernels(self):
        """(name, stream, grid, block, registers, static and dynamic shared memory, correlation, start, end)"""
        rows = [(r.texts[104].decode(), r.field("I", 48), r.field("3I", 52), r.field("3I", 64), r.field("H", 6), r.field("I", 76),
                 r.field("I", 80), r.field("I", 92), *r.field("2Q", 16)) for r in self.records(KERNEL)]
        return sorted(rows, key=lambda row: row[-2:])

    def copies(self):
        """(kind, source, destination, stream, bytes, correlation, start, end), but those between devices"""
        return sorted((*r.field("3B", 4), r.field("I", 40), r.field("Q", 8), r.field("I", 44), *r.field("2Q", 16))
                      for r in self.records(COPY))

    def sets(self):
        """(stream, bytes, correlation, start, end)"""
        return sorted((r.field("I", 40), r.field("Q", 8), r.field("I", 44), *r.field("2Q", 16)) for r in self.records(SET))

    def calls(self, *domains):
        """(thread, correlation, result, start, end)"""
        return sorted((*r.field("3I", 28), *r.field("2Q", 8)) for r in self.records(*(domains or (RUNTIME, DRIVER))))

    def waits(self):
        """(type, correlation, start, end)"""
        return sorted((r.field("I", 4), r.field("I", 24), *r.field("2Q", 8)) for r in self.records(SYNC))

    def graph_launches(self):
        """Those recorded as wholes: (graph, stream, correlation, start, end)"""
        return sorted((r.field("I", 28), r.field("I", 36), r.field("I", 4), *r.field("2Q", 8)) for r in self.records(GRAPH))

    def memory(self):
        """(allocation or release, kind, bytes, address, correlation, time)"""
        return sorted((*r.field("2I", 4), r.field("Q", 24), r.field("Q", 16), r.field("I", 12), r.field("Q", 32))
                      for r in self.records(MEMORY))
