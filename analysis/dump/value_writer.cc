// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See value_writer.h.

#include "analysis/dump/value_writer.h"

#include <utility>

#include "analysis/model/modules.h"
#include "analysis/model/names.h"

namespace gpuprof::analysis {

ValueWriter::ValueWriter(const Trace& trace, const Process& process, const PassOptions& options,
                         LineWriter* out)
    : process_(process),
      symbolizer_(process, PlacesOf(trace, process, options.symfs)),
      symbolize_(options.symbolize),
      out_(out) {}

void ValueWriter::Text(std::string_view key, uint32_t id) {
  const auto known = process_.strings.find(id);
  out_->Text(key, known != process_.strings.end() ? known->second : process_.String(id));
}

void ValueWriter::Code(std::string_view key, proto::Codes codes, uint64_t code) {
  const bool is_small = code <= UINT32_MAX;
  out_->Code(key, is_small ? CodeName(codes, static_cast<uint32_t>(code)) : "", code);
}

void ValueWriter::Flags(std::string_view key, proto::Codes codes, uint64_t bits) {
  if (codes == proto::Codes::kRecordFlags) bits &= ~uint64_t{proto::kFlagHasStack};
  if (bits == 0) return;
  std::string text;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (!text.empty()) text += ',';
    const std::string_view name = CodeName(codes, uint32_t{1} << bit);
    text += name.empty() ? "bit" + std::to_string(bit) : std::string(name);
  }
  out_->Pair(key, text);
}

void ValueWriter::Pc(std::string_view key, uint64_t pc, PcKind kind) {
  out_->Address(key, TrueAddress(pc));
  if (!symbolize_ || pc == 0) return;
  out_->Text(std::string(key) + "_name", symbolizer_.Resolve(pc, kind).function);
}

void ValueWriter::Stack(std::string_view key, uint32_t id) {
  out_->Pair(key, id);
  if (symbolize_ && id != 1) out_->Text("frames", Frames(id));
}

void ValueWriter::Function(std::string_view key, uint32_t function) {
  const auto name = process_.functions.find(function);
  if (name == process_.functions.end()) {
    out_->Pair(key, function);
  } else {
    out_->Pair(key, OneLine(process_.String(name->second)));
  }
}

void ValueWriter::Span(int64_t end_ns, int64_t duration_ns) {
  out_->Pair("start_ns", end_ns - duration_ns);
  out_->Pair("duration_ns", duration_ns);
}

void ValueWriter::Stream(const Track& track, uint32_t stream) {
  out_->Pair("stream", stream);
  if (stream == track.stream && !track.name.empty()) out_->Text("stream_name", track.name);
}

const std::string& ValueWriter::Frames(uint32_t id) {
  const auto known = frames_.find(id);
  if (known != frames_.end()) return known->second;
  std::string text;
  uint32_t node = id;
  for (uint32_t depth = 0; node != 0 && depth < proto::kMaxStackFrames; ++depth) {
    StackNode found;
    if (!process_.stacks.Find(node, &found)) break;
    if (!text.empty()) text += ';';
    text += IsNamedFrame(found.pc) ? process_.String(NameOfFrame(found.pc))
                                   : symbolizer_.Resolve(found.pc).function;
    node = found.parent;
  }
  return frames_.emplace(id, std::move(text)).first->second;
}

}  // namespace gpuprof::analysis
