// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the codec's tests share: rows and their expected values, folders, files in memory, and a
// stand-in for a recording process that writes a real ring file with the producer's own functions.

#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_reader.h"
#include "proto/ring.h"
#include "proto/schema.h"
#include "proto/trace.pb.h"

namespace gpuprof::codec {

using Row = std::vector<uint64_t>;

// A folder that is gone with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::vector<uint8_t> ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes);
bool Exists(const std::string& path);
// Everything that `zstd -dc` would print.
std::vector<uint8_t> DecompressAll(const std::vector<uint8_t>& file);
proto::Trace ParseAll(const std::vector<uint8_t>& file);

// A trace file of one block: the builder's rows.
std::vector<uint8_t> FileOf(ChunkBuilder* builder);

// Row values as a reader must give them back, with times rounded to the shift.
Row Expected(const proto::TableSpec& table, Row row, uint32_t time_shift);
// Where the row's span begins; its time if it has none.
uint64_t StartOf(const proto::TableSpec& table, const Row& row);
void AppendRow(ChunkBuilder* builder, const Row& row);
std::vector<Row> RowsOf(const EventColumns& columns);
// The same from a libprotobuf message, by the letter of proto/FORMAT.md.
std::vector<Row> RowsOf(const proto::Chunk& chunk);
// Returns the two rounding errors of each row, joined as FORMAT.md joins them.
std::vector<int64_t> RoundingErrorsOf(const proto::Chunk& chunk);

// All event rows of a whole file, by track and kind, in file order. Fails the test on any fault.
std::vector<Row> ReadRows(const std::vector<uint8_t>& file, uint32_t track, proto::ChunkKind kind);

proto::FileHeader TestHeader();

// A ring file with rings, as a recording process would have left it.
class FakeProcess {
 public:
  // `stem` without suffix; every ring has room for `capacity` records.
  FakeProcess(const std::string& stem, uint32_t rings, uint32_t capacity);
  ~FakeProcess();

  proto::RingFileHeader& header() { return *header_; }
  proto::RingHeader* ring(uint32_t index) { return rings_[index]; }
  const std::string& ring_path() const { return ring_path_; }

 private:
  std::string ring_path_;
  void* mapping_ = nullptr;
  uint64_t bytes_ = 0;
  proto::RingFileHeader* header_ = nullptr;
  std::vector<proto::RingHeader*> rings_;
};

// "p<pid>-<start>" of a process that has just ended.
std::string DeadStem();

// Maps a file of the inject object's name, as a process does that is recorded or dormant.
void CarryObject(const TempFolder& folder);

// Records.
proto::Record HeapRecord(uint64_t time, uint64_t address, uint64_t size, bool is_free = false);
proto::Record OpRecord(uint64_t end, uint32_t duration, uint32_t name, uint32_t depth);
// A stack prefix with `shared` frames of the stack before, then the event.
std::vector<proto::Record> WithStack(const std::vector<uint64_t>& pcs, uint64_t shared,
                                     const proto::Record& event);
std::vector<proto::Record> StringRecord(uint32_t id, const std::string& text);
bool WriteGroup(proto::RingHeader* ring, const std::vector<proto::Record>& records);

}  // namespace gpuprof::codec
