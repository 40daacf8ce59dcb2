// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See ipc_writer.h.

#include "analysis/arrow/ipc_writer.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <string>
#include <utility>

namespace gpuprof::analysis::arrow {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;
using Table = flatbuffers::Table;

constexpr char kMagic[] = "ARROW1\0";  // with the end of the text: eight bytes
constexpr size_t kEndMagicBytes = 6;
constexpr uint64_t kAlignment = 64;
constexpr int16_t kVersion = 4;  // V5
constexpr uint8_t kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3;
constexpr uint8_t kInt = 2, kFloatingPoint = 3, kUtf8 = 5, kBool = 6;

struct FieldNode {
  int64_t length, null_count;
};
struct BodyBuffer {
  int64_t offset, length;
};

uint64_t Padded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Returns the place of a field in a table of flatbuffers, by its number.
flatbuffers::voffset_t At(int field) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * field);  // NOLINT(*-magic-numbers)
}

Offset<Table> IntType(Builder* builder, int bits, bool is_signed) {
  const auto start = builder->StartTable();
  builder->AddElement<int32_t>(At(0), bits, 0);
  builder->AddElement<uint8_t>(At(1), is_signed ? 1 : 0, 0);
  return {builder->EndTable(start)};
}

// Makes the type of a format of the C data interface. `kind` gets its number.
Offset<Table> TypeOf(Builder* builder, const std::string& format, uint8_t* kind) {
  constexpr int kWide = 64, kNarrow = 32;
  *kind = kInt;
  if (format == "l") return IntType(builder, kWide, true);
  if (format == "L") return IntType(builder, kWide, false);
  if (format == "I") return IntType(builder, kNarrow, false);
  if (format == "i") return IntType(builder, kNarrow, true);
  const auto start = builder->StartTable();
  *kind = format == "g" ? kFloatingPoint : format == "b" ? kBool : kUtf8;
  constexpr int16_t kDouble = 2;
  if (*kind == kFloatingPoint) builder->AddElement<int16_t>(At(0), kDouble, 0);
  return {builder->EndTable(start)};
}

using KeyValues = Offset<flatbuffers::Vector<Offset<Table>>>;

KeyValues MetadataOf(Builder* builder, const Field& field) {
  std::vector<Offset<Table>> pairs;
  for (const auto& [key, value] : field.metadata) {
    const auto key_text = builder->CreateString(key);
    const auto value_text = builder->CreateString(value);
    const auto start = builder->StartTable();
    builder->AddOffset(At(0), key_text);
    builder->AddOffset(At(1), value_text);
    pairs.emplace_back(builder->EndTable(start));
  }
  return builder->CreateVector(pairs);
}

Offset<Table> ColumnOf(Builder* builder, const Field& field, int64_t id) {
  const auto name = builder->CreateString(field.name);
  const auto metadata = MetadataOf(builder, field);
  const auto children = builder->CreateVector(std::vector<Offset<Table>>());
  Offset<Table> encoding(0);
  if (field.has_dictionary) {
    constexpr int kNarrow = 32;
    const Offset<Table> numbers = IntType(builder, kNarrow, true);
    const auto start = builder->StartTable();
    builder->AddElement<int64_t>(At(0), id, 0);
    builder->AddOffset(At(1), numbers);
    encoding = Offset<Table>(builder->EndTable(start));
  }
  // A column with a dictionary has the type of its texts.
  uint8_t kind = 0;
  const Offset<Table> type = TypeOf(builder, field.has_dictionary ? "u" : field.format, &kind);
  const auto start = builder->StartTable();
  builder->AddOffset(At(0), name);
  builder->AddElement<uint8_t>(At(1), field.is_nullable ? 1 : 0, 0);
  builder->AddElement<uint8_t>(At(2), kind, 0);
  builder->AddOffset(At(3), type);
  if (field.has_dictionary) builder->AddOffset(At(4), encoding);
  builder->AddOffset(At(5), children);
  builder->AddOffset(At(6), metadata);
  return {builder->EndTable(start)};
}

Offset<Table> SchemaOf(Builder* builder, const Field& field) {
  std::vector<Offset<Table>> columns;
  for (size_t i = 0; i < field.children.size(); ++i)
    columns.push_back(ColumnOf(builder, field.children[i], static_cast<int64_t>(i)));
  const auto list = builder->CreateVector(columns);
  const auto metadata = MetadataOf(builder, field);
  const auto start = builder->StartTable();
  builder->AddOffset(At(1), list);
  builder->AddOffset(At(2), metadata);
  return {builder->EndTable(start)};
}

Offset<Table> BatchOf(Builder* builder, int64_t length, const std::vector<const Array*>& arrays) {
  std::vector<FieldNode> nodes;
  std::vector<BodyBuffer> buffers;
  uint64_t offset = 0;
  for (const Array* const array : arrays) {
    nodes.push_back({array->length, array->null_count});
    for (const uint64_t bytes : array->buffer_bytes) {
      buffers.push_back({static_cast<int64_t>(offset), static_cast<int64_t>(bytes)});
      offset += Padded(bytes);
    }
  }
  const auto node_list = builder->CreateVectorOfStructs(nodes);
  const auto buffer_list = builder->CreateVectorOfStructs(buffers);
  const auto start = builder->StartTable();
  builder->AddElement<int64_t>(At(0), length, 0);
  builder->AddOffset(At(1), node_list);
  builder->AddOffset(At(2), buffer_list);
  return {builder->EndTable(start)};
}

