// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See code_frame.h.

#include "analysis/derived/code_frame.h"

#include <array>

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kMostLines = 100'000'000;

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

// Reads "(12): " that begins at `open`. Returns where the name behind it begins; npos: it is none.
size_t ReadLineNumber(std::string_view text, size_t open, uint32_t* line) {
  size_t at = open + 1;
  uint32_t number = 0;
  for (; at < text.size() && IsDecimal(text[at]); ++at) {
    if (number >= kMostLines) return std::string_view::npos;
    number = number * 10 + static_cast<uint32_t>(text[at] - '0');
  }
  if (at == open + 1 || text.substr(at, 3) != "): ") return std::string_view::npos;
  *line = number;
  return at + 3;
}

}  // namespace

CodeFrame ReadFrameName(std::string_view text) {
  CodeFrame frame;
  frame.is_python = true;
  for (size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    const size_t name = ReadLineNumber(text, open, &frame.line);
    if (name == std::string_view::npos) continue;
    frame.file = text.substr(0, open);
    frame.name = text.substr(name);
    frame.is_program = IsProgramFile(frame.file);
    return frame;
  }
  frame.name = text;
  return frame;
}

bool IsProgramFile(std::string_view path) {
  constexpr std::array<std::string_view, 5> kInstalled = {
      "/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3", "/lib/pypy"};
  if (path.empty() || path.starts_with("<frozen ")) return false;
  for (const std::string_view part : kInstalled)
    if (path.find(part) != std::string_view::npos) return false;
  return true;
}

std::string_view EndOfPath(std::string_view path, size_t parts) {
  size_t slash = path.size();
  for (; parts > 0 && slash != 0 && slash != std::string_view::npos; --parts)
    slash = path.rfind('/', slash - 1);
  return slash == 0 || slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string PlaceText(const CodeFrame& frame) {
  std::string place(EndOfPath(frame.file, 2));
  if (frame.line != 0) place += ":" + std::to_string(frame.line);
  return place;
}

std::string FunctionText(const CodeFrame& frame) {
  return frame.file.empty() ? frame.name : frame.name + " (" + frame.file + ")";
}

}  // namespace gpuprof::analysis
