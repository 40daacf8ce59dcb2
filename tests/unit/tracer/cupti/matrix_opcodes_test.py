# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What is found in machine code, against NVIDIA's own disassembler: PTX for every architecture that ptxas knows, and every operation that the
disassembler knows. GPUPROF_CUBIN_OPS names the program that prints what the tracer finds. `make test` tries some architectures, `make test-long` all."""

import collections
import functools
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sysconfig

import pytest

CUBIN_OPS = os.environ["GPUPROF_CUBIN_OPS"]
NAMES = ["HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA"]
# In the table of tracer/cupti/matrix_opcodes.cc. Older ones than 75 this disassembler does not know any more.
SHORT = {"75", "90a", "100a", "120a"}
KNOWN = {"70", "72", "75", "80", "86", "87", "88", "89", "90", "100", "101", "103", "110", "120", "121"}


def found(name, *places):
    return shutil.which(name) or next((str(place) for place in places if place.exists()), None)


PTXAS = found("ptxas", pathlib.Path("/usr/local/cuda/bin/ptxas"))
NVDISASM = found("nvdisasm", *pathlib.Path(sysconfig.get_paths()["purelib"]).glob("nvidia/*/bin/nvdisasm"), pathlib.Path("/usr/local/cuda/bin/nvdisasm"))
needs_nvdisasm = pytest.mark.skipif(NVDISASM is None, reason="nvdisasm is not installed (scripts/setup does)")
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")

# Instructions of PTX, each tried on every architecture: r are registers of 32 bits, f of float, d of double, l of 64 bits, q a predicate.
FOUR = "{r0,r1,r2,r3}"
MMA = "mma.sync.aligned"
SCALED = "{f0,f1,f2,f3},{r0,r1,r2,r3},{r0,r1},{f0,f1,f2,f3},{r0},{0,0},{r1},{0,0};"
WGMMA = "wgmma.fence.sync.aligned; wgmma.mma_async{} wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
TCGEN = "tcgen05.mma.cta_group::1.kind::"
BODIES = {
    "volta": MMA + ".m8n8k4.row.col.f16.f16.f16.f16 {r4,r5,r6,r7},{r0,r1},{r2,r3},{r0,r1,r2,r3};",
    "half": MMA + ".m16n8k8.row.col.f32.f16.f16.f32 {f0,f1,f2,f3},{r0,r1},{r2},{f0,f1,f2,f3};",
    "bf16": MMA + f".m16n8k16.row.col.f32.bf16.bf16.f32 {{f0,f1,f2,f3}},{FOUR},{{r4,r5}},{{f0,f1,f2,f3}};",
    "tf32": MMA + f".m16n8k8.row.col.f32.tf32.tf32.f32 {{f0,f1,f2,f3}},{FOUR},{{r4,r5}},{{f0,f1,f2,f3}};",
    "fp64": MMA + ".m8n8k4.row.col.f64.f64.f64.f64 {d0,d1},{d2},{d3},{d0,d1};",
    "fp64_large": MMA + ".m16n8k16.row.col.f64.f64.f64.f64 {d0,d1,d2,d3},{d0,d1,d2,d3,d0,d1,d2,d3},{d0,d1,d2,d3},{d0,d1,d2,d3};",
    "int8": MMA + ".m8n8k16.row.col.s32.s8.s8.s32 {r4,r5},{r0},{r1},{r2,r3};",
    "int4": MMA + ".m8n8k32.row.col.s32.s4.s4.s32 {r4,r5},{r0},{r1},{r2,r3};",
    "bits": MMA + ".m8n8k128.row.col.s32.b1.b1.s32.xor.popc {r4,r5},{r0},{r1},{r2,r3};",
    "bits_and": MMA + ".m8n8k128.row.col.s32.b1.b1.s32.and.popc {r4,r5},{r0},{r1},{r2,r3};",
    "sparse": f"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{f0,f1,f2,f3}},{FOUR},{FOUR},{{f0,f1,f2,f3}},r4,0x0;",
    "sparse_int8": f"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {{r4,r5,r6,r7}},{{r0,r1}},{{r2,r3}},{FOUR},r4,0x0;",
    "fp8": MMA + f".m16n8k32.row.col.f32.e4m3.e5m2.f32 {{f0,f1,f2,f3}},{FOUR},{{r4,r5}},{{f0,f1,f2,f3}};",
    "fp4": MMA + f".kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32 {{f0,f1,f2,f3}},{FOUR},{{r4,r5}},{{f0,f1,f2,f3}};",
    "mxfp8": MMA + ".kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 " + SCALED,
    "mxfp4": MMA + ".kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 " + SCALED,
    "nvfp4": MMA + ".kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 " + SCALED,
    "wgmma_half": WGMMA.format(".sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, l0, l1, 1,1,1,0,0;"),
    "wgmma_registers": WGMMA.format(f".sync.aligned.m64n8k16.f32.bf16.bf16 {{f0,f1,f2,f3}}, {FOUR}, l1, 1,1,1,0;"),
    "wgmma_tf32": WGMMA.format(".sync.aligned.m64n8k8.f32.tf32.tf32 {f0,f1,f2,f3}, l0, l1, 1,1,1;"),
    "wgmma_sparse": WGMMA.format(".sp.sync.aligned.m64n8k32.f32.f16.f16 {f0,f1,f2,f3}, l0, l1, r0, 0, 1,1,1,0,0;"),
    "wgmma_fp8": WGMMA.format(".sync.aligned.m64n8k32.f32.e4m3.e5m2 {f0,f1,f2,f3}, l0, l1, 1,1,1;"),
    "wgmma_int8": WGMMA.format(".sync.aligned.m64n8k32.s32.s8.s8 {r0,r1,r2,r3}, l0, l1, 1;"),
    "wgmma_bits": WGMMA.format(".sync.aligned.m64n8k256.s32.b1.b1.and.popc {r0,r1,r2,r3}, l0, l1, 1;"),
    "tcgen_half": TCGEN + "f16 [r0], l0, l1, r1, q;",
    "tcgen_memory": TCGEN + "f16 [r0], [r2], l1, r1, q;",
    "tcgen_pair": "tcgen05.mma.cta_group::2.kind::f16 [r0], l0, l1, r1, q;",
    "tcgen_weights": "tcgen05.mma.ws.cta_group::1.kind::f16 [r0], l0, l1, r1, q, 0;",
    "tcgen_sparse": "tcgen05.mma.sp.cta_group::1.kind::f16 [r0], l0, l1, [r2], r1, q;",
    "tcgen_tf32": TCGEN + "tf32 [r0], l0, l1, r1, q;",
    "tcgen_fp8": TCGEN + "f8f6f4 [r0], l0, l1, r1, q;",
    "tcgen_int8": TCGEN + "i8 [r0], l0, l1, r1, q;",
    "tcgen_mxfp4": TCGEN + "mxf4.block_scale.scale_vec::2X [r0], l0, l1, r1, [r2], [r3], q;",
    "tcgen_nvfp4": TCGEN + "mxf4nvf4.block_scale.scale_vec::4X [r0], l0, l1, r1, [r2], [r3], q;",
    "tcgen_mxfp8": "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X [r0], l0, l1, r1, [r2], [r3], q;",
    "no_tcgen": "tcgen05.cp.cta_group::1.128x256b [r0], l0; tcgen05.shift.cta_group::1.down [r0]; tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [l0];",
    "no_float": "fma.rn.f32 f0,f1,f2,f3; fma.rn.f64 d0,d1,d2,d3; mad.lo.s32 r0,r1,r2,r3; dp4a.s32.s32 r1,r0,r2,r3; add.s32 r3,r1,-7;",
    "no_half": "fma.rn.f16x2 r0,r1,r2,r3; add.f16x2 r1,r0,r2; mul.f16x2 r2,r1,r0; neg.f16x2 r3,r2; min.s32 r0,r0,r3; mov.b32 r5,0x40004000; add.u32 r0,r0,r5;",
}
HEADER = ".version {version}\n.target sm_{architecture}\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 p) {{
.reg .b32 r<8>; .reg .f32 f<4>; .reg .f64 d<4>; .reg .b64 l<4>; .reg .pred q;
ld.param.u64 l3,[p];
{loads}
setp.ne.s32 q,r0,r1;
{body}
{stores}
ret; }}
"""
LOADS = "".join([*(f"ld.volatile.u32 r{i},[l3+{4 * i}]; " for i in range(8)), *(f"ld.volatile.f32 f{i},[l3+{4 * i}]; " for i in range(4)),
                 *(f"ld.volatile.f64 d{i},[l3+{8 * i}]; " for i in range(4)), *(f"ld.volatile.u64 l{i},[l3+{8 * i}]; " for i in range(3))])
