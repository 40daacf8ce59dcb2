// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes values of a process as key=value: names instead of ids, words instead of codes. For Dump,
// one thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/analysis.h"
#include "analysis/dump/line_writer.h"
#include "analysis/model/trace.h"
#include "analysis/symbols/symbolizer.h"
#include "proto/table_spec.h"

namespace gpuprof::analysis {

class ValueWriter {
 public:
  ValueWriter(const Trace& trace, const Process& process, const PassOptions& options,
              LineWriter* out);

  const Process& process() const { return process_; }
  LineWriter& out() { return *out_; }

  // Writes the text of a string id.
  void Text(std::string_view key, uint32_t id);
  // Writes the word of a code, or its number if this program does not know it.
  void Code(std::string_view key, proto::Codes codes, uint64_t code);
  // Writes the names of the bits that are set; nothing without any. Whether there is a stack, the
  // stack itself tells.
  void Flags(std::string_view key, proto::Codes codes, uint64_t bits);
  // Writes an address of code, and its function below key_name.
  void Pc(std::string_view key, uint64_t pc, PcKind kind);
  // Writes a stack's id, and the functions in it.
  void Stack(std::string_view key, uint32_t id);
  // Writes proto::ApiFunction; its number where the trace has no name for it.
  void Function(std::string_view key, uint32_t function);
  void Span(int64_t end_ns, int64_t duration_ns);
  // Writes the number of a stream; the name too if the track is that stream's.
  void Stream(const Track& track, uint32_t stream);

 private:
  // Lists the functions of a stack, innermost first.
  const std::string& Frames(uint32_t id);

  const Process& process_;
  Symbolizer symbolizer_;
  bool symbolize_;
  LineWriter* out_;
  std::unordered_map<uint32_t, std::string> frames_;  // by stack id
};

}  // namespace gpuprof::analysis
