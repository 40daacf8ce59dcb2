# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes dumps of PyTorch's flight recorder, of jobs whose fault is known: one dict a rank, as torch writes them."""

import json
import pickle

START_NS = 1_764_300_000_000_000_000
MS = 1_000_000
FRAMES = [{"name": "all_reduce", "filename": "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", "line": 2900}]


def frames(place):
    name, file, line = place
    return [*FRAMES, {"name": name, "filename": file, "line": line}]


class Job:
    """Ranks that run operations in groups. Times go on by 10 ms with each operation."""

    def __init__(self, size, backend="nccl", version="2.10", world="0"):
        self.size, self.backend, self.version, self.world = size, backend, version, world
        self.groups = {world: ("default_pg", list(range(size)))}
        self.entries = {rank: [] for rank in range(size)}
        self.sequence, self.messages = {}, {}
        self.now = START_NS

    def group(self, name, ranks, description="mesh"):
        self.groups[name] = (description, list(ranks))
        return name

    def add(self, rank, operation, group=None, state="completed", size=1024, dtype="Float", place=("train", "/home/me/train.py", 33), late_ms=0, p2p=False,
            same=False, **changes):
        """One operation of one rank. `same`: part of the batch that the operation before began."""
        group = self.world if group is None else group
        counts = self.messages if p2p else self.sequence
        if not same:
            counts[group, rank] = counts.get((group, rank), 0) + 1
        created = self.now + int(late_ms * MS)
        sizes = size if isinstance(size, list) else [[size]]
        entry = {
            "frames": frames(place), "record_id": len(self.entries[rank]), "pg_id": list(self.groups).index(group),
            "process_group": (group, self.groups[group][0]), "collective_seq_id": self.sequence.get((group, rank), 0),
            "p2p_seq_id": self.messages.get((group, rank), 0), "op_id": len(self.entries[rank]) + 1, "profiling_name": f"{self.backend}:{operation}",
            "time_created_ns": created, "input_sizes": sizes, "input_dtypes": [dtype], "output_sizes": sizes, "output_dtypes": [dtype], "state": state,
            "time_discovered_started_ns": created + MS // 10 if state != "scheduled" else None,
            "time_discovered_completed_ns": created + 5 * MS if state == "completed" else None,
            "retired": state == "completed", "timeout_ms": 600_000, "is_p2p": p2p}
        entry.update(changes)
        self.entries[rank].append(entry)

    def all(self, operation, group=None, without=(), late=None, **options):
        """One collective of all ranks of a group but some. `late` has the milliseconds of ranks."""
        for rank in self.groups[self.world if group is None else group][1]:
            if rank not in without:
                self.add(rank, operation, group, late_ms=(late or {}).get(rank, 0), **options)
        self.now += 10 * MS

    def dump(self, rank):
        status, config = {}, {}
        for number, (name, (description, ranks)) in enumerate(self.groups.items()):
            if rank not in ranks:
                continue
            config[name] = {"name": name, "desc": description, "ranks": str(ranks)}
            own = [each for each in self.entries[rank] if each["process_group"][0] == name and not each["is_p2p"]]
            done = [each["collective_seq_id"] for each in own if each["state"] == "completed"]
            status[str(number)] = {"last_enqueued_collective": max((each["collective_seq_id"] for each in own), default=-1),
                                   "last_started_collective": -1, "last_completed_collective": max(done, default=-1)}
        return {"version": self.version, "comm_lib_version": "2.27.3", "pg_config": config, "pg_status": status, "rank": rank, "world_size": self.size,
                "entries": self.entries[rank], "nccl_comm_state": {}}

    def write(self, folder, without=(), ring=None, form="pickle", change=None, name="rank_{}"):
        """Writes a file a rank. `ring`: only so many of the newest entries. `change` may alter a dump."""
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(self.size):
            if rank in without:
                continue
            dump = self.dump(rank)
            if ring is not None:
                dump["entries"] = dump["entries"][-ring:]
            if change is not None:
                dump = change(rank, dump)
            path = folder / name.format(rank)
            path.write_bytes(json.dumps(dump).encode() if form == "json" else pickle.dumps(dump, protocol=2))
        return folder
