// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads names of results (ReadResultName in analysis.h). Pure.

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number);
  return read.ec == std::errc() && read.ptr == end;
}

bool ReadRange(std::string_view text, PassOptions* options) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || options->window) return false;
  int64_t from = 0, to = 0;
  if (!ReadNumber(text.substr(0, comma), &from) || !ReadNumber(text.substr(comma + 1), &to))
    return false;
  options->window = {from, to};
  return from < to;
}

bool ReadPiece(std::string_view piece, PassOptions* options) {
  const size_t equals = piece.find('=');
  if (equals == std::string_view::npos) return ReadRange(piece, options);
  const std::string_view what = piece.substr(0, equals), value = piece.substr(equals + 1);
  // Traces of other tools may have a process 0.
  if (what == "pid")
    return options->pid == 0 && ReadNumber(value, &options->pid) && options->pid >= 0;
  if (what == "step") {
    uint64_t step = 0;
    if (options->steps || !ReadNumber(value, &step)) return false;
    options->steps = {step, step};
    return true;
  }
  uint32_t device = 0;
  if (what != "device" || !options->devices.empty() || !ReadNumber(value, &device)) return false;
  options->devices = {device};
  return true;
}

}  // namespace

std::string ReadResultName(std::string_view name, ResultName* read) {
  *read = {};
  const size_t at = name.find('@');
  const std::string_view whole = name.substr(0, at);
  const size_t colon = whole.find(':');
  read->pass = whole.substr(0, colon);
  const auto& passes = Passes();
  const auto pass = std::find_if(passes.begin(), passes.end(),
                                 [&](const PassInfo& each) { return each.name == read->pass; });
  if (pass == passes.end())
    return "There is no pass of this name; 'gpuprof help stats' lists them.";
  for (size_t begin = at; begin != std::string_view::npos;) {
    const size_t end = name.find(';', begin + 1);
    if (!ReadPiece(name.substr(begin + 1, end - begin - 1), &read->options)) {
      return "A part is FROM,TO in nanoseconds of the bundle's time, step=N, pid=PID or "
             "device=NUMBER, with a ; between several.";
    }
    begin = end;
  }
  if (colon == std::string_view::npos) return "";
  read->options.by = whole.substr(colon + 1);
  if (std::find(pass->keys.begin(), pass->keys.end(), read->options.by) != pass->keys.end())
    return "";
  return "The pass has no key of this name; 'gpuprof help stats' lists them.";
}

}  // namespace gpuprof::analysis
