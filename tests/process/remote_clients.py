# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Clients and servers of remote captures, for tests/process/test_agent.py. Interpreters with TensorFlow, JAX or xprof run it:

    remote_clients.py trace ADDRESS LOGDIR MILLISECONDS      TensorFlow's client
    remote_clients.py monitor ADDRESS                        TensorFlow's client
    remote_clients.py continuous ADDRESS LOGDIR              xprof's client: start, snapshot, stop
    remote_clients.py serve-tensorflow PORT                  TensorFlow's server in a program that works
    remote_clients.py serve-jax PORT                         JAX's server in a program that works
    remote_clients.py ask-with-paths ADDRESS FOLDER          a client that names paths in FOLDER, by grpcio
    remote_clients.py serve-paths PORT                       a server that names paths in its answer, by grpcio
    remote_clients.py train                                  PyTorch at work, in steps
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"


def trace(address, logdir, milliseconds):
    import tensorflow
    print("asking", flush=True)
    tensorflow.profiler.experimental.client.trace(address, logdir, int(milliseconds), num_tracing_attempts=1)


def monitor(address):
    import tensorflow
    print(tensorflow.profiler.experimental.client.monitor(address, duration_ms=100, level=1))


def continuous(address, logdir):
    from xprof.convert import _pywrap_profiler_plugin as plugin
    plugin.start_continuous_profiling(address, {})
    plugin.get_snapshot(address, logdir)
    plugin.stop_continuous_profiling(address)


def serve_tensorflow(port):
    import tensorflow
    tensorflow.profiler.experimental.server.start(int(port))
    multiply = tensorflow.function(lambda x: tensorflow.reduce_sum(tensorflow.matmul(x, x)))
    work(lambda: multiply(tensorflow.ones((64, 64))))


def serve_jax(port):
    import jax
    jax.profiler.start_server(int(port))
    multiply = jax.jit(lambda x: (x @ x).sum())
    work(lambda: multiply(jax.numpy.ones((64, 64))).block_until_ready())


PROFILE = "/tensorflow.ProfilerService/Profile"


def field(number, data):
    """A field of bytes of a message of protobuf."""
    length = len(data)
    return bytes([number << 3 | 2, length & 0x7f | 0x80, length >> 7]) + data


def ask_with_paths(address, folder):
    import grpc
    root = f"{folder}/root".encode()
    request = field(4, field(10, root)) + field(5, root) + field(6, b"../../../" + folder.encode() + b"/run") + field(7, b"../host")
    with grpc.insecure_channel(address) as channel:
        print(len(channel.unary_unary(PROFILE)(request)))


def serve_paths(port):
    import concurrent.futures
    import grpc
    trace = field(1, field(2, b"/host:CPU")) + field(1, field(2, b"Task Environment"))
    names = (b"../../../escaped.xplane.pb", b"/escaped.xplane.pb", b"..xplane.pb", b"\xff\n\x1b[2Jxplane.pb", b"page.html", b"xplane.pb")
    answer = b"".join(field(6, field(1, name) + field(2, trace)) for name in names)
    handlers = {"Profile": grpc.unary_unary_rpc_method_handler(lambda request, context: answer)}
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tensorflow.ProfilerService", handlers),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


def train():
    import torch
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def step():
        optimizer.zero_grad()
        model(torch.randn(32, 64)).sum().backward()
        optimizer.step()

    work(step)


def work(step):
    """Works until nobody is there."""
    step()
    print("ready", flush=True)
    while os.getppid() != 1:
        step()


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
