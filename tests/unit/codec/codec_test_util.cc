// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See codec_test_util.h.

#include "tests/unit/codec/codec_test_util.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "proto/codec/trace_writer.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::codec {

using proto::Encoding;
using proto::Record;
using proto::RecordKind;

TempFolder::TempFolder() {
  char name[] = "/tmp/gpuprof-codec-XXXXXX";
  path_ = mkdtemp(name);
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good()) << path;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<uint8_t> DecompressAll(const std::vector<uint8_t>& file) {
  const unsigned long long bound = ZSTD_decompressBound(file.data(), file.size());
  EXPECT_NE(bound, ZSTD_CONTENTSIZE_ERROR);
  std::vector<uint8_t> all(bound);
  const size_t bytes = ZSTD_decompress(all.data(), all.size(), file.data(), file.size());
  EXPECT_FALSE(ZSTD_isError(bytes)) << ZSTD_getErrorName(bytes);
  all.resize(ZSTD_isError(bytes) ? 0 : bytes);
  return all;
}

proto::Trace ParseAll(const std::vector<uint8_t>& file) {
  const std::vector<uint8_t> all = DecompressAll(file);
  proto::Trace trace;
  EXPECT_TRUE(trace.ParseFromArray(all.data(), static_cast<int>(all.size())));
  return trace;
}

namespace {

int SpanColumn(const proto::TableSpec& table) {
  for (int i = 0; i < table.columns; ++i) {
    const Encoding encoding = table.column[i].encoding;
    if (encoding == Encoding::kSpan || encoding == Encoding::kDuration) return i;
  }
  return -1;
}

}  // namespace

uint64_t StartOf(const proto::TableSpec& table, const Row& row) {
  const int span = SpanColumn(table);
  if (span < 0) return row[0];
  const uint64_t duration = row[static_cast<size_t>(span)];
  return duration > row[0] ? 0 : row[0] - duration;
}

Row Expected(const proto::TableSpec& table, Row row, uint32_t time_shift) {
  const int span = SpanColumn(table);
  const uint64_t start = StartOf(table, row);
  const uint64_t end = row[0] >> time_shift << time_shift;
  row[0] = end;
  if (span >= 0) row[static_cast<size_t>(span)] = end - (start >> time_shift << time_shift);
  return row;
}

std::vector<uint8_t> FileOf(ChunkBuilder* builder) {
  const TempFolder folder;
  const std::string path = folder / "p1-1.gpt";
  TraceWriter writer;
  EXPECT_TRUE(writer.Create(path.c_str(), TestHeader()));
  EXPECT_TRUE(writer.WriteEvents(builder, 1, 0));
  writer.Close();
  return ReadBytes(path);
}

void AppendRow(ChunkBuilder* builder, const Row& row) {
  builder->Append(row, StartOf(*proto::FindTable(builder->kind()), row));
}

std::vector<Row> RowsOf(const EventColumns& columns) {
  const proto::TableSpec& table = *proto::FindTable(columns.kind);
  std::vector<Row> rows(columns.count, Row(static_cast<size_t>(table.columns)));
  for (int c = 0; c < table.columns; ++c) {
    const auto& values = columns.column[c];
    if (values.empty()) continue;
    EXPECT_EQ(values.size(), columns.count);
    for (uint32_t i = 0; i < columns.count; ++i) rows[i][static_cast<size_t>(c)] = values[i];
  }
  for (int c = table.columns; c < proto::kWidestTable; ++c) {
    EXPECT_TRUE(columns.column[c].empty());
  }
  return rows;
}

namespace {

// By the letter of FORMAT.md.
class ColumnSum {
 public:
  ColumnSum(Encoding encoding, const proto::Chunk& chunk)
      : encoding_(encoding),
        chunk_(chunk),
        sum_(encoding == Encoding::kTime ? chunk.base_time() : 0) {}

