// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Buffers of activity records as a release of CUPTI may hand them over: records of any kind, any
// length and any bytes, and steps through a buffer that lead anywhere. The walk must stay within
// the buffer and end. The recorder's own trace of it must have no fault, and hold each row.
//
// Pointers in records are CUPTI's word, which nobody can check: a record's text pointers are
// replaced by pointers to texts. See Script for the input's form.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_writer.h"
#include "proto/trace.pb.h"
#include "tests/fuzz/cupti_script.h"
#include "tests/fuzz/temp_files.h"
#include "tracer/cupti/activity_sorter.h"

namespace codec = gpuprof::codec;
namespace cupti = gpuprof::tracer::cupti;
namespace fuzz = gpuprof::fuzz;
namespace proto = gpuprof::proto;
using fuzz::Check;

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

namespace {

constexpr uint64_t kTicksPerSecond = 1'000'000'000;

// The tracks of threads whose ids are given again after a while.
class Tracks : public cupti::ThreadTracks {
 public:
  Answer TrackAt(uint32_t tid, uint64_t time) override {
    const uint64_t life = time >> 20;
    const uint64_t until = (life + 1) << 20;
    return {(tid & 0xff) << 8 | static_cast<uint32_t>(life & 0xff), life << 20,
            until != 0 ? until : UINT64_MAX};
  }
  uint32_t NewTrack() override { return ++last_; }

 private:
  uint32_t last_ = 1 << 16;
};

// Every third function has a name, some record events, some launch graphs.
const cupti::FunctionNames& Names() {
  static const std::unique_ptr<const cupti::FunctionNames> names = [] {
    auto made = std::make_unique<cupti::FunctionNames>();
    for (uint32_t domain = cupti::kDriverApi; domain <= cupti::kRuntimeApi; ++domain) {
      for (uint32_t id = 0; id < cupti::FunctionNames::kMost; ++id) {
        if (id % 3 == 0) made->name[domain][id] = "cudaSomething_v7000";
        made->is_recorded[domain][id] = id % 8 != 7;
        made->is_event_record[domain][id] = id % 16 == 2;
        made->is_graph_launch[domain][id] = id % 16 == 3;
      }
    }
    return made;
  }();
  return *names;
}

// What the drain does with a sorter, into a trace of its own.
class Recorder {
 public:
  explicit Recorder(const std::string& path) : path_(path) {
    unlink(path.c_str());
    proto::FileHeader header = {};
    header.pid = 1;
    Check(writer_.Create(path.c_str(), header));
  }

  cupti::ActivitySorter& sorter() { return sorter_; }

  void WriteRows() {
    rows_ += sorter_.rows();
    WriteTables();
    uint64_t written = 0;
    for (const auto& buffer : sorter_.buffers()) {
      if (buffer->count() == 0) continue;
      written += buffer->count();
      Check(writer_.WriteEvents(buffer->Encode(), 1, 0));
      buffer->RowsAreWritten();
    }
    Check(written == sorter_.rows());
    sorter_.RowsAreWritten();
  }

  void CheckTrace() {
    sorter_.Release(0, kTicksPerSecond, /*all=*/true, Names());
    WriteRows();
    writer_.WriteEnd({});
    writer_.Close();
    const std::vector<uint8_t> file = fuzz::ReadFile(path_);
    codec::TraceScan scan;
    Check(codec::Scan(file.data(), file.size(), &scan) && scan.faults.empty() && scan.has_end);
    uint64_t rows = 0;
    for (const codec::BlockRef& block : scan.blocks) rows += RowsOf(file, block);
    Check(rows == rows_);
  }

 private:
  template <typename Take>
  void WriteTable(proto::ChunkKind kind, int field, Take take) {
    std::vector<uint8_t> message;
    const uint32_t entries = take(&message);
    Check((entries == 0) == message.empty());
    if (entries != 0)
      Check(writer_.WriteTable(kind, 1, field, message.data(), message.size(), entries));
  }

  void WriteTables() {
    namespace field = codec::chunk_field;
    using proto::ChunkKind;
    WriteTable(ChunkKind::kStrings, field::kStrings,
               [this](auto* out) { return strings_.TakeStrings(out); });
    WriteTable(ChunkKind::kSignatures, field::kSignatures,
               [this](auto* out) { return sorter_.TakeSignatures(out); });
    WriteTable(ChunkKind::kStreams, field::kStreams,
               [this](auto* out) { return sorter_.TakeStreams(out); });
    WriteTable(ChunkKind::kDevices, field::kDevices, [this](auto* out) {
      return sorter_.TakeDevices({4096, true}, out);
    });
    WriteTable(ChunkKind::kFunctions, field::kFunctions,
               [this](auto* out) { return sorter_.TakeFunctions(out); });
    WriteTable(ChunkKind::kGraphNodes, field::kGraphNodes,
               [this](auto* out) { return sorter_.graphs().Take(NoGraphEvents(), out); });
  }

  static const cupti::GraphEvents& NoGraphEvents() {
    static const auto none = std::make_unique<cupti::GraphEvents>();
    return *none;
  }

  // Returns how many rows the block holds; a table must be a message.
  static uint64_t RowsOf(const std::vector<uint8_t>& file, const codec::BlockRef& block) {
    static codec::BlockDecoder decoder;
    codec::Fault fault;
    if (proto::FindTable(static_cast<proto::ChunkKind>(block.header.kind)) == nullptr) {
      const uint8_t* message = nullptr;
      uint64_t bytes = 0;
      proto::Trace trace;
      Check(decoder.Decompress(file.data(), block, &message, &bytes, &fault));
      Check(trace.ParseFromArray(message, static_cast<int>(bytes)) && trace.chunk_size() == 1);
      return 0;
    }
    codec::EventColumns columns;
    Check(decoder.DecodeEvents(file.data(), block, &columns, &fault));
    return columns.count;
  }

