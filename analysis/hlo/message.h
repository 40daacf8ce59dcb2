// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Helps to read messages of XLA, field by field. Any bytes are safe. Any thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/hlo/program.h"
#include "analysis/import/wire.h"

namespace gpuprof::analysis::hlo {

using Field = import::WireField;

// A message in memory. What cannot be read is noted in `is_whole`, which outlives it.
class Message {
 public:
  Message(std::string_view bytes, bool* is_whole) : bytes_(bytes), is_whole_(is_whole) {}
  // Returns the message that a field holds.
  Message In(const Field& field) const { return {field.bytes, is_whole_}; }

  template <typename OnField>
  void ForEach(const OnField& on_field) const {
    import::WireReader reader(bytes_);
    Field field;
    while (reader.Next(&field)) on_field(field);
    if (reader.is_broken()) *is_whole_ = false;
  }
  void MarkBroken() const { *is_whole_ = false; }

 private:
  std::string_view bytes_;
  bool* is_whole_;
};

inline int64_t Signed(const Field& field) { return static_cast<int64_t>(field.value); }

// Adds the numbers of a repeated field: one, or many that are packed.
void AddNumbers(const Field& field, std::vector<int64_t>* numbers);

// Reads a message xla.ShapeProto.
Shape ShapeOf(Message message);

}  // namespace gpuprof::analysis::hlo
