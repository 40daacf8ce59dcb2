# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Makes programs of XLA and what its own analysis says of them. Runs in the environment of .deps/tensorflow.

    hlo_programs.py FOLDER

Writes messages xla.HloProto: NAME-raw.pb as JAX lowers the program and, of some, NAME.pb as XLA compiles it for a CPU.
costs.json has the answers of XLA's analysis."""

import json
import pathlib
import sys

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lib import _jax
from jaxlib import _hlo

PROGRAMS = {}


def array(*shape, type=jnp.float32):
    return jax.ShapeDtypeStruct(shape, type)


def add(name, function, *arguments):
    PROGRAMS[name] = (function, arguments)


def images(size=(17, 23), features=8, batch=2):
    return array(batch, *size, features)


def convolution(stride=(1, 1), padding="SAME", **more):
    return lambda x, k: lax.conv_general_dilated(x, k, stride, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)


def attention(q, k, v):
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8.0, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", scores, v)


def add_products():
    add("dot", jnp.matmul, array(64, 32), array(32, 16))
    add("dot_bf16", jnp.matmul, array(64, 128, type=jnp.bfloat16), array(128, 16, type=jnp.bfloat16))
    add("dot_transposed", lambda a, b: a.T @ b.T, array(32, 64), array(16, 32))
    add("dot_batches", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), array(4, 64, 32), array(4, 32, 16))
    add("dot_two_contracted", lambda a, b: jnp.einsum("bij,kij->bk", a, b), array(4, 64, 32), array(8, 64, 32))
    add("dot_vector", jnp.matmul, array(64, 32), array(32))
    add("dot_outer", jnp.outer, array(64), array(32))
    add("dot_int8", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
        array(64, 32, type=jnp.int8), array(32, 16, type=jnp.int8))
    add("dot_large", lambda a, b: jax.nn.relu(a @ b) + 1, array(1024, 2048), array(2048, 1111))
    for padding in ("SAME", "VALID"):
        for stride in (1, 2, 3):
            add(f"convolution_{padding}_{stride}", convolution((stride, stride), padding), images(), array(3, 5, 8, 16))
    add("convolution_dilated_kernel", convolution(rhs_dilation=(2, 3)), images(), array(3, 3, 8, 16))
    add("convolution_dilated_input", convolution(padding=((2, 2), (1, 3)), lhs_dilation=(2, 3)), images((9, 7)), array(3, 3, 8, 16))
    add("convolution_groups", convolution(feature_group_count=4), images((9, 7)), array(3, 3, 2, 16))
    add("convolution_batch_groups", convolution(batch_group_count=2), images((9, 7), batch=4), array(3, 3, 8, 16))
    add("convolution_negative_padding", convolution(padding=((-1, 2), (0, -2))), images(), array(3, 3, 8, 16))
    add("convolution_1d", lambda x, k: lax.conv_general_dilated(x, k, (2,), ((1, 1),), dimension_numbers=("NWC", "WIO", "NWC")),
        array(4, 33, 8), array(5, 8, 16))
    add("convolution_3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 2, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
        array(1, 5, 6, 7, 4), array(3, 3, 3, 4, 8))
    add("convolution_gradient", jax.grad(lambda x, k: convolution((2, 2))(x, k).sum(), (0, 1)), images(), array(3, 3, 8, 16))


def add_elementwise():
    functions = (jnp.exp, jnp.log, jnp.tanh, jnp.sin, jnp.cos, jnp.tan, jnp.sqrt, lax.rsqrt, jnp.cbrt, lax.erf, jnp.expm1, jnp.log1p,
                 lax.logistic, jnp.abs, jnp.sign, jnp.floor, jnp.round, jnp.isfinite, jax.nn.gelu, jnp.sinh, jnp.arccos, jnp.arccosh,
                 lax.lgamma, lax.erf_inv)
    for function in functions:
        add(f"of_one_{function.__name__}", function, array(37, 41))
    for function in (jnp.add, jnp.power, jnp.arctan2, jnp.maximum, jnp.divide, jnp.remainder, jnp.less):
        add(f"of_two_{function.__name__}", function, array(37, 41), array(37, 41))
    add("broadcast", lambda a, b: a * b + b, array(37, 41), array(41))
    add("clip", lambda a: jnp.clip(a, 0, 1), array(37, 41))
    add("integers", lambda a, b: (a << 1) | (b >> 2) ^ (a & lax.population_count(b)) + lax.clz(a), array(100, type=jnp.int32),
        array(100, type=jnp.int32))
    add("complex", lambda a, b: a * b + jnp.conj(a), array(37, type=jnp.complex64), array(37, type=jnp.complex64))
    add("types", lambda a: lax.bitcast_convert_type(a.astype(jnp.float16) * 2, jnp.int16), array(37, 41))
    add("precision", lambda x: lax.reduce_precision(x, 5, 10), array(37, 41))
    add("constants", lambda x: x + np.arange(37 * 41, dtype=np.float32).reshape(37, 41), array(37, 41))


