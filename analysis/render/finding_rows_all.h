// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of findings, of several rules. See finding_words.h.

#pragma once

#include "analysis/render/finding_words.h"

namespace gpuprof::analysis {

inline constexpr FindingWords kRowsOfAll[] = {
    {"all.name_and_figure", "{0} {1}"},
    {"all.gain_of_kernels", "a part of these kernels takes no time"},
    {"all.calls", "{0}: {1}, {2} in all. The longest: {3}."},
    {"all.copies", "{0}: {1}, {2} and {3} on the device. The longest: {4}."},
    {"all.kernels", "{0} is in {1}. The largest: {2}{3}."},
    {"all.parts_program_compiled_already",
     "Parts of the program are compiled already. TORCH_LOGS=graph_breaks,recompiles shows where "
     "compiled code returns to Python."},
    {"all.start_fewer_larger_operations", "Start fewer, larger operations.",
     "model = torch.compile(model): fewer operations are started from Python.",
     "tf.function(jit_compile=True): fewer operations are started from Python.",
     "Put the whole step under jax.jit: fewer operations are started from Python."},
    {"all.another_rank", "Another rank computes for {0} of a step: no rank can be faster."},
    {"all.part_of_step", "{0} of the mean step of {1} ({2})"},
    {"all.of_step", "{0} ({1}) of a step of {2}"},
    {"all.of_recording", "{0} ({1}) of the recorded {2}"},
    {"all.all_was_timed", "each launch and each piece of work was timed"},
    {"all.given", "{0}"},
    {"all.per_step", "{0} a step"},
    {"all.instance", "{0} at {1}"},
    {"all.instance_of", "{0} of {1} at {2}"},
    {"all.in_step", " in step {0}"},
    {"all.on_device", ", on device {0}"},
    {"all.on_stream", ", stream {0}"},
    {"all.by_thread", ", by thread {0}"},
    {"all.as_no_copies", "The gain is that of copies that take no time."},
    {"all.share_of_kernels", "{0} of the kernels' time ({1} a step)"},
    {"all.longest_launch", "The longest launch: {0}."},
    {"all.times_as_long", ", {0} times as long"},
    {"all.remedy_expandable",
     "PyTorch's allocator grows its blocks, and asks CUDA for fewer of them"},
    {"all.as_nvml_read", "as NVML read it"},
    {"all.reserved_by_framework", "reserved by the framework"},
    {"all.tensors", "tensors"},
    {"all.cuda_allocations", "allocations through CUDA"},
};

}  // namespace gpuprof::analysis
