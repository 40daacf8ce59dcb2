// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Measures two recordings and compares them, for `diff`, `report --against` and `serve`. One thread
// at a time for an object; starts a thread for the duration of a call.

#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::launcher {

// A recording by its place. `origin`: for the bundle that stands for another tool's trace.
struct PlacedInput {
  analysis::InputPath path;
  analysis::ImportOrigin origin = {};
};

// What a comparison keeps of one recording.
struct Measured {
  std::unique_ptr<google::protobuf::Message> baseline;
  analysis::BundleFacts facts;
  analysis::Error error;
};

// Measures one recording. `memory_limit_bytes`: as in analysis::OpenOptions.
Measured Measure(const PlacedInput& input, const analysis::PassOptions& options,
                 uint64_t memory_limit_bytes = 0);

// Measures both. Small recordings are measured at once. Large ones are measured one after the
// other: only what the comparison needs of each stays in memory.
void MeasureBoth(const PlacedInput& before, const PlacedInput& after,
                 const analysis::PassOptions& options, Measured* of_before, Measured* of_after);

// Compares two recordings. `json` is what `gpuprof diff BEFORE AFTER --json` prints. `faults` gets
// what is damaged in BEFORE, or is null.
analysis::Error CompareAsJson(const PlacedInput& before, const PlacedInput& after,
                              std::string* json, analysis::BundleFacts* faults = nullptr);

}  // namespace gpuprof::launcher
