// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the process is and how it is recorded: the Meta table. Drain and control thread.

#pragma once

#include <cstdint>
#include <vector>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Appends a serialized Meta message with the identity of this process and the settings in force.
void AppendProcessFacts(const Settings& settings, std::vector<uint8_t>* out);

// Appends a Meta message that marks the begin or end of a capture.
void AppendCaptureMark(uint32_t capture, bool start, uint64_t ticks, const char* trigger,
                       std::vector<uint8_t>* out);

// Appends a Meta message that names a framework ("torch 2.13.0+cpu").
void AppendFramework(const char* framework, std::vector<uint8_t>* out);

// How the process ended, for the last Meta.
void AppendExit(proto::ExitWay way, int32_t status, std::vector<uint8_t>* out);

}  // namespace gpuprof::tracer
