// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns as Arrow has them: buffers that any number of arrays share, and the fields of a table.
// Export*() hands them to other libraries. What is handed over lives on by itself: it needs neither
// the trace nor what made it. Made by one thread, then read and released by any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arrow/abi.h"

namespace gpuprof::analysis::arrow {

using Buffer = std::shared_ptr<uint8_t[]>;

// Returns memory as Arrow wants it: at a multiple of 64. It is not cleared. Throws bad_alloc.
Buffer NewBuffer(size_t bytes);

// One array. Its buffers are those of its format: validity (null: all values are there), values, or
// offsets and bytes of texts.
struct Array {
  int64_t length = 0;
  int64_t null_count = 0;
  std::vector<Buffer> buffers;
  std::vector<uint64_t> buffer_bytes;  // how much of each is used
  std::vector<std::shared_ptr<const Array>> children;
  std::shared_ptr<const Array> dictionary;
};

// A column, or a whole table (format "+s").
struct Field {
  std::string name = {};
  std::string format = {};
  bool is_nullable = true;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::vector<Field> children = {};
  bool has_dictionary = false;  // of UTF-8: `format` is that of the numbers
};

void ExportArray(std::shared_ptr<const Array> array, ArrowArray* out);
void ExportField(const Field& field, ArrowSchema* out);

// Gives a stream its batches.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual Error Schema(ArrowSchema* out) = 0;
  // Fills `out` with the next batch, or leaves its `release` null: there are no more.
  virtual Error Next(ArrowArray* out) = 0;
};

// Batches of arrays that are made here.
class ArraySource : public BatchSource {
 public:
  Error Schema(ArrowSchema* out) override;
  Error Next(ArrowArray* out) override;
  virtual const Field& field() const = 0;
  // Sets the next batch, or null: there are no more.
  virtual Error NextArray(std::shared_ptr<const Array>* batch) = 0;
};

void ExportStream(std::unique_ptr<BatchSource> source, ArrowArrayStream* out);

// Packs bytes that are 0 or not into bits. Counts those that are not 0.
Buffer PackBits(const uint8_t* bytes, size_t count, size_t* set);
// Makes an array of texts. Throws bad_alloc; an error if they have more than 2 GiB.
Error TextArray(const std::vector<std::string_view>& texts, std::shared_ptr<const Array>* array);

}  // namespace gpuprof::analysis::arrow
