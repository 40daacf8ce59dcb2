# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Tensors that are hard to ask for their sizes: classes whose sizes are code in Python, ragged ones, and fake ones with symbolic sizes."""

import sys
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_map

warnings.simplefilter("ignore")
torch.manual_seed(1)
torch.set_num_threads(1)
asked = {"sizes": 0, "refused": 0}


class Wrapped(torch.Tensor):
    """Asks the tensor inside for its sizes, with an operation more. `moody` ones refuse now and then."""

    @staticmethod
    def __new__(cls, inner, moody=False):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, dispatch_sizes_strides_policy="sizes")
        made.inner, made.moody = inner, moody
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        inner = tree_map(lambda x: x.inner if isinstance(x, Wrapped) else x, args)
        if function in (torch.ops.aten.sym_size.default, torch.ops.aten.size.default):
            asked["sizes"] += 1
            (inner[0] + 0).sum()
            if args[0].moody and sys._getframe(1).f_code.co_name != "shape_of":
                asked["refused"] += 1
                raise RuntimeError("ask me later")
            return inner[0].shape
        if function == torch.ops.aten.dim.default:
            return inner[0].dim()
        if function in (torch.ops.aten.sym_stride.default, torch.ops.aten.stride.default):
            return inner[0].stride()
        return function(*inner, **(kwargs or {}))


def odd():
    a = Wrapped(torch.ones(3, 4))
    total = float(torch.add(a, a).sum())
    moody = Wrapped(torch.ones(3, 4), moody=True)
    for _ in range(200):
        total += float(torch.mul(moody, 2).sum())
    ragged = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    old_ragged = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    for _ in range(3):
        total += float((ragged * 2).values().sum()) + float((old_ragged * 2).to_padded_tensor(0).sum())
    mode = FakeTensorMode(shape_env=ShapeEnv())
    fake = mode.from_tensor(torch.ones(5, 6))
    with mode:
        for _ in range(100):
            total += (fake @ fake.t()).dim()
    sparse = torch.eye(4).to_sparse()
    total += float((sparse @ torch.ones(4, 2)).sum())
    vmapped = torch.vmap(lambda row: row * 2)(torch.ones(3, 4))
    quantized = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.quint8)
    return total + float(vmapped.sum()) + float(quantized.dequantize().sum())


def compiled():
    """Symbolic sizes in the compiler's own operations."""
    function = torch.compile(lambda x: (x * 2).relu().sum(), dynamic=True, backend="aot_eager")
    return sum(float(function(torch.ones(n, 3))) for n in (2, 3, 5))


print("ready", flush=True)
sys.stdin.readline()
print(odd(), compiled(), flush=True)
try:
    torch.ones(2) + torch.ones(3)
except RuntimeError as error:
    print(str(error).splitlines()[0], flush=True)
print("done", flush=True)
sys.stdin.readline()
