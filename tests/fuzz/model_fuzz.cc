// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From tables and rows to results: the input is a serialized Trace. Each of its chunks becomes a
// block whose checksums hold and whose header agrees with it, so that mutations reach the reader's
// tables, the model and the passes rather than the container's checks. Whatever a file claims, it
// must open or be refused with a reason. With GPUPROF_FUZZ_PASSES, every pass must have a result,
// and the timeline must answer.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zstd.h>

#include <nlohmann/json.hpp>

#include "tests/fuzz/temp_files.h"

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#if GPUPROF_FUZZ_PASSES
#include "analysis/timeline/answer.h"
#endif
#include "proto/codec/trace_writer.h"
#include "proto/trace.pb.h"

namespace analysis = gpuprof::analysis;
namespace proto = gpuprof::proto;
using gpuprof::fuzz::Check;

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

namespace {

void WriteChunk(const proto::Chunk& chunk, gpuprof::codec::TraceWriter* writer) {
  proto::Trace trace;
  *trace.add_chunk() = chunk;
  const std::string raw = trace.SerializeAsString();
  std::vector<uint8_t> frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
  proto::BlockHeader header = {};
  header.compressed_bytes = static_cast<uint32_t>(frame.size());
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.kind = static_cast<uint16_t>(chunk.kind());
  header.track = chunk.track();
  header.count = chunk.count();
  header.capture = static_cast<uint16_t>(chunk.capture());
  header.dropped_before = chunk.dropped_before();
  header.first_time = 0;
  header.last_time = ~uint64_t{0} >> 1;
  writer->CopyBlock(header, frame.data());
}

#if GPUPROF_FUZZ_PASSES
// Asks the timeline's questions about each track, near and far. All that it lists must be there.
void AskTimeline(const analysis::Trace& trace) {
  namespace timeline = analysis::timeline;
  timeline::TimelineOptions options;
  options.grain = {64, 32, 256};
  timeline::Timeline asked(std::shared_ptr<const analysis::Trace>(std::shared_ptr<void>(), &trace),
                           options);
  std::string text;
  Check(!timeline::Answer(&asked, R"({"ask":"info"})", &text) && nlohmann::json::accept(text));
  const timeline::TraceInfo& info = asked.info();
  const double length = info.end_ns - info.start_ns;
  timeline::Selection all;
  all.start_ns = info.start_ns;
  all.end_ns = info.end_ns + 1;
  for (const timeline::TrackInfo& track : info.tracks) {
    const bool is_curve = track.kind == timeline::TrackKind::kQueue ||
                          track.kind == timeline::TrackKind::kMemory ||
                          track.kind == timeline::TrackKind::kCounter;
    for (const double part : {1.0, 0.01, 1e-6}) {
      const double start = info.start_ns + length / 3 * (1 - part);
      const double end = start + length * part;
      timeline::CounterAnswer curve;
      timeline::SpansAnswer spans;
      const double scale = length * part / 1000 + 0.5;
      const analysis::Error error = is_curve ? asked.Counter(track.id, start, end, scale, &curve)
                                             : asked.Spans({track.id}, start, end, scale, &spans);
      Check(!error);
    }
    if (is_curve) continue;
    for (const uint64_t row : {uint64_t{0}, track.rows / 2, track.rows - 1}) {
      timeline::EventDetail event;
      const analysis::Error error = asked.Event(track.id, static_cast<uint32_t>(row), &event);
      // Rows that give names to other things are not events.
      Check(!error || track.kind == timeline::TrackKind::kRange);
    }
    timeline::RangeAnswer range;
    Check(!asked.Range(track.kind, all, &range));
  }
  std::vector<timeline::DeviceGaps> gaps;
  timeline::CallTree tree;
  timeline::SearchAnswer found;
  Check(!asked.Gaps(all, &gaps) && !asked.Calls(all, &tree) && !asked.Search("e", 10, &found));
}

void RunPasses(const analysis::Trace& trace) {
  analysis::PassOptions options;
  options.symbolize = false;
  for (const analysis::PassInfo& pass : analysis::Passes()) {
    std::unique_ptr<google::protobuf::Message> result;
    const analysis::Error error = analysis::Run(pass.name, trace, options, &result);
    Check(error ? !error.message.empty() : result != nullptr);
    if (error) continue;
    for (const auto format :
         {analysis::Format::kText, analysis::Format::kJson, analysis::Format::kCsv}) {
      analysis::Render(*result, format, options, 100);
    }
  }
  const analysis::Sink sink = [](void* lines, std::string_view) {
    return ++*static_cast<int*>(lines) < 1000;
  };
  int lines = 0;
  analysis::Dump(trace, options, sink, &lines);
  analysis::DescribeJson(trace);
  std::string json;
  const analysis::Sink append = [](void* text, std::string_view piece) {
    *static_cast<std::string*>(text) += piece;
    return true;
  };
  analysis::ExportReport report;
  Check(!analysis::ExportChrome(trace, {}, append, &json, &report) && nlohmann::json::accept(json));
  AskTimeline(trace);
}
#else
void RunPasses(const analysis::Trace&) {}
#endif

bool HasSums(const proto::Trace& input) {
  return std::any_of(input.chunk().begin(), input.chunk().end(), [](const proto::Chunk& chunk) {
    return chunk.kind() == static_cast<uint32_t>(proto::ChunkKind::kWorkSums);
  });
}

// Work is read as sums, from the tables and from the rows.
void CheckSums(const std::string& path, analysis::OpenOptions options) {
  options.sums_above_rows = 1;
  for (const bool trusts_sums : {true, false}) {
    options.trusts_sums = trusts_sums;
    std::shared_ptr<const analysis::Trace> trace;
    const analysis::Error error = analysis::Open(path, options, &trace);
    Check(error ? !error.message.empty() : trace != nullptr);
    if (!error && trace->has_sums) RunPasses(*trace);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuprof::fuzz::Folder folder;
  static const std::string path = folder / "p1-1.gpt";
  proto::Trace input;
  if (!input.ParseFromArray(data, static_cast<int>(size))) return 0;
  gpuprof::codec::TraceWriter writer;
  proto::FileHeader header = {};
  header.pid = 1;
  header.ticks_kind = 1;
  unlink(path.c_str());
  Check(writer.Create(path.c_str(), header));
  for (const proto::Chunk& chunk : input.chunk()) WriteChunk(chunk, &writer);
  writer.WriteEnd({});
  writer.Close();
  analysis::OpenOptions options;
  options.threads = 1;
  options.recover = false;
  options.memory_limit_bytes = uint64_t{256} << 20;
  std::shared_ptr<const analysis::Trace> trace;
  const analysis::Error error = analysis::Open(path, options, &trace);
  Check(error ? !error.message.empty() : trace != nullptr);
  if (!error) RunPasses(*trace);
  if (HasSums(input)) CheckSums(path, options);
  return 0;
}