  // `row` has its key already.
  uint64_t Add(uint64_t residual, const Row& row) {
    switch (encoding_) {
      case Encoding::kPlain:
      case Encoding::kGap:
      case Encoding::kDuration:
        return residual;
      case Encoding::kSpan:
        return residual << chunk_.time_shift();
      case Encoding::kDelta:
        return sum_ += residual;
      case Encoding::kTime:
        return (sum_ += residual) << chunk_.time_shift();
      case Encoding::kAddress:
        sum_ += residual;
        return sum_ << 4 | sum_ >> 60;
      case Encoding::kKeyed:
        return last_[row[2]] += residual;
    }
    return 0;
  }

 private:
  Encoding encoding_;
  const proto::Chunk& chunk_;
  uint64_t sum_;
  std::map<uint64_t, uint64_t> last_;
};

}  // namespace

std::vector<int64_t> RoundingErrorsOf(const proto::Chunk& chunk) {
  std::vector<int64_t> errors(chunk.count(), 0);
  constexpr int64_t kPairs[][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                   {0, 1},   {1, -1}, {1, 0},  {1, 1}};
  const int64_t m = static_cast<int64_t>(chunk.tick() == 0 ? 1 : chunk.tick()) + 2;
  size_t row = 0;
  for (int i = 0; i < chunk.rounding_errors_size(); ++i) {
    const uint64_t code = chunk.rounding_errors(i) % 9;
    row += chunk.rounding_errors(i) / 9;
    if (code == 8) {
      const uint64_t value = chunk.rounding_errors(++i);
      errors.at(row++) = static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
    } else {
      errors.at(row++) = kPairs[code][0] * m + kPairs[code][1];
    }
  }
  return errors;
}

// Replaces residuals by ends and durations, by the letter of FORMAT.md. The keys are there already.
void AddPredictions(const proto::Chunk& chunk, std::vector<Row>* rows) {
  using Three = std::vector<int64_t>;  // the oldest first; empty: none
  using Values = std::pair<Three, Three>;
  const auto median = [](Three three) {
    std::sort(three.begin(), three.end());
    return three.empty() ? 0 : three[1];
  };
  const auto push = [](Three* three, uint64_t value) {
    if (three->empty()) three->assign(3, static_cast<int64_t>(value));
    three->erase(three->begin());
    three->push_back(static_cast<int64_t>(value));
  };
  std::map<uint64_t, Values> places, keys;
  uint64_t k1 = 0, k2 = 0, at = chunk.base_time(), rest = uint64_t{1} << 31;
  const uint64_t tick = chunk.tick() == 0 ? 1 : chunk.tick();
  const auto go = [&](uint64_t ticks, int64_t error) {
    const uint64_t fine = rest + ticks * static_cast<uint64_t>(chunk.tick_fraction());
    at += ticks * tick + static_cast<uint64_t>(static_cast<int64_t>(fine) >> 32) +
          static_cast<uint64_t>(error);
    rest = error > 0 ? 0 : error < 0 ? 0xffffffffu : fine & 0xffffffffu;
    return at;
  };
  const std::vector<int64_t> errors = RoundingErrorsOf(chunk);
  for (int i = 0; i < static_cast<int>(chunk.count()); ++i) {
    Row& row = (*rows)[static_cast<size_t>(i)];
    constexpr uint64_t kC = 0x9e3779b97f4a7c15u;
    const uint64_t key = row[2], place = ((k2 * kC ^ k1) * kC) ^ key;
    k2 = k1;
    k1 = key;
    const bool is_new = places.count(place) == 0;
    const bool is_known = keys.count(key) != 0;
    Values values;
    if (!is_new) {
      values = places[place];
    } else if (is_known) {
      values = keys[key];
    }
    uint64_t gap = chunk.c0().empty() ? 0 : static_cast<uint64_t>(chunk.c0(i));
    uint64_t duration = chunk.c1().empty() ? 0 : static_cast<uint64_t>(chunk.c1(i));
    if (chunk.gaps_predicted()) gap += static_cast<uint64_t>(median(values.first));
    duration += static_cast<uint64_t>(median(values.second));
    push(&values.first, gap);
    push(&values.second, duration);
    if (is_new && (is_known || keys.size() < 4096)) keys[key] = values;
    if (!is_new || places.size() < 1024) places[place] = values;
    const int64_t joined = errors[static_cast<size_t>(i)];
    const int64_t m = static_cast<int64_t>(tick) + 2, h = m / 2;
    const int64_t b = ((joined + h) % m + m) % m - h;
    const uint64_t start = go(gap, (joined - b) / m);
    const uint64_t end = go(duration, b);
    row[0] = end << chunk.time_shift();
    row[1] = (end - start) << chunk.time_shift();
  }
}

