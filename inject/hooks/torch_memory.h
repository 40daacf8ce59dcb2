// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// PyTorch's own report of every tensor block handed out or returned, by interposing functions of
// libc10.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject {

// Not 0 once a capture has gone without CPU tensors, because the framework had made some before
// anybody wanted reports, and does not call what would be seen without them.
const std::atomic<uint32_t>* TorchCpuTensorsLeftOut();

// Where libc10's own functions are (found by the tracer once it is loaded); null forgets them.
void SetTorchMemoryFunctions(void* is_enabled, void* report);

}  // namespace gpuprof::inject
