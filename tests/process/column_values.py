# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Decoders of the tests' own reader of .gpt files (trace_file.py): the protobuf wire format and the residuals of columns, written from
FORMAT.md alone. They share no code with the product."""

import numpy


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        assert shift < 70, "a varint of more than ten bytes"


def fields(data):
    """The fields of one message: number -> list of int (varint, fixed) or bytes."""
    found = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field reaches behind its message"
        elif wire == 5:
            value, at = int.from_bytes(data[at:at + 4], "little"), at + 4
        else:
            raise AssertionError(f"wire type {wire}")
        found.setdefault(number, []).append(value)
    return found


def packed(data):
    """Packed varints as uint64."""
    raw = numpy.frombuffer(data, dtype=numpy.uint8)
    if raw.size == 0:
        return numpy.zeros(0, numpy.uint64)
    ends = numpy.flatnonzero(raw < 0x80)
    assert ends.size and ends[-1] == raw.size - 1, "a packed column ends inside a varint"
    starts = numpy.concatenate(([0], ends[:-1] + 1))
    position = numpy.arange(raw.size) - numpy.repeat(starts, ends - starts + 1)
    parts = (raw & 0x7F).astype(numpy.uint64) << (position * 7).astype(numpy.uint64)
    return numpy.add.reduceat(parts, starts)


def zigzag(values):
    return (values >> numpy.uint64(1)).astype(numpy.int64) ^ -(values & numpy.uint64(1)).astype(numpy.int64)


def decode_column(data, count, encoding, base):
    if data is None:
        residuals = numpy.zeros(count, numpy.int64)
    else:
        residuals = zigzag(packed(data))
        assert residuals.size == count, "a column has another length than its chunk says"
    if encoding == "plain":
        return residuals
    values = numpy.cumsum(residuals)
    if encoding == "time":
        return values + base
    if encoding == "address":
        raw = values.astype(numpy.uint64)
        return (raw << numpy.uint64(4) | raw >> numpy.uint64(60)).astype(numpy.int64)
    return values


def keyed(data, count, keys):
    """Each value relative to the last one with the same key."""
    values = decode_column(data, count, "plain", 0).copy()
    for key in numpy.unique(keys):
        values[keys == key] = numpy.cumsum(values[keys == key])
    return values


def rounding_errors(chunk, count, tick):
    """Each row's two errors in one value, as FORMAT.md joins them."""
    errors, row = [0] * count, 0
    values = iter(packed(chunk[35][-1]).tolist() if 35 in chunk else [])
    pairs = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    for value in values:
        zeros, code = divmod(value, 9)
        row += zeros
        if code == 8:
            value = next(values)
            errors[row] = (value >> 1) ^ -(value & 1)
        else:
            errors[row] = pairs[code][0] * (tick + 2) + pairs[code][1]
        row += 1
    return errors


def predicted(chunk, count, base, tick, keys, gaps, durations):
    """Ends and durations from their residuals, as "Predicted spans" of proto/FORMAT.md describes. For values that do not wrap."""
    mask, mix = 2**64 - 1, 0x9E3779B97F4A7C15
    are_gaps_predicted, fraction = chunk.get(34, [0])[-1] != 0, chunk.get(32, [0])[-1]
    fraction = (fraction >> 1) ^ -(fraction & 1)
    errors = rounding_errors(chunk, count, tick)
    gaps, durations = gaps.tolist(), durations.tolist()
    window = tick + 2
    half = window // 2
    places, known = {}, {}
    before = older = 0
    at, rest = base, 1 << 31
    for i, key in enumerate(keys.tolist()):
        key &= mask
        place = (((older * mix & mask) ^ before) * mix & mask) ^ key
        older, before = before, key
        values = places.get(place)
        is_new = values is None
        if is_new:
            values = known.get(key)
        if values is None:
            gap, duration = gaps[i], durations[i]
            values = (gap, gap, gap, duration, duration, duration)
        else:
            _, gap2, gap1, _, duration2, duration1 = values
            gap = gaps[i] + (sorted(values[:3])[1] if are_gaps_predicted else 0)
            duration = durations[i] + sorted(values[3:])[1]
            values = (gap2, gap1, gap, duration2, duration1, duration)
        if not is_new or len(places) < 1024:
            places[place] = values
        if is_new and (key in known or len(known) < 4096):
            known[key] = values
        joined = errors[i]
        end_error = (joined + half) % window - half
        for ticks, error in ((gap, (joined - end_error) // window), (duration, end_error)):
            begin = at
            fine = rest + ticks * fraction
            at += ticks * tick + (fine >> 32) + error
            rest = 0 if error > 0 else 0xFFFFFFFF if error < 0 else fine & 0xFFFFFFFF
        gaps[i], durations[i] = at, at - begin
    return numpy.array(gaps, numpy.int64), numpy.array(durations, numpy.int64)