std::vector<Row> RowsOf(const proto::Chunk& chunk) {
  const proto::TableSpec& table = *proto::FindTable(static_cast<proto::ChunkKind>(chunk.kind()));
  const google::protobuf::RepeatedField<int64_t>* fields[] = {&chunk.c0(), &chunk.c1(), &chunk.c2(),
                                                              &chunk.c3(), &chunk.c4(), &chunk.c5(),
                                                              &chunk.c6(), &chunk.c7()};
  const int count = static_cast<int>(chunk.count());
  std::vector<Row> rows(chunk.count(), Row(static_cast<size_t>(table.columns)));
  const bool is_chained = table.column[0].encoding == Encoding::kGap;
  std::vector<int> order;
  for (int c = 0; c < table.columns; ++c) order.push_back(is_chained && c < 3 ? 2 - c : c);
  for (const int c : order) {
    const auto& residuals = *fields[c];
    EXPECT_TRUE(residuals.empty() || residuals.size() == count) << table.column[c].name;
    ColumnSum sum(table.column[c].encoding, chunk);
    for (int i = 0; i < count; ++i) {
      Row& row = rows[static_cast<size_t>(i)];
      const uint64_t residual = residuals.empty() ? 0 : static_cast<uint64_t>(residuals[i]);
      row[static_cast<size_t>(c)] = sum.Add(residual, row);
    }
  }
  if (is_chained) AddPredictions(chunk, &rows);
  return rows;
}

std::vector<Row> ReadRows(const std::vector<uint8_t>& file, uint32_t track, proto::ChunkKind kind) {
  TraceScan scan;
  EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_TRUE(scan.faults.empty()) << (scan.faults.empty() ? "" : scan.faults[0].what);
  BlockDecoder decoder;
  EventColumns columns;
  std::vector<Row> rows;
  for (const BlockRef& block : scan.blocks) {
    if (block.header.kind != static_cast<uint16_t>(kind) || block.header.track != track) continue;
    Fault fault;
    EXPECT_TRUE(decoder.DecodeEvents(file.data(), block, &columns, &fault)) << fault.what;
    for (Row& row : RowsOf(columns)) rows.push_back(std::move(row));
  }
  return rows;
}

proto::FileHeader TestHeader() {
  proto::FileHeader header = {};
  header.pid = 4711;
  header.start_id = 0x6a11c0de;
  header.realtime_ns = 1'700'000'000'000'000'000u;
  header.ticks_kind = static_cast<uint32_t>(proto::ClockKind::kTsc);
  return header;
}