uint64_t BodyBytes(const std::vector<const Array*>& arrays) {
  uint64_t bytes = 0;
  for (const Array* const array : arrays)
    for (const uint64_t each : array->buffer_bytes) bytes += Padded(each);
  return bytes;
}

// Ends a message with this header.
void EndMessage(Builder* builder, uint8_t kind, Offset<Table> header, uint64_t body_bytes) {
  const auto start = builder->StartTable();
  builder->AddElement<int16_t>(At(0), kVersion, 0);
  builder->AddElement<uint8_t>(At(1), kind, 0);
  builder->AddOffset(At(2), header);
  builder->AddElement<int64_t>(At(3), static_cast<int64_t>(body_bytes), 0);
  builder->Finish(Offset<Table>(builder->EndTable(start)));
}

}  // namespace

IpcWriter::IpcWriter(Field field, Put put) : field_(std::move(field)), put_(std::move(put)) {}

bool IpcWriter::PutBytes(const void* bytes, uint64_t count) {
  offset_ += static_cast<int64_t>(count);
  return count == 0 || put_({static_cast<const char*>(bytes), static_cast<size_t>(count)});
}

bool IpcWriter::PutZeros(uint64_t count) {
  static constexpr char kZeros[kAlignment] = {};
  return PutBytes(kZeros, count);
}

bool IpcWriter::PutMessage(const uint8_t* bytes, size_t count,
                           const std::vector<const Array*>& arrays, Block* block) {
  // The body begins at a multiple of the alignment.
  struct Prefix {
    uint32_t mark = UINT32_MAX;
    int32_t bytes = 0;
  } prefix;
  const auto at = static_cast<uint64_t>(offset_);
  const uint64_t end = Padded(at + sizeof prefix + count);
  prefix.bytes = static_cast<int32_t>(end - at - sizeof prefix);
  *block = {offset_, static_cast<int32_t>(end - at), 0, static_cast<int64_t>(BodyBytes(arrays))};
  bool goes_on = PutBytes(&prefix, sizeof prefix) && PutBytes(bytes, count) &&
                 PutZeros(end - static_cast<uint64_t>(offset_));
  for (size_t i = 0; i < arrays.size() && goes_on; ++i) goes_on = PutBody(*arrays[i]);
  return goes_on;
}

bool IpcWriter::PutBody(const Array& array) {
  for (size_t i = 0; i < array.buffers.size(); ++i) {
    const uint64_t bytes = array.buffer_bytes[i];
    if (!PutBytes(array.buffers[i].get(), bytes) || !PutZeros(Padded(bytes) - bytes)) return false;
  }
  return true;
}

bool IpcWriter::Begin() {
  Builder builder;
  EndMessage(&builder, kSchema, SchemaOf(&builder, field_), 0);
  Block block;
  return PutBytes(kMagic, sizeof kMagic) &&
         PutMessage(builder.GetBufferPointer(), builder.GetSize(), {}, &block);
}

bool IpcWriter::PutDictionary(int64_t id, const Array& values) {
  Builder builder;
  const Offset<Table> data = BatchOf(&builder, values.length, {&values});
  const auto start = builder.StartTable();
  builder.AddElement<int64_t>(At(0), id, 0);
  builder.AddOffset(At(1), data);
  const Offset<Table> batch(builder.EndTable(start));
  EndMessage(&builder, kDictionaryBatch, batch, BodyBytes({&values}));
  return PutMessage(builder.GetBufferPointer(), builder.GetSize(), {&values},
                    &dictionaries_.emplace_back());
}

bool IpcWriter::Write(const Array& batch) {
  std::vector<const Array*> columns;
  for (size_t i = 0; i < batch.children.size(); ++i) {
    const Array& column = *batch.children[i];
    columns.push_back(&column);
    if (has_dictionaries_ || column.dictionary == nullptr) continue;
    if (!PutDictionary(static_cast<int64_t>(i), *column.dictionary)) return false;
  }
  has_dictionaries_ = true;
  Builder builder;
  EndMessage(&builder, kRecordBatch, BatchOf(&builder, batch.length, columns), BodyBytes(columns));
  return PutMessage(builder.GetBufferPointer(), builder.GetSize(), columns,
                    &batches_.emplace_back());
}

bool IpcWriter::Finish() {
  const uint32_t end_of_stream[] = {UINT32_MAX, 0};
  Builder builder;
  const Offset<Table> schema = SchemaOf(&builder, field_);
  const auto dictionaries = builder.CreateVectorOfStructs(dictionaries_);
  const auto batches = builder.CreateVectorOfStructs(batches_);
  const auto start = builder.StartTable();
  builder.AddElement<int16_t>(At(0), kVersion, 0);
  builder.AddOffset(At(1), schema);
  builder.AddOffset(At(2), dictionaries);
  builder.AddOffset(At(3), batches);
  builder.Finish(Offset<Table>(builder.EndTable(start)));
  const auto bytes = static_cast<int32_t>(builder.GetSize());
  return PutBytes(end_of_stream, sizeof end_of_stream) &&
         PutBytes(builder.GetBufferPointer(), builder.GetSize()) &&
         PutBytes(&bytes, sizeof bytes) && PutBytes(kMagic, kEndMagicBytes);
}

}  // namespace gpuprof::analysis::arrow