  std::string path_;
  Tracks tracks_;
  codec::InternTables strings_{100, 1000, 100'000};
  cupti::ActivitySorter sorter_{&strings_, &tracks_};
  static inline codec::TraceWriter writer_;  // one for all inputs: its compressor is costly to make
  uint64_t rows_ = 0;
};

// The library: its buffer, of the exact size, and its steps through the buffer.
class Library {
 public:
  Library(const fuzz::Buffer& buffer, bool owns_data)
      : bytes_(buffer.bytes.begin(), buffer.bytes.end()),
        steps_(buffer.steps),
        is_stuck_(buffer.is_stuck),
        owns_data_(owns_data) {}

  void GiveTo(cupti::ActivitySorter* sorter) {
    g_library = this;
    sorter->OwnData(owns_data_);
    sorter->Consume({bytes_.data(), bytes_.size(), 0}, Next, Names());
  }

 private:
  static int Next(uint8_t* buffer, size_t valid, void** at) {
    Library& library = *g_library;
    Check(buffer == library.bytes_.data() && valid == library.bytes_.size());
    return library.NextStep(at);
  }

  int NextStep(void** at) {
    const bool is_over = taken_ == steps_.size();
    const fuzz::Step step =
        !is_over ? steps_[taken_++]
                 : fuzz::Step{place_, is_stuck_ ? cupti::kSuccess : cupti::kMaxLimitReached};
    const bool is_success = step.result == cupti::kSuccess;
    ReplacePointers(is_success ? step.place : static_cast<std::ptrdiff_t>(bytes_.size()));
    if (!is_success) return step.result;
    // A place outside of the buffer is a number, not a pointer to be computed.
    *at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(bytes_.data()) +
                                  static_cast<uintptr_t>(step.place));
    place_ = step.place;
    return step.result;
  }

  // In the record that ends here, which the walk looks at next.
  void ReplacePointers(std::ptrdiff_t end) {
    if (place_ < 0 || end <= place_ || end > static_cast<std::ptrdiff_t>(bytes_.size())) return;
    const auto bytes = static_cast<size_t>(end - place_);
    uint8_t* const at = &bytes_[static_cast<size_t>(place_)];
    const cupti::Record record(at, bytes);
    switch (record.kind()) {
      case cupti::Activity::kConcurrentKernel:
        return PutText(cupti::kernel::kName, at, bytes);
      case cupti::Activity::kMemory2:
        PutText(cupti::memory::kName, at, bytes);
        return PutText(cupti::memory::kSource, at, bytes);
      case cupti::Activity::kDevice:
        return PutText(cupti::device::kName, at, bytes);
      case cupti::Activity::kOverhead:
        return PutData(record, at, bytes);
      default:
        return;
    }
  }

  static void PutText(size_t offset, uint8_t* at, size_t bytes) {
    static const std::string long_text(70'000, 'x');
    static const char* const kTexts[] = {nullptr, "", "kernel<float>(int)", "\xff\xfe\n",
                                         long_text.c_str()};
    if (offset + sizeof(char*) > bytes) return;
    const char* text = kTexts[at[offset] % std::size(kTexts)];
    std::memcpy(at + offset, &text, sizeof text);
  }

  // Memory that the sorter must free if it owns such memory.
  void PutData(const cupti::Record& record, uint8_t* at, size_t bytes) const {
    if (cupti::overhead::kData + sizeof(void*) > bytes) return;
    const bool is_ours =
        owns_data_ && record.U32(cupti::overhead::kKind) == cupti::kCommandBufferFull;
    void* const data = is_ours ? std::malloc(1) : nullptr;
    std::memcpy(at + cupti::overhead::kData, &data, sizeof data);
  }

  static inline Library* g_library = nullptr;
  std::vector<uint8_t> bytes_;
  std::vector<fuzz::Step> steps_;
  bool is_stuck_;
  bool owns_data_;
  size_t taken_ = 0;
  std::ptrdiff_t place_ = -1;  // that was told last; -1: none yet
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::Folder folder;
  static const std::string path = folder / "p1-1.gpt";
  fuzz::Script script(data, size);
  Recorder recorder(path);
  cupti::ActivitySorter& sorter = recorder.sorter();
  if (script.has(fuzz::kLimitsCalls)) sorter.budget().SetLimit(cupti::RateBudget::kCalls, 8);
  if (script.has(fuzz::kLimitsNodes)) sorter.budget().SetLimit(cupti::RateBudget::kNodes, 8);
  if (script.has(fuzz::kHasEarliest)) sorter.SetEarliest(uint64_t{1} << 32);
  uint64_t now = 0;
  do {
    const uint8_t operation = script.Next();
    if (operation == fuzz::kRelease) {
      sorter.Release(now += 3 * kTicksPerSecond, kTicksPerSecond, /*all=*/false, Names());
    } else if (operation == fuzz::kWrite) {
      recorder.WriteRows();
      if (sorter.budget().WantsChange()) sorter.budget().Adapt();
    } else {
      script.buffer().is_stuck = operation == fuzz::kEndStuck;
      Library(script.buffer(), script.has(fuzz::kOwnsData)).GiveTo(&sorter);
      script.buffer() = {};
    }
  } while (!script.is_over());
  recorder.CheckTrace();
  return 0;
}
