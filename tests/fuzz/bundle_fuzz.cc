// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A bundle whose bundle.pb holds any bytes, alongside a whole trace and a trace without its end.
// The bundle must open: the traces are read without the manifest if need be. Whatever shows words
// of the manifest must show them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "proto/bundle.pb.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"
#include "proto/trace.pb.h"
#include "tests/fuzz/temp_files.h"

namespace analysis = gpuprof::analysis;
namespace codec = gpuprof::codec;
namespace fuzz = gpuprof::fuzz;
namespace proto = gpuprof::proto;
using fuzz::Check;

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

namespace {

void WriteTable(proto::ChunkKind kind, int field, const std::string& message,
                codec::TraceWriter* writer) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(message.data());
  Check(writer->WriteTable(kind, 1, field, bytes, message.size(), 1));
}

// A process that tells its pid and its clock, and no more: the rest is the manifest's.
void WriteTrace(const std::string& path, int32_t pid, bool with_end) {
  codec::TraceWriter writer;
  proto::FileHeader header = {};
  header.pid = pid;
  header.ticks_kind = 1;
  Check(writer.Create(path.c_str(), header));
  proto::Meta meta;
  meta.set_pid(pid);
  meta.set_ticks_per_second(1'000'000'000);
  WriteTable(proto::ChunkKind::kMeta, codec::chunk_field::kMeta, meta.SerializeAsString(), &writer);
  proto::Clocks clocks;
  for (uint64_t i = 1; i <= 2; ++i) {
    auto* snapshot = clocks.add_snapshot();
    snapshot->set_ticks(i * 1'000'000);
    snapshot->set_monotonic_ns(i * 1'000'000);
    snapshot->set_realtime_ns(i * 1'000'000);
  }
  WriteTable(proto::ChunkKind::kClocks, codec::chunk_field::kClocks, clocks.SerializeAsString(),
             &writer);
  if (with_end) writer.WriteEnd({});
  writer.Close();
}

// A process of this start time never lived.
const fuzz::Folder& Bundle() {
  static const fuzz::Folder folder;
  static const bool is_made = [] {
    WriteTrace(folder / ("p1-1" + std::string(proto::kTraceSuffix)), 1, true);
    WriteTrace(folder / ("p2-1" + std::string(proto::kTraceSuffix)), 2, false);
    return true;
  }();
  Check(is_made);
  return folder;
}

void RunPasses(const analysis::Trace& trace) {
  analysis::PassOptions options;
  options.symbolize = false;
  // The passes that read the manifest.
  for (const char* pass : {"overview", "counters"}) {
    std::unique_ptr<google::protobuf::Message> result;
    const analysis::Error error = analysis::Run(pass, trace, options, &result);
    Check(error ? !error.message.empty() : result != nullptr);
    if (error) continue;
    for (const auto format :
         {analysis::Format::kText, analysis::Format::kJson, analysis::Format::kCsv}) {
      analysis::Render(*result, format, options, 100);
    }
  }
}

// Control characters would be commands to the terminal.
void CheckPlain(const std::string& text) {
  for (const char c : text) Check(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 127));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = Bundle() / "";
  fuzz::WriteFile(path + proto::kBundleFile, data, size);
  analysis::OpenOptions options;
  options.threads = 1;
  options.recover = false;
  std::shared_ptr<const analysis::Trace> trace;
  Check(!analysis::Open(path, options, &trace) && trace != nullptr);
  CheckPlain(analysis::DescribeText(*trace));
  analysis::DescribeJson(*trace);
  RunPasses(*trace);
  const analysis::VerifyReport report = analysis::Verify(path);
  CheckPlain(report.text);
  proto::Bundle manifest;
  const bool parses = size != 0 && manifest.ParseFromArray(data, static_cast<int>(size));
  if (!parses) Check(!report.ok);
  return 0;
}
