// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process of Python whose threads were sampled, for tests.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/named_frame.h"
#include "proto/sources.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {

inline constexpr uint32_t kRuns = proto::kSampleRuns | proto::kSamplePython;
inline constexpr uint32_t kGil = proto::kSampleWaitsForGil | proto::kSamplePython;
inline constexpr uint32_t kWaits = proto::kSamplePython;

class SampledProcess {
 public:
  // The sampler is the thread behind the main thread.
  explicit SampledProcess(int32_t pid) : builder(pid) {
    builder.Thread(pid, "MainThread");
    builder.Thread(pid + 1, "gpuprof-sample").Tool();
    builder.process().sources = proto::kSourceSamples;
    builder.process().modules.emplace_back().set_path("/usr/lib/libpython3.11.so.1.0");
  }
  SampledProcess(const SampledProcess&) = delete;
  SampledProcess& operator=(const SampledProcess&) = delete;

  // Names are those of frames, outermost first. Samples come in the order of their ends.
  SampledProcess& Sample(int32_t tid, int64_t start_ms, int64_t end_ms,
                         const std::vector<std::string>& names, uint32_t state = kRuns,
                         int32_t holder = 0) {
    std::vector<uint64_t> pcs;
    for (size_t i = names.size(); i-- > 0;) pcs.push_back(proto::NamedFrame(builder.Id(names[i])));
    builder.Thread(builder.process().pid + 1)
        .StackSample(tid, builder.Stack(pcs), start_ms * kMs, end_ms * kMs, state, holder);
    return *this;
  }

  ProcessBuilder builder;
};

}  // namespace gpuprof::analysis::test