STORES = LOADS.replace("ld.volatile", "st.volatile")
STORES = re.sub(r"(\S+) (\w\d),(\[l3\+\d+\]);", r"\1 \3,\2;", STORES)


def by_length(names):
    return [pytest.param(name, marks=[] if name in SHORT else pytest.mark.long) for name in names]


def architectures():
    """Those that ptxas knows, by the longest name of each number: 90a and not 90."""
    text = subprocess.run([PTXAS, "--help"], capture_output=True, text=True, check=False).stdout
    names = collections.defaultdict(list)
    for number, suffix in set(re.findall(r"'sm_(\d+)([a-z]?)'", text)):
        names[number].append(suffix)
    return [number + ("a" if "a" in suffixes else "") for number, suffixes in sorted(names.items(), key=lambda item: int(item[0]))]


@functools.cache
def version():
    """The newest PTX that this ptxas reads."""
    for major, minor in ((9, 0), (8, 7), (8, 0), (7, 8), (7, 0)):
        text = f".version {major}.{minor}\n.target sm_75\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
        if subprocess.run([PTXAS, "-arch=sm_75", "-o", "/dev/null", "/dev/stdin"], input=text, text=True, capture_output=True, check=False).returncode == 0:
            return f"{major}.{minor}"
    return "6.5"


