// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// PyTorch's own report of every tensor block handed out or returned, by interposing two functions
// of libc10.

#pragma once

namespace gpuprof::inject {

// Where libc10's own functions are (found by the tracer once it is loaded); null forgets them.
void SetTorchMemoryFunctions(void* is_enabled, void* report);

}  // namespace gpuprof::inject
