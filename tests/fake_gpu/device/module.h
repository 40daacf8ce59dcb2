// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Modules and their functions. Nothing in an image is executed; its code object is found so that
// tools that read it have something to read. A real driver takes the code of the device's own
// architecture, decompresses it, and compiles PTX where there is none. Here it is the first cubin
// that is not compressed, whatever it is for (our programs are built with one, for sm_80), and else
// the image as it is.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

// Of a fat binary (with or without its wrapper), a cubin or PTX text. Tells the sink.
CUmodule LoadModule(const void* image, CUcontext context);
void UnloadModule(CUmodule module, CUcontext context);

// Made when it is asked for: whether the image holds it is not looked at.
CUfunction FunctionOf(CUmodule module, const char* name);

// The same address for the same name, for the life of the process.
const char* Intern(const char* name);

}  // namespace fake_gpu