FakeProcess::FakeProcess(const std::string& stem, uint32_t rings, uint32_t capacity)
    : ring_path_(stem + proto::kRingSuffix) {
  const uint64_t header_bytes = (sizeof(proto::RingFileHeader) + proto::kPageBytes - 1) /
                                proto::kPageBytes * proto::kPageBytes;
  const uint64_t ring_bytes = proto::kRingHeaderBytes + uint64_t{capacity} * proto::kRecordBytes;
  bytes_ = header_bytes + rings * ring_bytes;
  const int fd = open(ring_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes_)), 0);
  mapping_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT_NE(mapping_, MAP_FAILED);
  close(fd);
  header_ = static_cast<proto::RingFileHeader*>(mapping_);
  header_->magic = proto::kRingFileMagic;
  header_->version = proto::kRingFileVersion;
  header_->header_bytes = static_cast<uint32_t>(header_bytes);
  header_->pid = 4711;
  header_->ppid = 1;
  header_->start_id = 0x6a11c0de;
  header_->clock_kind = static_cast<uint64_t>(proto::ClockKind::kMonotonic);
  header_->snapshot_ticks = header_->snapshot_monotonic_ns = 1000;
  header_->snapshot_realtime_ns = 1'700'000'000'000'000'000u;
  header_->ticks_per_second = 1'000'000'000;
  header_->capture.store(1);
  header_->ring_count.store(rings);
  header_->file_bytes.store(bytes_);
  std::strcpy(header_->executable, "/usr/bin/victim");
  for (uint32_t i = 0; i < rings; ++i) {
    const uint64_t offset = header_bytes + i * ring_bytes;
    auto* ring = reinterpret_cast<proto::RingHeader*>(static_cast<char*>(mapping_) + offset);
    ring->magic = proto::kRingMagic;
    ring->capacity = capacity;
    ring->track = i + 1;
    ring->tid = static_cast<int32_t>(4711 + i);
    std::strcpy(ring->name, ("thread" + std::to_string(i)).c_str());
    ring->state.store(static_cast<uint32_t>(proto::RingState::kOwned));
    header_->directory[i].bytes = ring_bytes;
    header_->directory[i].offset.store(offset);
    rings_.push_back(ring);
  }
}

FakeProcess::~FakeProcess() { munmap(mapping_, bytes_); }

std::string DeadStem() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
  char name[64];
  std::snprintf(name, sizeof name, "p%d-%llx", pid,
                static_cast<unsigned long long>(proto::ReadClockNs(CLOCK_REALTIME) / 1000));
  return name;
}

Record HeapRecord(uint64_t time, uint64_t address, uint64_t size, bool is_free) {
  const RecordKind kind = is_free ? RecordKind::kHeapFree : RecordKind::kHeapAlloc;
  const proto::HeapFunction function =
      is_free ? proto::HeapFunction::kFree : proto::HeapFunction::kMalloc;
  return {time, 0, static_cast<uint8_t>(kind), 0, static_cast<uint16_t>(function), address, size};
}

Record OpRecord(uint64_t end, uint32_t duration, uint32_t name, uint32_t depth) {
  return {end, duration, static_cast<uint8_t>(RecordKind::kOp), 0, 0, name, depth};
}

namespace {

void AddPayload(std::vector<Record>* records, const void* data, size_t bytes) {
  const size_t first = records->size();
  records->resize(first + proto::PayloadSlots(bytes));
  if (bytes != 0) std::memcpy(records->data() + first, data, bytes);
}

}  // namespace

std::vector<Record> WithStack(const std::vector<uint64_t>& pcs, uint64_t shared,
                              const Record& event) {
  const size_t bytes = pcs.size() * sizeof(uint64_t);
  std::vector<Record> records = {{event.time, 0, static_cast<uint8_t>(RecordKind::kStack), 0,
                                  static_cast<uint16_t>(pcs.size()), shared, bytes}};
  AddPayload(&records, pcs.data(), bytes);
  records.push_back(event);
  records.back().flags |= proto::kFlagHasStack;
  return records;
}

std::vector<Record> StringRecord(uint32_t id, const std::string& text) {
  std::vector<Record> records = {
      {0, 0, static_cast<uint8_t>(RecordKind::kString), 0, 0, id, text.size()}};
  AddPayload(&records, text.data(), text.size());
  return records;
}

void CarryObject(const TempFolder& folder) {
  const int fd = open((folder / proto::kInjectObject).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  ASSERT_NE(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
  close(fd);
}

bool WriteGroup(proto::RingHeader* ring, const std::vector<Record>& records) {
  return proto::RingWriteGroup(ring, records.data(), static_cast<uint32_t>(records.size()), 1);
}

}  // namespace gpuprof::codec