def add_reductions():
    for function in (jnp.sum, jnp.max, jnp.var, jnp.argmax, jax.nn.logsumexp):
        add(f"whole_{function.__name__}", function, array(37, 41))
        add(f"rows_{function.__name__}", lambda x, f=function: f(x, axis=1), array(37, 41))
    add("cumsum", lambda x: jnp.cumsum(x, axis=1), array(37, 41))
    add("cummax", lax.cummax, array(64))
    pool = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    add("pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, *pool), array(2, 16, 16, 8))
    add("pool_average", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), array(2, 16, 16, 8))
    add("pool_gradient", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, *pool).sum()), array(2, 16, 16, 8))
    add("layernorm", lambda x, g: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g, array(64, 33), array(33))
    add("softmax", jax.nn.softmax, array(64, 33))
    add("softmax_gradient", jax.grad(lambda x: jax.nn.log_softmax(x)[:, 0].sum()), array(64, 33))
    heads = [array(2, 16, 4, 8)] * 3
    add("attention", attention, *heads)
    add("attention_gradient", jax.grad(lambda q, k, v: attention(q, k, v).sum(), (0, 1, 2)), *heads)
    add("layers_gradient", jax.grad(lambda w, x: (jax.nn.relu(x @ w[0]) @ w[1]).sum()), (array(32, 64), array(64, 16)), array(8, 32))


def add_control():
    add("scan", lambda x, w: lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=7), array(8, 16), array(16, 16))
    add("while", lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c + 1, x), array(8, 16))
    add("branches", lambda x: lax.cond(x.sum() > 0, lambda y: y @ y, jnp.exp, x), array(16, 16))
    add("results", lambda a: (a + 1, a * 2, a.sum()), array(37, 41))
    add("barrier", lambda x: lax.optimization_barrier(x * 2) + 1, array(37, 41))


def add_moves():
    rows = array(9, type=jnp.int32)
    add("slice", lambda x: x[3:20, 1:40:2], array(37, 41))
    add("slice_dynamic", lambda x, i: lax.dynamic_slice(x, (i, i), (5, 6)), array(37, 41), array(type=jnp.int32))
    add("update", lambda x, u, i: lax.dynamic_update_slice(x, u * 2, (i, i)), array(37, 41), array(5, 6), array(type=jnp.int32))
    add("gather", lambda x, i: x[i], array(37, 41), rows)
    add("take", lambda x, i: jnp.take(x, i, axis=1), array(37, 41), rows)
    add("scatter", lambda x, i, u: x.at[i].add(u), array(37, 41), rows, array(9, 41))
    add("embedding_gradient", jax.grad(lambda x, i: x[i].sum()), array(37, 41), rows)
    add("concatenate", lambda a, b: jnp.concatenate([a, b], 0), array(5, 6), array(7, 6))
    add("pad", lambda a: jnp.pad(a, ((1, 2), (3, 4)))[::-1], array(5, 6))
    add("transpose", lambda a, b: a.T + b, array(50, 60), array(60, 50))
    add("iota", lambda: jnp.eye(10))
    add("sort", jnp.sort, array(37, 41))
    add("argsort", jnp.argsort, array(37, 41))
    add("top", lambda x: lax.top_k(x, 5), array(37, 41))
    add("fft", jnp.fft.fft, array(8, 64, type=jnp.complex64))
    add("fft_real", jnp.fft.rfft2, array(32, 64))
    add("cholesky", lax.linalg.cholesky, array(16, 16))
    add("triangular", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), array(16, 16), array(16, 4))
    add("random", lambda k: jax.random.normal(k, (100,)), array(2, type=jnp.uint32))
    add("random_bits", lambda k: lax.rng_bit_generator(k, (100,)), array(4, type=jnp.uint32))


GEMM = ('backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
        '"rhs_contracting_dimensions":["0"]}}}')
