# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""An independent reader of .gpt files for the tests: `zstd -dc`, the protobuf wire format, and the column
residuals, written from FORMAT.md alone. It shares no code with the product, so that a fault of the writer
cannot hide behind the same fault of the reader. Only the layout of the tables is the product's, from `gpuprof schema`.
Fails loudly on anything it does not expect."""

import dataclasses
import json
import os
import pathlib
import struct
import subprocess

import numpy

from column_values import decode_column, fields, keyed, packed, predicted, zigzag
from work_sums import check_sums


def find_build():
    """The build folder whose programs are tested."""
    given = os.environ.get("GPUPROF_BUILD_DIR")
    folders = [pathlib.Path(given)] if given else [pathlib.Path(__file__).resolve().parents[2] / "build" / p for p in ("ci", "release", "dev")]
    for folder in folders:
        if (folder / "launcher" / "gpuprof").exists():
            return folder
    raise FileNotFoundError(f"no built gpuprof in {', '.join(map(str, folders))}; set GPUPROF_BUILD_DIR")


# The layout of the tables. test_schema.py checks it against FORMAT.md.
SCHEMA = json.loads(subprocess.run([str(find_build() / "launcher" / "gpuprof"), "schema", "--json"], capture_output=True, check=True).stdout)
_KINDS = {kind["name"]: kind["kind"] for kind in SCHEMA["kinds"]}
_ROWS = {kind["kind"]: [column for column in kind["columns"] if column["per"] == "row"] for kind in SCHEMA["kinds"] if kind["columns"]}
FIRST_COLUMN = 64  # field of column 0
assert all(column["field"] == FIRST_COLUMN + i for columns in _ROWS.values() for i, column in enumerate(columns))


def _kinds(*names):
    return [_KINDS[name] for name in names]


META, STRINGS, STACKS, MODULES, CLOCKS, THREADS, HEALTH = _kinds("meta", "strings", "stacks", "modules", "clocks", "threads", "health")
SIGNATURES, STREAMS, DEVICES, FUNCTIONS, GRAPH_NODES = _kinds("signatures", "streams", "devices", "functions", "graph_nodes")
COUNTERS, COUNTER, PYTHON, ROW_DETAIL = _kinds("counters", "counter", "python", "row_detail")
HLO_MODULES, WORK_SUMS = _kinds("hlo_modules", "work_sums")
HEAP, WAIT, OP, TENSOR, THREAD_EVENT, PROCESS_EVENT = _kinds("heap", "wait", "op", "tensor", "thread", "process")
MAPPING, RANGE, RANGE_PAYLOAD, LAUNCH, FILE_READ = _kinds("mapping", "range", "range_payload", "launch", "file_read")
KERNEL, MEMCPY, MEMSET, API, SYNC = _kinds("kernel", "memcpy", "memset", "api", "sync")
DEVICE_MEMORY, MEMORY_POOL, GRAPH_LAUNCH = _kinds("device_memory", "memory_pool", "graph_launch")
OVERHEAD, CUDA_EVENT, UNIFIED_MEMORY, HOST_FUNCTION = _kinds("overhead", "cuda_event", "unified_memory", "host_function")

# kind: (name, encoding) of each column. Here a row's moment is `time`, whether it is an end or not. In a chained table gap and duration are
# predicted from the spans before; its third column is the key.
_COLUMNS = {kind: tuple(("time" if i == 0 else column["name"], {"span": "plain", "ticks": "duration"}.get(column["encoding"], column["encoding"]))
                        for i, column in enumerate(columns)) for kind, columns in _ROWS.items()}

# (kind, column): (name, first bit, bits) of each value in a packed column.
_FIELDS = {(kind, column["name"]): [(field["name"], field["first_bit"], field["bits"]) for field in column["fields"]]
           for kind, columns in _ROWS.items() for column in columns if "fields" in column}


def unpack(kind, column, value):
    """The values in a packed column, of one row or of many: name -> int or array."""
    return {name: value >> first & (1 << bits) - 1 for name, first, bits in _FIELDS[kind, column]}


MUTEX, RWLOCK_READ, RWLOCK_WRITE, CONDITION, SEMAPHORE, BARRIER, JOIN = 1, 2, 3, 4, 5, 6, 7
THREAD_START, THREAD_NAME, THREAD_EXIT, THREAD_SEEN = 1, 2, 3, 4
RANGE_KINDS = dict(enumerate(("push_pop", "start_end", "mark", "name_thread", "name_category", "name_device", "name_context",
                              "name_stream", "name_event"), start=1))
RING_FULL, REENTERED, NO_RING, WRITE_ERROR, MEMORY_LIMIT, THREAD_EDGE = 1, 2, 3, 7, 10, 11  # losses
FORK, VFORK, SPAWN, EXEC, EXIT = 1, 2, 3, 4, 5
WAY_UNKNOWN, WAY_RETURN, WAY_UNDERSCORE, WAY_QUICK, WAY_ABORT, WAY_EXEC = 0, 1, 2, 3, 4, 5
(MALLOC, CALLOC, REALLOC, FREE, POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN, VALLOC, PVALLOC, REALLOCARRAY,
 FREE_SIZED, FREE_ALIGNED_SIZED) = range(1, 13)
FLAG_SAMPLED, FLAG_HAS_STACK, FLAG_COARSE_TIME, FLAG_TIMED_OUT, FLAG_INCOMPLETE, FLAG_NO_UNWINDER = 1, 2, 4, 8, 16, 32


def _chained(chunk, kind, count, base, tick):
    """The columns of a table whose spans follow each other: times in nanoseconds of CUPTI's clock."""
    data = lambda i: chunk[FIRST_COLUMN + i][-1] if FIRST_COLUMN + i in chunk else None
    names = [name for name, _ in _COLUMNS[kind]]
    keys = decode_column(data(2), count, "plain", 0)
    ends, duration = predicted(chunk, count, base, tick, keys, decode_column(data(0), count, "plain", 0), decode_column(data(1), count, "plain", 0))
    columns = {names[0]: ends, names[1]: duration, names[2]: keys}
    for i, (name, encoding) in enumerate(_COLUMNS[kind]):
        if i > 2:
            columns[name] = keyed(data(i), count, keys) if encoding == "keyed" else decode_column(data(i), count, encoding, 0)
    return columns


