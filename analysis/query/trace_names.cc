// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/trace_names.h"

#include <algorithm>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/model/names.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

void CopyDimensions(const google::protobuf::RepeatedField<uint32_t>& from,
                    std::array<uint32_t, 3>* to) {
  for (size_t i = 0; i < to->size(); ++i)
    (*to)[i] = static_cast<int>(i) < from.size() ? from[static_cast<int>(i)] : 1;
}

}  // namespace

TraceNames::TraceNames(const Trace& trace) : trace_(trace) {
  for (const Process& process : trace.processes) Add(process);
}

void TraceNames::Add(const Process& process) {
  OfProcess& names = processes_.emplace_back();
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [id, text] : process.strings) pairs.emplace_back(id, texts_.Intern(text));
  names.strings = IdMap(pairs);
  pairs.clear();
  for (const auto& [id, text] : process.functions)
    pairs.emplace_back(id, texts_.Intern(process.String(text)));
  names.functions = IdMap(pairs);
  pairs.clear();
  for (const auto& [id, signature] : process.signatures) {
    LaunchShape shape;
    shape.name = texts_.Intern(Demangle(process.String(signature.name()).c_str()));
    CopyDimensions(signature.grid(), &shape.grid);
    CopyDimensions(signature.block(), &shape.block);
    shape.registers = signature.registers();
    shape.static_shared_bytes = signature.static_shared_bytes();
    shape.dynamic_shared_bytes = signature.dynamic_shared_bytes();
    pairs.emplace_back(id, static_cast<uint32_t>(shapes_.size()));
    shapes_.push_back(shape);
  }
  names.shapes = IdMap(pairs);
  pairs.clear();
  for (const auto& [id, counter] : process.counters) {
    pairs.emplace_back(id, static_cast<uint32_t>(counters_.size()));
    counters_.push_back({texts_.Intern(counter.name()), texts_.Intern(counter.unit()),
                         texts_.Intern(counter.source()), std::max<double>(counter.divisor(), 1)});
  }
  names.counters = IdMap(pairs);
  names.host = texts_.Intern(process.host);
  for (const Track& track : process.tracks) names.tracks.push_back(texts_.Intern(track.name));
}

template <typename Make>
std::string_view TraceNames::Made(const Key& key, const Make& make) const {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = made_.try_emplace(key);
  if (is_new) at->second = made_texts_.emplace_back(Utf8Of(make()));
  return at->second;
}

std::string_view TraceNames::Word(proto::Codes codes, uint64_t code) const {
  return Made({Kind::kWord, static_cast<size_t>(codes), code}, [&] {
    const std::string_view word =
        code <= UINT32_MAX ? CodeName(codes, static_cast<uint32_t>(code)) : "";
    return word.empty() ? std::to_string(code) : std::string(word);
  });
}

std::string_view TraceNames::Flags(proto::Codes codes, uint64_t bits) const {
  return Made({Kind::kFlags, static_cast<size_t>(codes), bits}, [&] {
    std::string text;
    for (uint32_t bit = 0; bit < 32; ++bit) {
      if ((bits >> bit & 1) == 0) continue;
      if (!text.empty()) text += ',';
      const std::string_view word = CodeName(codes, uint32_t{1} << bit);
      text += word.empty() ? "bit" + std::to_string(bit) : std::string(word);
    }
    return text;
  });
}

std::string_view TraceNames::Device(size_t process, uint32_t device) const {
  return Made({Kind::kDevice, process, device},
              [&] { return DeviceName(trace_.processes[process], device); });
}

}  // namespace gpuprof::analysis