def ours(*files):
    """By file and function: what its code holds."""
    out = subprocess.run([CUBIN_OPS, *map(str, files)], capture_output=True, text=True, check=True).stdout
    verdicts = {}
    for line in out.splitlines():
        file, name, kind, bits, _ = line.rsplit(" ", 4)
        verdicts[file, name] = ({NAMES[i] for i in range(len(NAMES)) if int(bits, 16) >> (i + 1) & 1}, kind)
    return verdicts


def mnemonics(text):
    """Matrix instructions in a disassembly."""
    operations = re.findall(r"/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", text)
    return {operation.split(".")[0] for operation in operations} & set(NAMES)


def theirs(file):
    """By function: what the disassembler finds in its code."""
    text = subprocess.run([NVDISASM, str(file)], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^\s*\.section\s+(\S+?),.*$", text, flags=re.M)
    return {name.removeprefix(".text."): mnemonics(code) for name, code in zip(parts[1::2], parts[2::2]) if name.startswith(".text.")}


def compiled(architecture, kernels, to):
    """Whether ptxas can."""
    source = to.with_suffix(".ptx")
    source.write_text(HEADER.format(version=version(), architecture=architecture) + "".join(kernels))
    return subprocess.run([PTXAS, f"-arch=sm_{architecture}", "-O1", "-o", str(to), str(source)], capture_output=True, check=False).returncode == 0


@needs_ptxas
@needs_nvdisasm
@pytest.mark.parametrize("architecture", by_length(architectures() if PTXAS else []))
def test_what_ptxas_writes(architecture, tmp_path):
    kernels = {name: KERNEL.format(name=name, loads=LOADS, body=body, stores=STORES) for name, body in BODIES.items()}
    kernels = {name: text for name, text in kernels.items() if compiled(architecture, [text], tmp_path / "one.cubin")}
    assert {"no_float", "no_half", "half"} <= set(kernels), "every architecture has these"
    cubin = tmp_path / "all.cubin"
    assert compiled(architecture, kernels.values(), cubin)
    if re.sub(r"\D", "", architecture) not in KNOWN:
        assert not ours(cubin), "of what is not in the table nothing may be said"
        return
    found_by_us, true = ours(cubin), theirs(cubin)
    assert set(true) == set(kernels) and true["half"] and not any(ops for name, ops in true.items() if name.startswith("no_"))
    assert {name: (ops, "kernel") for name, ops in true.items()} == {name: verdict for (_, name), verdict in found_by_us.items()}


def words(generator):
    """Four of each operation, with and without bit 91; what else an instruction says is left to chance or zero."""
    for operation in range(1 << 12):
        for wide in (0, 1):
            for chance in (0, 0, 1, 1):
                low, high = operation | 7 << 12, 0x000fc00000000000 | wide << 27
                if chance:
                    low |= generator.getrandbits(48) << 16
                    high |= generator.getrandbits(41) & ~(1 << 27)
                else:
                    registers = [generator.randrange(0, 60) * 4 for _ in range(4)]
                    low |= registers[0] << 16 | registers[1] << 24 | registers[2] << 32 | generator.getrandbits(1) << 63
                    high |= registers[3] | generator.getrandbits(4) << 8
                yield low, high


def disassembled(architecture, instructions, folder):
    """What of it the disassembler accepts, with its name for it."""
    raw = folder / "raw"
    for _ in range(5):
        raw.write_bytes(b"".join(struct.pack("<QQ", *word) for word in instructions))
        done = subprocess.run([NVDISASM, "-b", "SM" + architecture, "-hex", str(raw)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            rows = re.findall(r"/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)[^\n]*?/\* 0x([0-9a-f]{16}) \*/\s*\n\s*/\* 0x([0-9a-f]{16}) \*/",
                              done.stdout)
            return [(name.split(".")[0], int(low, 16), int(high, 16)) for name, low, high in rows]
        refused = {int(address, 16) // 16 for address in re.findall(r"at address (0x[0-9a-f]+)", done.stderr)}
        assert refused, done.stderr[:1000]
        instructions = [word for i, word in enumerate(instructions) if i not in refused]
        if not instructions:
            return []
    raise AssertionError("the disassembler refuses more each time")


def cubin_of(number, instructions):
    """One kernel for each instruction would take thousands of sections: one for each name that they have."""
    names, code, shapes = b"\0", b"", []
    for name, words_of_name in instructions.items():
        shapes.append((len(names), 64 + len(code), 16 * len(words_of_name)))
        names += b".text." + name.encode() + b"\0"
        code += b"".join(struct.pack("<QQ", *word) for word in words_of_name)
    sections = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64 + len(code), len(names), 0, 0, 1, 0),
                *(struct.pack("<IIQQQQIIQQ", name, 1, 6, 0, offset, size, 0, 0, 128, 0) for name, offset, size in shapes)]
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, 190, 1, 0, 0, 64 + len(code) + len(names), number << 8 | 2, 64, 0, 0,
                         64, len(sections), 1)
    return header + code + names + b"".join(sections)


@needs_nvdisasm
@pytest.mark.parametrize("architecture", by_length(["75", "80", "89", "90a", "100a", "103a", "110a", "120a"]))
def test_every_operation_that_the_disassembler_knows(architecture, tmp_path):
    """Those that are no matrix instructions too: none of them may be taken for one."""
    generator = random.Random(7)
    by_name = collections.defaultdict(list)
    instructions = list(words(generator))
    for start in range(0, len(instructions), 8192):
        for name, low, high in disassembled(architecture, instructions[start:start + 8192], tmp_path):
            by_name[name].append((low, high))
    assert len(by_name) > 100 and {"HMMA", "IMMA"} <= set(by_name)
    cubin = tmp_path / "all.cubin"
    cubin.write_bytes(cubin_of(int(re.sub(r"\D", "", architecture)), by_name))
    wrong = {name: bits for (_, name), (bits, _) in ours(cubin).items() if bits != {name} & set(NAMES)}
    assert not wrong
