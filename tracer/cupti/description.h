// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The libcupti that is used and the generation of its interface, in words: for the trace.
//
// The thread that calls CUPTI; Description() any thread.

#pragma once

#include "tracer/cupti/library.h"
#include "tracer/cupti/subscriber.h"

namespace gpuprof::tracer::cupti {

// The first subscription succeeded: what is used from then on.
void Describe(const Library& library, Interface interface);
// A library that could not be subscribed to, until a subscription succeeds.
void DescribeUnused(const Library& library);

// "": no library was tried.
const char* Description();

}  // namespace gpuprof::tracer::cupti
