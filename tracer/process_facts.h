// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the process is and how it is recorded: the Meta table. Drain and control thread.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/contract.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Appends a serialized Meta message with the identity of this process and the settings in force.
void AppendProcessFacts(const Settings& settings, std::vector<uint8_t>* out);

// Appends a Meta message that marks the begin or end of a capture. `steps`: the whole steps in a
// capture that ends; 0: not known.
void AppendCaptureMark(uint32_t capture, bool start, uint64_t ticks, const char* trigger,
                       uint64_t steps, std::vector<uint8_t>* out);

// Appends a Meta message that names a framework ("torch 2.13.0+cpu").
void AppendFramework(const char* framework, std::vector<uint8_t>* out);

// Appends how and when the process ended, and the variables of its environment that say who it is:
// launchers inside a program set them late. For the last Meta.
void AppendExit(proto::ExitWay way, int32_t status, uint64_t ticks, std::vector<uint8_t>* out);

// Appends the title that the process gave itself, if it has changed since the last call with the
// same `known`. Returns whether it has. `known` begins empty, and then holds the command line.
bool AppendTitle(proto::Arguments how, std::vector<char>* known, std::vector<uint8_t>* out);

}  // namespace gpuprof::tracer
