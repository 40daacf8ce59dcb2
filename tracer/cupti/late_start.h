// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs whose environment has lost CUDA_INJECTION64_PATH (a wrapper cleared it, another tool
// took it): the driver does not call us, so now and then we look whether the program has
// initialised it. Nothing of the driver's is intercepted for that.
//
// gpuprof-ctl; LateStartNote() the drain too.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

// A capture begins; `with_process`: the process has only just begun, too.
void BeginLooking(bool with_process);

// True: the program uses CUDA, and the driver will not tell us. What of it was missed is said.
bool HasBegunUnnoticed(const Host& host);

// What was said; "": nothing was missed.
const char* LateStartNote();

}  // namespace gpuprof::tracer::cupti
