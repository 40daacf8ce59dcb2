// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why no GPU activity is recorded: said once on stderr, and kept for the trace.
//
// The thread that calls CUPTI; Refusal() the drain too.

#pragma once

#include "tracer/cupti/subscriber.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

void Refuse(const Host& host, const char* text);
// `lacking`: what there will not be.
void SayRefused(const Host& host, const Functions& functions, const SubscribeFailure& failure,
                const char* lacking = "no GPU activity is recorded");

// In the words that were said first; "": nothing was refused.
const char* Refusal();

}  // namespace gpuprof::tracer::cupti
