// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/text.h"

#include <charconv>
#include <limits>

namespace gpuprof::analysis::hlo {
namespace {

constexpr size_t kDeepestStack = 1024;     // frames; Python's own limit of calls is of this size
constexpr size_t kPartsBetweenCounts = 5;  // XLA numbers every fifth part of a long tuple

void Join(const std::vector<int64_t>& numbers, std::string* text) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) *text += ',';
    *text += std::to_string(numbers[i]);
  }
}

void AddTuple(const Shape& shape, size_t most, std::string* text) {
  *text += '(';
  for (size_t i = 0; i < shape.parts.size() && text->size() < most; ++i) {
    if (i != 0) *text += ", ";
    if (i != 0 && i % kPartsBetweenCounts == 0) *text += "/*index=" + std::to_string(i) + "*/";
    *text += TextOf(shape.parts[i], most - text->size());
  }
  *text += ')';
}

void AddDimensions(const Shape& shape, size_t most, std::string* text) {
  *text += '[';
  for (size_t i = 0; i < shape.dimensions.size() && text->size() < most; ++i) {
    if (i != 0) *text += ',';
    const bool is_dynamic = i < shape.is_dynamic.size() && shape.is_dynamic[i];
    if (is_dynamic && shape.dimensions[i] == std::numeric_limits<int64_t>::min()) {
      *text += '?';  // without a bound
      continue;
    }
    if (is_dynamic) *text += "<=";
    *text += std::to_string(shape.dimensions[i]);
  }
  *text += ']';
}

void AddLayout(const Shape& shape, std::string* text) {
  std::string rest;
  if (!shape.tiles.empty()) {
    rest += 'T';
    for (const std::vector<int64_t>& tile : shape.tiles) {
      rest += '(';
      for (size_t i = 0; i < tile.size(); ++i) {
        if (i != 0) rest += ',';
        // The smallest number says that the dimension is combined with the next one.
        rest += tile[i] == std::numeric_limits<int64_t>::min() ? "*" : std::to_string(tile[i]);
      }
      rest += ')';
    }
  }
  if (shape.tail_padding > 1) rest += "L(" + std::to_string(shape.tail_padding) + ")";
  if (shape.element_bits != 0) rest += "E(" + std::to_string(shape.element_bits) + ")";
  if (shape.memory_space != 0) rest += "S(" + std::to_string(shape.memory_space) + ")";
  if (shape.dimensions.empty() && shape.minor_to_major.empty() && rest.empty()) return;
  *text += '{';
  Join(shape.minor_to_major, text);
  if (!rest.empty()) *text += ':' + rest;
  *text += '}';
}

// Returns an entry of a list that is numbered from 1. Null: there is no such entry.
template <typename Entry>
const Entry* At(const std::vector<Entry>& entries, int32_t number) {
  if (number <= 0 || static_cast<size_t>(number) > entries.size()) return nullptr;
  return &entries[static_cast<size_t>(number) - 1];
}

}  // namespace

std::string TextOf(const Shape& shape, size_t most) {
  std::string text;
  if (shape.is_tuple()) {
    AddTuple(shape, most, &text);
    return text;
  }
  const std::string_view type = NameOf(shape.type);
  text += type.empty() ? std::string_view("?") : type;
  AddDimensions(shape, most, &text);
  if (shape.has_layout && BitsOf(shape.type) != 0) AddLayout(shape, &text);
  return text;
}

std::vector<SourceLine> StackOf(const Program& program, const Instruction& instruction) {
  std::vector<SourceLine> stack;
  const StackFrame* frame = At(program.stack_frames, instruction.stack_frame);
  while (frame != nullptr && stack.size() < kDeepestStack &&
         stack.size() < program.stack_frames.size()) {
    SourceLine line{{}, -1, -1, {}};
    if (const FileLocation* const place = At(program.file_locations, frame->location)) {
      line.line = place->line;
      line.column = place->column;
      if (const auto* const file = At(program.file_names, place->file)) line.file = *file;
      if (const auto* const name = At(program.function_names, place->function))
        line.function = *name;
    }
    stack.push_back(line);
    frame = At(program.stack_frames, frame->parent);
  }
  return stack;
}

NameMatch MatchOf(std::string_view title, uint64_t number, std::string_view wanted) {
  if (wanted == title) return NameMatch::kTitle;
  const char* const end = wanted.data() + wanted.size();
  uint64_t natural = 0;
  const auto as_natural = std::from_chars(wanted.data(), end, natural);
  if (as_natural.ec == std::errc() && as_natural.ptr == end && natural == number)
    return NameMatch::kNumber;
  int64_t negative = 0;
  const auto as_negative = std::from_chars(wanted.data(), end, negative);
  if (as_negative.ec == std::errc() && as_negative.ptr == end && negative < 0 &&
      static_cast<uint64_t>(negative) == number)
    return NameMatch::kNumber;
  const size_t open = title.rfind('(');
  const bool has_number = title.ends_with(')') && open != std::string_view::npos;
  return has_number && title.substr(0, open) == wanted ? NameMatch::kBareName : NameMatch::kNone;
}

SourceLine SourceOf(const Program& program, const Instruction& instruction) {
  if (!instruction.source_file.empty())
    return {instruction.source_file, instruction.source_line, 0, {}};
  for (const SourceLine& line : StackOf(program, instruction))
    if (!line.file.empty()) return line;
  return {};
}

}  // namespace gpuprof::analysis::hlo