@dataclasses.dataclass
class Thread:
    track: int
    tid: int
    name: str
    dropped: int
    reentered: int
    tool: bool


class TraceFile:
    """One process. Event tables are dicts of numpy columns with `track` and `capture` beside them, rows in file
    order (per track: in the order of recording)."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        done = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True)
        assert done.returncode == 0, f"zstd -dc {path}: {done.stderr.decode()}"
        self.strings = {}
        self.definitions = {}  # of NVTX payloads: those of the strings that begin with a zero byte, as bytes
        self.threads = {}
        self.captures = []  # (capture, start?, trigger)
        self.losses = {}
        self.coarse_step_ns = 0
        self.notes = []
        self.frameworks = []
        self.pid = self.ppid = self.exit_way = self.exit_status = None
        self.executable = ""
        self.argv = []
        self.dropped = {}  # by track, of the chunks' dropped_before
        self._parts = {}
        self._blocks = []  # (kind, track, sampling factor, columns) of each chunk; no columns of a table
        self.summed_blocks = 0  # blocks that the file has the sums of
        self.signatures = {}  # id: dict
        self.streams = {}  # track: (device, context, stream)
        self.described = {}  # track: (priority, flag) of streams that CUPTI told of
        self.handles = {}  # track: (handle, since in ticks) of streams whose handle was told
        self.devices = {}  # id: dict
        self.contexts = {}  # id: (begin, end) in ticks, 0 where that was not told
        self.late_captures = set()  # that began when the process had CUDA already
        self.functions = {}  # function: name
        self.graph_nodes = {}  # node: (source node, graph, source graph, type)
        self.node_making = {}  # node that is not a clone: (ticks, thread)
        self.graphs = {}  # graph: (source, executable?, before the capture?)
        self.graph_modes = []  # (capture, mode, nodes)
        self.cupti_clock = []  # (cupti_ns, monotonic_ns)
        self.is_sampler = False
        self.counters = {}  # id: dict
        self.devices = {}  # track: dict
        for chunk in fields(done.stdout).get(1, []):
            self._blocks.append(self._add(fields(chunk)))
        self._tables = {kind: self._join(kind) for kind in _COLUMNS}

    def _add(self, chunk):
        one = lambda number, default=0: chunk.get(number, [default])[-1]
        kind = one(1)
        if kind == META:
            self._add_meta(fields(one(13)))
        elif kind == STRINGS:
            table = fields(one(8))
            ids = [int(i) for data in table.get(1, []) for i in packed(data)]
            self.strings.update(zip(ids, (text.decode("utf-8", "replace") for text in table.get(2, []))))
            self.definitions.update((i, text) for i, text in zip(ids, table.get(2, [])) if text[:1] == b"\0")
        elif kind == THREADS:
            for entry in fields(one(12)).get(2, []):
                thread = fields(entry)
                get = lambda number, default=0: thread.get(number, [default])[-1]
                key = get(1) or -get(2)
                self.threads[key] = Thread(get(1), get(2), get(3, b"").rstrip(b"\0").decode(), get(6), get(7),
                                           bool(get(8)))
        elif kind == HEALTH:
            health = fields(one(14))
            self.losses = {}
            self.coarse_step_ns = health.get(26, [0])[-1]
            for entry in health.get(1, []):
                loss = fields(entry)
                self.losses[loss.get(1, [0])[-1]] = loss.get(2, [0])[-1]
            self.notes = [fields(note).get(2, [b""])[-1].decode() for note in health.get(9, [])]
        elif kind == SIGNATURES:
            for entry in fields(one(25)).get(1, []):
                signature = fields(entry)
                get = lambda number, default=0: signature.get(number, [default])[-1]
                triple = lambda number: tuple(int(value) for value in packed(get(number, b"")))
                self.signatures[get(1)] = {"name": get(2), "device": get(3), "context": get(4), "grid": triple(5), "block": triple(6),
                                           "registers": get(8), "static_smem": get(9), "dynamic_smem": get(10), "matrix_ops": get(17)}
        elif kind == STREAMS:
            for entry in fields(one(26)).get(1, []):
                stream = fields(entry)
                get = lambda number: stream.get(number, [0])[-1]
                self.streams[get(1)] = (get(2), get(3), get(4))
                if get(8):
                    self.handles[get(1)] = (get(8), get(9))
                if get(7):
                    self.described[get(1)] = ((get(5) >> 1) ^ -(get(5) & 1), get(6))
        elif kind == DEVICES:
            devices = fields(one(27))
            if devices.get(2, [0])[-1]:
                self.late_captures.add(one(7))
            for entry in devices.get(3, []):
                life = fields(entry)
                before = self.contexts.get(life[1][-1], (0, 0))
                self.contexts[life[1][-1]] = tuple(life.get(number, [known])[-1] for number, known in ((2, before[0]), (3, before[1])))
            for entry in devices.get(1, []):
                device = fields(entry)
                get = lambda number, default=0: device.get(number, [default])[-1]
                self.devices[get(1)] = {"name": get(2, b"").decode(), "uuid": get(3, b""), "compute": (get(4), get(5)), "multiprocessors": get(6),
                                        "memory_bytes": get(9), "warps": get(12), "blocks": get(13), "mig": bool(get(19)),
                                        "gpu_instance": get(20), "buffer_bytes": get(22), "pinned": bool(get(23))}
        elif kind == FUNCTIONS:
            table = fields(one(28))
            self.functions.update(zip(table.get(1, []), table.get(2, [])))
        elif kind == GRAPH_NODES:
            self._add_graphs(fields(one(29)), one(7))
        elif kind == COUNTERS:
            self._add_counters(fields(one(30)))
        elif kind == CLOCKS:
            for entry in fields(one(11)).get(1, []):
                snapshot = fields(entry)
                if snapshot.get(6, [0])[-1] != 0:
                    self.cupti_clock.append((snapshot[6][-1], snapshot[2][-1]))
        elif kind == WORK_SUMS:
            self.summed_blocks += check_sums(fields(one(37)), self._blocks)
        elif kind in _COLUMNS:
            return kind, one(2), one(31) or 1, self._add_events(kind, chunk, one)
        else:
            assert kind in (STACKS, MODULES, HLO_MODULES), f"chunk kind {kind}"
        return kind, 0, 1, {}

    def _add_counters(self, table):
        for entry in table.get(1, []):
            counter = fields(entry)
            get = lambda number, default=0: counter.get(number, [default])[-1]
            self.counters[get(1)] = {"name": get(2, b"").decode(), "unit": get(3, b"").decode(), "divisor": get(4) or 1,
                                     "source": get(5, b"").decode(), "pid": get(6)}
        for entry in table.get(2, []):
            device = fields(entry)
            get = lambda number, default=0: device.get(number, [default])[-1]
            self.devices[get(1)] = {"index": get(2), "name": get(3, b"").decode(), "uuid": get(4, b"").decode(), "gpm": bool(get(5)),
                                    "mig": bool(get(6))}

    def _add_graphs(self, table, capture):
        column = lambda number: [int(v) for v in numpy.cumsum(zigzag(packed(table[number][-1])))] if number in table else []
        types = [int(v) for v in packed(table[5][-1])] if 5 in table else []
        for node, *rest in zip(column(1), column(2), column(3), column(4), types, strict=True):
            self.graph_nodes[node] = tuple(rest)
        for node, created, thread in zip(column(1), column(8), column(9)):  # older files lack the last two
            self.node_making.pop(node, None)  # the later entry counts
            if thread != 0:
                self.node_making[node] = (created, thread)
        for entry in table.get(6, []):
            made = fields(entry)
            get = lambda number: made.get(number, [0])[-1]
            self.graphs[get(1)] = (get(2), bool(get(3)), bool(get(4)))
        for entry in table.get(7, []):
            mark = fields(entry)
            self.graph_modes.append((capture, mark.get(2, [0])[-1], mark.get(3, [0])[-1]))

    def _add_meta(self, meta):
        self.is_sampler = bool(meta.get(24, [self.is_sampler])[-1])
        last = lambda number, old: meta.get(number, [old])[-1]
        self.pid, self.ppid = last(1, self.pid), last(2, self.ppid)
        self.executable = meta[4][-1].decode() if 4 in meta else self.executable
        self.argv = [word.decode() for word in meta[5]] if 5 in meta else self.argv
        self.exit_way, self.exit_status = last(16, self.exit_way), last(17, self.exit_status)
        self.frameworks += [text.decode() for text in meta.get(18, [])]
        for entry in meta.get(15, []):
            mark = fields(entry)
            self.captures.append((mark.get(1, [0])[-1], bool(mark.get(2, [0])[-1]), mark.get(4, [b""])[-1].decode()))

    def _add_events(self, kind, chunk, one):
        count, shift = one(4), one(5)
        is_chained = _COLUMNS[kind][0][1] == "gap"
        columns = _chained(chunk, kind, count, one(3), one(24, 1) or 1) if is_chained else {}
        for i, (name, encoding) in enumerate(() if is_chained else _COLUMNS[kind]):
            data = chunk[FIRST_COLUMN + i][-1] if FIRST_COLUMN + i in chunk else None
            columns[name] = decode_column(data, count, encoding, one(3)) << (shift if name in ("time", "duration") else 0)
        columns["track"] = numpy.full(count, one(2))
        columns["capture"] = numpy.full(count, one(7))
        self.dropped[one(2)] = self.dropped.get(one(2), 0) + one(6)
        self._parts.setdefault(kind, []).append(columns)
        return columns

    def _join(self, kind):
        names = [name for name, _ in _COLUMNS[kind]] + ["track", "capture"]
        parts = self._parts.get(kind, [])
        return {name: numpy.concatenate([p[name] for p in parts]) if parts else numpy.zeros(0, numpy.int64)
                for name in names}

    heap = property(lambda self: self._tables[HEAP])
    waits = property(lambda self: self._tables[WAIT])
    ops = property(lambda self: self._tables[OP])
    tensors = property(lambda self: self._tables[TENSOR])
    thread_events = property(lambda self: self._tables[THREAD_EVENT])
    process_events = property(lambda self: self._tables[PROCESS_EVENT])
    mappings = property(lambda self: self._tables[MAPPING])
    ranges = property(lambda self: self._tables[RANGE])
    range_payloads = property(lambda self: self._tables[RANGE_PAYLOAD])
    launches = property(lambda self: self._tables[LAUNCH])
    file_reads = property(lambda self: self._tables[FILE_READ])
    python = property(lambda self: self._tables[PYTHON])
    row_details = property(lambda self: self._tables[ROW_DETAIL])
    kernels = property(lambda self: self._tables[KERNEL])
    copies = property(lambda self: self._tables[MEMCPY])
    sets = property(lambda self: self._tables[MEMSET])
    calls = property(lambda self: self._tables[API])
    syncs = property(lambda self: self._tables[SYNC])
    device_memory = property(lambda self: self._tables[DEVICE_MEMORY])
    memory_pools = property(lambda self: self._tables[MEMORY_POOL])
    graph_launches = property(lambda self: self._tables[GRAPH_LAUNCH])
    overheads = property(lambda self: self._tables[OVERHEAD])
    unified_memory = property(lambda self: self._tables[UNIFIED_MEMORY])
    cuda_events = property(lambda self: self._tables[CUDA_EVENT])
    host_functions = property(lambda self: self._tables[HOST_FUNCTION])

    @property
    def program(self):
        return pathlib.Path(self.executable).name

    @property
    def records(self):
        return sum(len(table["time"]) for table in self._tables.values())

    @property
    def lost(self):
        return sum(self.losses.values())

    def kernel_rows(self):
        """Kernels as (name, stream, grid, block, registers, static and dynamic shared memory, correlation, start, end), by start."""
        table, rows = self.kernels, []
        for i in range(len(table["time"])):
            signature = self.signatures[int(table["signature"][i])]
            end, duration = int(table["time"][i]), int(table["duration"][i])
            rows.append((self.strings[signature["name"]], self.streams[int(table["track"][i])][2], signature["grid"], signature["block"],
                         signature["registers"], signature["static_smem"], signature["dynamic_smem"], int(table["correlation"][i]),
                         end - duration, end))
        return sorted(rows, key=lambda row: row[-2:])

    def node_rows(self):
        """What ran in graphs as (kind, stream, graph, node, correlation)."""
        return [(kind, self.streams[int(track)][2], int(graph), int(node), int(correlation))
                for kind, table in (("kernel", self.kernels), ("copy", self.copies), ("set", self.sets))
                for track, graph, node, correlation in zip(table["track"], table["graph"], table["graph_node"], table["correlation"])
                if graph != 0]

    def graph_rows(self):
        """Launches recorded as wholes as (graph, stream, correlation, start, end), by correlation."""
        table = self.graph_launches
        return sorted(((int(graph), self.streams[int(track)][2], int(correlation), int(time - duration), int(time))
                       for graph, track, correlation, time, duration in
                       zip(table["graph"], table["track"], table["correlation"], table["time"], table["duration"])), key=lambda row: row[2])

    def root_of(self, node):
        """The node behind all clones, None where the chain is not known."""
        while node in self.graph_nodes and self.graph_nodes[node][0] != 0:
            node = self.graph_nodes[node][0]
        return node if node in self.graph_nodes else None

    def call_rows(self):
        """API calls as (name, tid, correlation, result, start, end), by start."""
        table = self.calls
        tids = {thread.track: thread.tid for thread in self.threads.values()}
        return sorted(((self.strings[self.functions[int(table["function"][i])]], tids[int(table["track"][i])],
                        int(table["correlation"][i]), int(table["result"][i]), int(table["time"][i] - table["duration"][i]),
                        int(table["time"][i])) for i in range(len(table["time"]))), key=lambda row: row[-2:])

    def memory_rows(self):
        """Allocations and releases of GPU memory as dicts, by time."""
        table, rows = self.device_memory, []
        kinds = {2: "pinned", 3: "device", 5: "managed"}
        for i in range(len(table["time"])):
            row = {name: int(table[name][i]) for name in table}
            operation = unpack(DEVICE_MEMORY, "operation", row["operation"])
            device, context, stream = self.streams[row["track"]]
            rows.append({"t": {1: "alloc", 2: "free"}[operation["operation"]], "kind": kinds[operation["kind"]],
                         "pool_type": operation["pool_type"], "async": bool(operation["async"]), "address": row["address"] % 2**64, "bytes": row["bytes"], "pool": row["pool"] % 2**64,
                         "device": device, "context": context, "stream": stream, "correlation": row["correlation"], "time": row["time"],
                         "pc": row["pc"] % 2**64, "origin": self.strings.get(row["origin"], ""), "capture": row["capture"]})
        return sorted(rows, key=lambda row: row["time"])

    def pool_rows(self):
        """What was told of pools, as dicts, by time; `op` seen is at an allocation or release."""
        table, rows = self.memory_pools, []
        for i in range(len(table["time"])):
            row = {name: int(table[name][i]) % 2**64 for name in table}
            operation = unpack(MEMORY_POOL, "operation", row["operation"])
            row.update(op=("seen", "create", "destroy", "trim")[operation["operation"]], managed=bool(operation["managed"]),
                       pool_type=operation["pool_type"], device=self.streams[row["track"]][0])
            rows.append(row)
        return sorted(rows, key=lambda row: row["time"])

    def counter_rows(self):
        """(device, source, name, pid, time in ns of CLOCK_MONOTONIC, value as stored), in file order."""
        table, rows = self._tables[COUNTER], []
        for i in range(len(table["time"])):
            counter = self.counters[int(table["counter"][i])]
            rows.append((self.devices[int(table["track"][i])]["index"], counter["source"], counter["name"], counter["pid"],
                         int(table["time"][i]), int(table["value"][i])))
        return rows

    def range_rows(self):
        """NVTX rows as dicts, in file order; times in ticks."""
        table, rows = self.ranges, []
        tids = {thread.track: thread.tid for thread in self.threads.values()}
        for i in range(len(table["time"])):
            row = {name: int(table[name][i]) for name in table}
            operation, style = unpack(RANGE, "operation", row["operation"]), unpack(RANGE, "style", row["style"])
            rows.append({"tid": tids[row["track"]], "kind": RANGE_KINDS[operation["kind"]], "domain": self.strings.get(row["domain"], ""),
                         "name": self.strings.get(row["name"], ""), "depth": operation["depth"], "flags": operation["flags"],
                         "category": style["category"], "color": style["color"], "payload_type": operation["payload_type"],
                         "payload": row["payload"] % 2**64, "begin_tid": row["begin_thread"], "begin": row["time"] - row["duration"],
                         "end": row["time"], "capture": row["capture"]})
        return rows

    def payload_rows(self):
        """Extended payloads of NVTX as dicts, in file order: whose they are, their type (a number) or definition (bytes), and their bytes."""
        table, rows = self.range_payloads, []
        tids = {thread.track: thread.tid for thread in self.threads.values()}
        for i in range(len(table["time"])):
            row = {name: int(table[name][i]) for name in table}
            operation, value = unpack(RANGE_PAYLOAD, "operation", row["operation"]), row["value"] % 2**64
            if row["operation"] == 0:
                rows[-1]["bytes"] += value.to_bytes(8, "little")
                assert rows[-1]["time"] == row["time"]
                continue
            definition = row["definition"]
            rows.append({"tid": tids[row["track"]], "kind": RANGE_KINDS[operation["kind"]], "is_end": operation["end"],
                         "unused": operation["unused"], "handles": operation["handles"], "is_first": operation["first"],
                         "depth": operation["depth"], "domain": self.strings.get(row["domain"], ""), "time": row["time"], "size": value,
                         "definition": definition if definition < 1 << 24 else self.definitions[definition], "bytes": b""})
        for row in rows:
            assert len(row["bytes"]) == (row["size"] + 7) // 8 * 8
            own = len(row["bytes"]) - 16 * row["handles"]
            texts = struct.iter_unpack("<QQ", row["bytes"][own:])
            row["texts"] = {handle: self.strings[text] for handle, text in texts}
            row["bytes"] = row["bytes"][:own - row["unused"]]
        return rows

    def process_event(self, event):
        """Rows (a, b, text) of one kind of process event."""
        table = self.process_events
        return [(int(a), int(b), self.strings.get(int(text), "")) for e, a, b, text in
                zip(table["event"], table["a"], table["b"], table["text"]) if e == event]

    def wait_rows(self, kind=None, obj=None):
        """Waits as dicts, optionally of one kind or on one object."""
        table = self.waits
        rows = [{name: int(table[name][i]) for name in table} for i in range(len(table["time"]))]
        for row in rows:
            operation = unpack(WAIT, "operation", row["operation"])
            row["kind"], row["flags"] = operation["kind"], operation["flags"] | operation["limited"] << 6
        return [r for r in rows if kind in (None, r["kind"]) and obj in (None, r["object"])]

    def file_read_rows(self):
        """Reads of files as dicts with their thread and path, in file order."""
        table = self.file_reads
        rows = [{name: int(table[name][i]) for name in table} for i in range(len(table["time"]))]
        return [row | {"tid": self.threads[row["track"]].tid, "path": self.strings.get(row["path"], "")} for row in rows]

    def allocations(self, sizes=None):
        """(function, address, size) of allocations, optionally only of these sizes, in file order."""
        heap = self.heap
        operation = unpack(HEAP, "operation", heap["operation"])
        keep = operation["free"] == 0
        if sizes is not None:
            keep &= numpy.isin(heap["size"], list(sizes))
        return [(int(call), int(a), int(s)) for call, a, s in
                zip(operation["call"][keep], heap["address"][keep], heap["size"][keep])]

    def matched_frees(self, sizes):
        """How many allocations of these sizes were freed later, following each address through time."""
        heap = self.heap
        order = numpy.argsort(heap["time"], kind="stable")
        is_free = unpack(HEAP, "operation", heap["operation"])["free"]
        ours = set()
        freed = 0
        sizes = set(sizes)
        for i in order:
            address = int(heap["address"][i])
            if is_free[i]:
                freed += address in ours
                ours.discard(address)
            elif int(heap["size"][i]) in sizes:
                ours.add(address)
            else:
                ours.discard(address)
        return freed


def read_bundle(folder):
    """The program's processes."""
    return [TraceFile(path) for path in sorted(pathlib.Path(folder).glob("*.gpt")) if not path.name.startswith("gpu-")]


def read_samplers(folder):
    return [TraceFile(path) for path in sorted(pathlib.Path(folder).glob("gpu-*.gpt"))]
