// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table as a file of Arrow's IPC format, which pyarrow, polars and pandas (as Feather) read. One
// thread. Numbers and places of fields are those of Arrow's Schema.fbs, Message.fbs and File.fbs,
// version V5.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/arrow/arrays.h"

namespace gpuprof::analysis::arrow {

class IpcWriter {
 public:
  // Takes pieces of the file. Returns false to get no more.
  using Put = std::function<bool(std::string_view bytes)>;

  explicit IpcWriter(Field field, Put put);
  // Writes the head of the file. Returns false once a piece was refused, as the others do.
  bool Begin();
  // Writes a batch. All batches have the same dictionaries.
  bool Write(const Array& batch);
  bool Finish();

 private:
  // A message in the file, as the footer lists it.
  struct Block {
    int64_t offset;
    int32_t metadata_bytes;
    int32_t padding;
    int64_t body_bytes;
  };

  bool PutBytes(const void* bytes, uint64_t count);
  bool PutZeros(uint64_t count);
  bool PutMessage(const uint8_t* bytes, size_t count, const std::vector<const Array*>& arrays,
                  Block* block);
  bool PutBody(const Array& array);
  bool PutDictionary(int64_t id, const Array& values);

  Field field_;
  Put put_;
  int64_t offset_ = 0;
  bool has_dictionaries_ = false;
  std::vector<Block> dictionaries_, batches_;
};

}  // namespace gpuprof::analysis::arrow
