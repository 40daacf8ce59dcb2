#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""How long a trace takes from a profiler server to its client: gpuprof's server beside one of grpcio, with the same bytes.

    tests/bench/agent.py --build build/bench

Clients are grpcio's and `gpuprof capture`. The capture itself lasts no time, so this is the way alone. The interpreter
is that of .deps/tensorflow, which has grpcio."""

import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERPRETER = ROOT / ".deps" / "tensorflow" / "bin" / "python"
METHOD = "/tensorflow.ProfilerService/Profile"


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def answer_of(size):
    """A ProfileResponse with a trace of this size."""
    data = b"\x0a\x09xplane.pb\x12" + varint(size) + b"\x0a" + varint(size - 5) + b"x" * (size - 5)
    return b"\x32" + varint(len(data)) + data


def serve(size):
    import grpc
    answer = answer_of(size)
    handlers = {"Profile": grpc.unary_unary_rpc_method_handler(lambda request, context: answer)}
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), options=[("grpc.max_send_message_length", -1)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tensorflow.ProfilerService", handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


def ask_by_grpcio(port):
    import grpc
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)]) as channel:
        begin = time.monotonic()
        answer = channel.unary_unary(METHOD)(b"", timeout=600)
        return time.monotonic() - begin, len(answer)


def ask_by_gpuprof(gpuprof, port):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        subprocess.run([gpuprof, "capture", f"127.0.0.1:{port}", "--for", "0s", "-o", folder + "/logs"], check=True,
                       stderr=subprocess.DEVNULL)
        took = time.monotonic() - begin
        return took, sum(path.stat().st_size for path in pathlib.Path(folder).glob("logs/plugins/profile/*/*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--bytes", type=int, default=60_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    try:
        import grpc  # noqa: F401
    except ImportError:
        if not INTERPRETER.exists():
            return print("grpcio is not installed: scripts/setup --only test")
        return subprocess.run([str(INTERPRETER), *sys.argv], check=True)
    build = pathlib.Path(options.build)
    servers = {"gpuprof": [str(build / "tests" / "bench" / "agent_server"), str(options.bytes)],
               "grpcio": [sys.executable, __file__, "--serve", str(options.bytes)]}
    running = {name: subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for name, command in servers.items()}
    ports = {name: int(process.stdout.readline()) for name, process in running.items()}
    clients = {"grpcio": ask_by_grpcio, "gpuprof": lambda port: ask_by_gpuprof(str(build / "launcher" / "gpuprof"), port)}
    times = {(server, client): [] for server in servers for client in clients}
    for _ in range(options.rounds):
        for server, client in times:
            took, size = clients[client](ports[server])
            assert size >= options.bytes, (server, client, size)
            times[server, client].append(took)
    print(f"{options.bytes / 1e6:.0f} MB, seconds: median (least) of {options.rounds} rounds")
    for (server, client), took in times.items():
        print(f"  server {server:8} client {client:8} {statistics.median(took):6.2f} ({min(took):.2f})")
    for process in running.values():
        process.kill()
    return None


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        main()
