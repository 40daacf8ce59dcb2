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
// Of a subscription, or of what without which nothing is recorded: names the library too where its
// answer means that it and the driver do not get on. A thread that may call CUDA.
void SayUnusable(const Host& host, const Library& library, const SubscribeFailure& failure);
// `lacking`: what there will not be.
void SayRefused(const Host& host, const Functions& functions, const SubscribeFailure& failure,
                const char* lacking);

// In the words that were said first; "": nothing was refused.
const char* Refusal();

}  // namespace gpuprof::tracer::cupti
