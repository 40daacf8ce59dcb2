# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Writes programs of XLA as messages xla.HloProto, field by field, and XSpaces that carry them. `random_program` makes one from a
seed, with what XProf's memory viewer looks at. The numbers of fields are those of XLA's public messages."""

import random

from xspace_files import event, field, line, number, plane

PRED, S32, F32, TUPLE, BF16, TOKEN, S4 = 1, 4, 11, 13, 16, 17, 21
BYTES = {PRED: 1, S32: 4, F32: 4, BF16: 2, S4: 1}
ALLOC, FREE, SHARE = 0, 1, 2


def packed(key, values):
    return field(key, b"".join(number(value) for value in values)) if values else b""


def shape(kind=F32, dims=(), layout=None, tiles=(), space=0, bits=0, dynamic=(), parts=()):
    if kind == TUPLE:
        return [field(2, TUPLE), *(field(4, part) for part in parts)]
    order = list(range(len(dims)))[::-1] if layout is None else layout
    made = [packed(1, order), *(field(6, packed(1, tile)) for tile in tiles), field(7, bits) if bits else b"", field(8, space) if space else b""]
    return [field(2, kind), packed(3, dims), packed(6, dynamic), field(5, made)]


def instruction(identifier, name, opcode, of, operands=(), called=(), op_name="", source="", source_line=0, frame=0, more=()):
    metadata = [field(2, op_name) if op_name else b"", field(3, source) if source else b"", field(4, source_line) if source_line else b"",
                field(15, frame) if frame else b""]
    return field(2, [field(1, name), field(2, opcode), field(3, of), field(7, metadata), field(35, identifier),
                     packed(36, operands), packed(38, called), *more])


def computation(identifier, name, instructions, root, fused=False):
    return field(3, [field(1, name), *instructions, field(5, identifier), field(6, root), field(7, 1) if fused else b""])


def frames(files, places, stack):
    """places: (file, line, column); stack: (place, parent). All count from 1."""
    return field(17, [*(field(1, file) for file in files),
                      *(field(3, [field(1, file), field(3, number_of_line), field(4, column)]) for file, number_of_line, column in places),
                      *(field(4, [field(1, place), field(2, parent)]) for place, parent in stack)])


def module(name, computations, entry=("main", 1), schedule=(), more=()):
    order = field(7, [field(1, [field(1, of), field(2, packed(1, ids))]) for of, ids in schedule])
    return field(1, [field(1, name), field(2, entry[0]), field(6, entry[1]), *computations, order, *more])


def buffer(identifier, size, made_by, index=(), color=0):
    return field(1, [field(1, identifier), field(2, size), field(3, [packed(3, index), field(4, made_by)]), field(4, color)])


def allocation(index, size, assigned, color=0, thread_local=False, parameter=None, live_out=False, constant=False, is_tuple=False):
    """assigned: (buffer, offset, size)."""
    flags = [field(3, 1) if thread_local else b"", b"" if parameter is None else field(5, 1) + field(6, parameter),
             field(7, 1) if live_out else b"", field(11, 1) if is_tuple else b"", field(12, 1) if constant else b""]
    return field(3, [field(1, index), field(2, size), *flags, field(8, color),
                     *(field(9, [field(1, each), field(2, offset), field(3, length)]) for each, offset, length in assigned)])


def heap(events, allocation_index=0):
    """events: (kind, buffer, instruction, shared_with)."""
    return field(4, [*(field(1, [field(1, kind), field(2, of), field(3, "main"), field(4, name), field(5, other) if other else b""])
                       for kind, of, name, other in events), field(3, allocation_index)])


def buffers(*parts):
    return field(3, list(parts))


def proto(*parts):
    return flat(parts)


def flat(parts):
    return b"".join(flat(part) if isinstance(part, (list, tuple)) else part for part in parts)


def space(programs):
    """An XSpace of a host with one event, and with programs: (number, "name(number)", bytes)."""
    keys = field(5, [field(1, 1), field(2, [field(1, 1), field(2, "Hlo Proto")])])
    return field(1, [field(2, "/host:metadata"), keys,
                     *(field(4, [field(1, of), field(2, [field(1, of), field(2, name), field(5, [field(1, 1), field(6, data)])])])
                       for of, name, data in programs)]) + plane("/host:CPU", [line(1, "main", [event(1, 0, 1)])], ["work"])


def random_shape(chance, deep=0):
    if deep < 2 and chance.random() < 0.2:
        return shape(TUPLE, parts=[random_shape(chance, deep + 1) for _ in range(chance.randrange(8))])
    dims = [chance.choice((1, 2, 3, 7, 128, 1000)) for _ in range(chance.randrange(4))]
    order = list(range(len(dims)))
    chance.shuffle(order)
    tiles = [[8, 128], [2, 1]][: chance.choice((0, 0, 0, 1, 2))] if len(dims) > 1 else ()
    dynamic = [chance.randrange(2) for _ in dims] if chance.random() < 0.1 else ()
    kind = chance.choice((PRED, S32, F32, F32, BF16, S4, TOKEN)) if chance.random() < 0.9 else chance.choice((19, 24, 29, 32, 15, 18))
    if kind == TOKEN:
        return [field(2, TOKEN)]
    return shape(kind, dims, order, tiles, chance.choice((0, 0, 1, 5)), 4 if kind == S4 else 0, dynamic)


def random_events(chance, own, names):
    """A valid life of buffers: each begins, some take the memory of a freed one, and most are freed."""
    events, live, freed, waiting = [], [], [], list(own)
    while waiting or live:
        what = chance.random()
        if waiting and (not live or what < 0.55):
            one = waiting.pop(chance.randrange(len(waiting)))
            if freed and what < 0.15:
                events.append((SHARE, one, names[one], freed.pop(chance.randrange(len(freed)))))
                live.append(one)
                continue
            events.append((ALLOC, one, names[one], 0))
            live.append(one)
            if waiting and chance.random() < 0.1:
                other = waiting.pop()
                events.append((SHARE, other, names[other], one))
                live.append(other)
        else:
            one = live.pop(chance.randrange(len(live)))
            if chance.random() < 0.9:
                events.append((FREE, one, names[one], 0))
                freed.append(one)
    return events


def random_program(seed):
    chance = random.Random(seed)
    count = chance.choice((1, 3, 12, 60))
    files, places = ["a.py", "", "odd:name.py"], [(1, 5, 2), (2, 6, 1), (3, 7, 0), (9, 8, 3)]
    stack = [(1, 0), (2, 1), (3, 2), (4, 1), (7, 0), (1, 3)]
    made, names = [], {}
    for i in range(1, count + 1):
        names[i] = f"op.{i}" if chance.random() < 0.9 else f"ünïcode.{i}"
        config = b""
        if chance.random() < 0.2:
            size = chance.choice((f'"{i * 4096}"', str(i * 4096), '"x"'))
            config = field(43, '{"used_scoped_memory_configs":[{"memory_space":' + chance.choice(('"1"', "1", "0")) + ',"size":' + size + "}]}")
        made.append(instruction(i, names[i], chance.choice(("fusion", "dot", "copy-start", "parameter")), random_shape(chance),
                                [chance.randrange(1, i)] if i > 1 else (), op_name=chance.choice(("", "jit(f)/add", "jit(f)/a->b")),
                                source=chance.choice(("", "", "b.py")), source_line=chance.randrange(3), frame=chance.randrange(8), more=[config]))
    parts, sizes, own_names, every, traces = [], {}, {}, [], []
    for i in range(1, count * 2 + 1):
        at = chance.randrange(1, count + 1)
        sizes[i] = chance.choice((0, 4, 100, 16383, 16384, 20000, 1 << 20, 1 << 33, 3 << 20))
        own_names[i] = names[at]
        every.append(i)
        parts.append(("buffer", i, at, [chance.randrange(3) for _ in range(chance.choice((0, 0, 1, 2)))]))
    chance.shuffle(every)
    colors = chance.sample((0, 1, 5), chance.randrange(1, 4))
    out, index, color_of = [], 0, {}
    temporary = {}
    while every:
        take = [every.pop() for _ in range(min(len(every), chance.choice((1, 1, 2, 5, 30))))]
        color = chance.choice(colors)
        color_of.update({each: color for each in take})
        kind = chance.choice(("temporary", "temporary", "parameter", "output", "both", "local", "constant"))
        # XProf reads past a list if two temporary allocations of one color have simulations, and others have none.
        if kind == "temporary" and temporary.setdefault(color, index) != index:
            kind = "constant"
        flags = {"parameter": {"parameter": 3}, "output": {"live_out": True}, "both": {"parameter": 0, "live_out": True},
                 "local": {"thread_local": True}, "constant": {"constant": True}}.get(kind, {})
        total = sum(sizes[each] for each in take)
        out.append(allocation(index, total, [(each, 64 * n, sizes[each]) for n, each in enumerate(take)], color,
                              is_tuple=chance.random() < 0.2, **flags))
        if kind == "temporary" and chance.random() < 0.9:
            traces.append(heap(random_events(chance, take, own_names), index))
        index += 1
    made_buffers = [buffer(i, sizes[i], at, part, color_of[i]) for _, i, at, part in parts]
    chance.shuffle(out)
    entry = computation(1, "main", made, count)
    return f"jit_{seed}", proto(module(f"jit_{seed}", [entry], more=[frames(files, places, stack)]), buffers(*made_buffers, *out, *traces)), sorted(colors)
