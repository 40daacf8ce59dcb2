// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/trace_names.h"

#include <algorithm>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

void CopyDimensions(const google::protobuf::RepeatedField<uint32_t>& from,
                    std::array<uint32_t, 3>* to) {
  for (size_t i = 0; i < to->size(); ++i)
    (*to)[i] = static_cast<int>(i) < from.size() ? from[static_cast<int>(i)] : 1;
}

// Returns the name of a function without its result, namespaces, template arguments and
// parameters: "add" of "void ns::add<int>(int*)". Other names stay as they are.
std::string_view FunctionOf(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)", kOperator = "operator";
  // Begins behind the last space or colon that no bracket encloses, and ends at the first bracket.
  size_t begin = 0, end = name.size();
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
      continue;
    }
    if (depth == 0 && name.substr(i).starts_with(kOperator) && i == begin) {
      const size_t parameters = name.find('(', i + kOperator.size() + 1);
      return name.substr(begin, parameters - begin);
    }
    const char c = name[i];
    if (c == '(' && depth == 0) {
      end = std::min(end, i);
      break;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (depth++ == 0) end = std::min(end, i);
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return name;
    } else if (depth == 0 && (c == ':' || c == ' ')) {
      begin = i + 1;
      end = name.size();
    }
  }
  return depth == 0 && begin < end ? name.substr(begin, end - begin) : name;
}

}  // namespace

TraceNames::TraceNames(const Trace& trace) : trace_(trace) {
  for (const Process& process : trace.processes) Add(process);
  for (const Process& sampler : trace.samplers) Add(sampler);
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
    shape.function = texts_.Intern(FunctionOf(texts_.At(shape.name)));
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
  names.is_of_program = !process.is_sampler;
  if (const std::optional<Rank> rank = RankOf(process)) names.rank = rank->number;
  for (const Track& track : process.tracks) {
    const auto device = process.sampled_devices.find(track.id);
    if (device != process.sampled_devices.end())
      names.counted[names.tracks.size()] = {true, device->second.index(),
                                            texts_.Intern(device->second.uuid()),
                                            texts_.Intern(device->second.name())};
    names.tracks.push_back(texts_.Intern(track.name));
  }
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

std::string_view TraceNames::Device(size_t place, uint32_t device) const {
  return Made({Kind::kDevice, place, device}, [&] { return DeviceName(process(place), device); });
}

}  // namespace gpuprof::analysis
