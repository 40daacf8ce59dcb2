// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of one process as interned data of Perfetto: functions, files of programs, frames
// and stacks. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/export/perfetto_writer.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class PerfettoStacks {
 public:
  // Uses the context. `index`: in Trace::processes.
  PerfettoStacks(PassContext& context, size_t index) : context_(context), index_(index) {}

  // Returns the number of a stack of the process. 0: it has no frame.
  uint64_t Of(uint32_t stack);
  // Writes all that Of() returned. Called once, before the packets that refer to stacks.
  void Write(PerfettoWriter* out) const;

 private:
  uint64_t FrameOf(uint64_t pc);
  uint64_t MappingOf(uint64_t pc, const std::string& name);

  PassContext& context_;
  const size_t index_;
  SliceTexts functions_, paths_, sources_;
  std::vector<std::string> build_ids_;
  std::map<std::pair<std::string, uint64_t>, uint64_t> mappings_;  // by path and start
  std::unordered_map<uint64_t, uint64_t> frames_;                  // by pc
  std::unordered_map<uint32_t, uint64_t> stacks_;                  // by canonical id
  uint64_t frame_count_ = 0, stack_count_ = 0;
  std::string mapping_fields_, frame_fields_, stack_fields_;
};

}  // namespace gpuprof::analysis