WINDOW = "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01"
ADDER = ("%add (function_x: f32[], function_y: f32[]) -> f32[] {\n %function_x = f32[] parameter(0)\n %function_y = f32[] parameter(1)\n"
         " ROOT %function_sum = f32[] add(%function_x, %function_y)\n}\n")


def text_of(result, call, operands, before=""):
    names = [f" %p{i} = {operand} parameter({i})" for i, operand in enumerate(operands)]
    return f"HloModule m, replica_count=4\n\n{before}\nENTRY %e {{\n" + "\n".join(names) + f"\n ROOT %o = {result} {call}\n}}\n"


def library_texts():
    """Programs that call cuBLAS, cuDNN and others: their names are known to XLA for GPUs alone."""
    texts = {}
    for kind in ("f32", "bf16", "f8e4m3fn"):
        left, right, product = f"{kind}[8,16]{{1,0}}", f"{kind}[16,4]{{1,0}}", f"{kind}[8,4]{{1,0}}"
        for target in ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"):
            call = f'custom-call(%p0, %p1), custom_call_target="{target}", {GEMM}'
            texts[f"{target}_{kind}"] = text_of(product, call, (left, right))
            texts[f"{target}_{kind}_workspace"] = text_of(f"({product}, s8[1000]{{0}})", call, (left, right))
        x, k, y = f"{kind}[2,5,9,7]{{3,2,1,0}}", f"{kind}[6,5,3,3]{{3,2,1,0}}", f"{kind}[2,6,9,7]{{3,2,1,0}}"
        for target, result, operands in (("Forward", y, (x, k)), ("BackwardInput", x, (y, k)), ("BackwardFilter", k, (x, y)),
                                         ("BiasActivationForward", y, (x, k))):
            call = f'custom-call(%p0, %p1), custom_call_target="__cudnn$conv{target}", {WINDOW}'
            texts[f"__cudnn$conv{target}_{kind}"] = text_of(f"({result}, u8[77]{{0}})", call, operands)
    texts["unknown_call"] = text_of("f32[8]{0}", 'custom-call(%p0), custom_call_target="somebodys"', ("f32[8]{0}",))
    return texts


def device_texts():
    """Programs of operations on several devices, with groups of two and of four."""
    texts = {}
    for size, groups in ((2, "{{0,1},{2,3}}"), (4, "{{0,1,2,3}}")):
        groups = f"replica_groups={groups}"
        whole, part, all_parts = "f32[48]{0}", f"f32[{48 // size}]{{0}}", f"f32[{48 * size}]{{0}}"
        for result, call in ((whole, f"all-reduce(%p0), {groups}, to_apply=%add"),
                             (part, f"reduce-scatter(%p0), dimensions={{0}}, {groups}, to_apply=%add"),
                             (all_parts, f"all-gather(%p0), dimensions={{0}}, {groups}"),
                             (whole, f"all-to-all(%p0), dimensions={{0}}, {groups}")):
            texts[f"{call.split('(')[0]}_{size}"] = text_of(result, call, (whole,), ADDER if "to_apply" in call else "")
    return texts


# Fusions, clones and updates in place are made by the compiler.
COMPILED = ("convolution_gradient", "broadcast", "rows_argmax", "pool_gradient", "softmax", "attention", "attention_gradient",
            "layers_gradient", "scan", "branches", "update", "scatter", "argsort", "cholesky")


def proto_of(module):
    """Returns a message xla.HloProto with the module."""
    data, head = module.as_serialized_hlo_module_proto(), bytearray(b"\x0a")
    size = len(data)
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes(head + bytes([size])) + data


def main(folder):
    for make in (add_products, add_elementwise, add_reductions, add_control, add_moves):
        make()
    client = jax.extend.backend.get_backend("cpu")
    costs = {}

    def keep(name, module):
        (folder / f"{name}.pb").write_bytes(proto_of(module))
        costs[name] = _jax.hlo_module_cost_analysis(client, module)

    for name, (function, arguments) in PROGRAMS.items():
        lowered = jax.jit(function).lower(*arguments)
        raw = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
        keep(f"{name}-raw", _hlo.HloModule.from_serialized_hlo_module_proto(raw))
        if name in COMPILED:
            keep(name, lowered.compile().runtime_executable().hlo_modules()[0])
    for name, text in {**library_texts(), **device_texts()}.items():
        keep(name, _hlo.hlo_module_from_text(text))
    (folder / "costs.json").write_text(json.dumps(costs))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
