// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A trace of another tool is written as a bundle and opened again: every value comes back.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/builder.h"
#include "analysis/model/trace.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"
#include "proto/operations.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kOrigin = 5000;  // of the source's clock
constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1'000'000'000;

class BundleWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gpuprof-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Error Write(const Trace& trace, ImportReport* report) {
    return WriteBundle(trace, {folder_, "gpuprof 1", 1}, report);
  }
  std::shared_ptr<const Trace> Open() const {
    std::shared_ptr<const Trace> trace;
    const Error error = analysis::Open(folder_, {}, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }
  std::shared_ptr<const Trace> WriteAndOpen(const Trace& trace) {
    ImportReport report;
    const Error error = Write(trace, &report);
    EXPECT_FALSE(error) << error.message;
    std::ofstream(folder_ + "/" + proto::kBundleFile, std::ios::binary) << report.manifest;
    EXPECT_TRUE(Verify(folder_).ok) << Verify(folder_).text;
    return Open();
  }

  std::string folder_;
};

Trace TraceOf(std::vector<Process> processes) {
  Trace trace;
  trace.importer = "Kineto JSON";
  trace.origin_realtime_ns = 1'700'000'000'000'000'123;
  trace.processes = std::move(processes);
  return trace;
}

proto::Signature SignatureOf(uint32_t name) {
  proto::Signature signature;
  signature.set_name(name);
  signature.set_registers(40);
  for (const uint32_t size : {64u, 2u, 1u}) signature.add_grid(size);
  return signature;
}

void AddHostRows(ProcessBuilder* builder) {
  const uint32_t thread = builder->Thread(0x1'8000'0001);  // too large for a thread of Linux
  builder->NameThread(thread, "main");
  const uint32_t outer = builder->Intern("aten::linear"), inner = builder->Intern("aten::mm");
  builder->Add(thread, OpRow{{5000, 5900},
                             outer,
                             proto::OpScope::kFunction,
                             0,
                             77,
                             builder->Intern("{\"Input Dims\":[[2,3]]}"),
                             12});
  builder->Add(thread, OpRow{{5100, 5200}, inner, proto::OpScope::kBackward, 0, 0, 0, 0});
  builder->Add(thread, PythonRow{{5000, 5999}, builder->Intern("a.py(1): f"), 1, -1});
  builder->Add(thread, PythonRow{{5010, 5950}, builder->Intern("a.py(2): g"), 2, 1});
  builder->Add(thread, RangeRow{{5000, 6000}, builder->Intern("step"), builder->Intern("domain")});
  const uint32_t function = builder->Function(2, "cudaLaunchKernel");
  builder->Add(thread, CallRow{{5110, 5120}, function, 4001, 0, 78, true});
  builder->Add(thread, CallRow{{5130, 5140}, function, 4002, 700, 0, true});
  builder->Add(thread, TensorRow{5150, 0x100, 0xfffffff000, 4096, 4096, 8192});
  builder->Add(thread, TensorRow{5160, 0x100, 0xfffffff000, -4096, 0, 8192});
  builder->AddOverhead(thread, {5020, 5030}, 3);
}

void AddDeviceRows(ProcessBuilder* builder) {
  const uint32_t stream = builder->Stream(1, 0, kNoCudaId);
  WorkRow kernel;
  kernel.span = {5300, 5400};
  kernel.correlation = 4001;
  kernel.signature = builder->Signature(SignatureOf(builder->Intern("gemm")));
  kernel.external = 77;
  builder->AddKernel(stream, kernel);
  kernel.span = {5350, 5390};  // lies in the other
  kernel.graph = 5;
  kernel.graph_node = 9;
  kernel.external = 0;
  kernel.detail = builder->Intern("{\"Collective name\":\"allreduce\"}");
  builder->AddKernel(stream, kernel);
  WorkRow copy;
  copy.span = {5500, 5500};
  copy.operation = proto::CopyOperation(1, 1, 3, 0);
  copy.peer = uint64_t{2} << 32 | 1;
  builder->AddCopy(stream, copy);
  copy.bytes = 123;
  copy.external = 78;
  builder->AddSet(stream, copy);
  builder->Add(stream, SyncRow{{5600, 5700}, 2, 4002, 0, 11});
  builder->AddEventRecord(stream, 5130, 4002, 11);
}

Process SomeProcess(int32_t pid = 4711) {
  ProcessBuilder builder(pid, "host");
  AddHostRows(&builder);
  AddDeviceRows(&builder);
  Process& process = builder.process();
  process.file = "rank0.json";
  process.executable = "python3";
  process.argv = {"python3", "train \xff.py"};
  process.environment = {{"RANK", "3"}};
  process.devices.emplace_back().set_id(1);
  process.health.add_note()->set_text("a note");
  return builder.Finish(kOrigin);
}

#define EXPECT_COLUMN(field) EXPECT_EQ(read.field, made.field) << #field

void ExpectSameHostRows(const Track& read, const Track& made) {
  EXPECT_COLUMN(op.end_ns);
  EXPECT_COLUMN(op.duration_ns);
  EXPECT_COLUMN(op.name);
  EXPECT_COLUMN(op.operation);
  EXPECT_COLUMN(op.external);
  EXPECT_COLUMN(op.detail);
  EXPECT_COLUMN(op.sequence);
  EXPECT_COLUMN(python.end_ns);
  EXPECT_COLUMN(python.duration_ns);
  EXPECT_COLUMN(python.name);
  EXPECT_COLUMN(python.parent);
  EXPECT_COLUMN(python.stack);
  EXPECT_COLUMN(python.self_ns);
  EXPECT_COLUMN(range.end_ns);
  EXPECT_COLUMN(range.duration_ns);
  EXPECT_COLUMN(range.name);
  EXPECT_COLUMN(range.operation);
  EXPECT_COLUMN(range.domain);
  EXPECT_COLUMN(range.begin_thread);
  EXPECT_COLUMN(launch.time_ns);
  EXPECT_COLUMN(launch.correlation);
  EXPECT_COLUMN(launch.function);
  EXPECT_COLUMN(launch.stack);
  EXPECT_COLUMN(api.end_ns);
  EXPECT_COLUMN(api.duration_ns);
  EXPECT_COLUMN(api.function);
  EXPECT_COLUMN(api.correlation);
  EXPECT_COLUMN(api.result);
  EXPECT_COLUMN(api.external);
  EXPECT_COLUMN(tensor.time_ns);
  EXPECT_COLUMN(tensor.device);
  EXPECT_COLUMN(tensor.address);
  EXPECT_COLUMN(tensor.bytes);
  EXPECT_COLUMN(tensor.total_allocated);
  EXPECT_COLUMN(tensor.total_reserved);
  EXPECT_COLUMN(tensor.capture);
  EXPECT_COLUMN(overhead.end_ns);
  EXPECT_COLUMN(overhead.duration_ns);
  EXPECT_COLUMN(overhead.operation);
}

void ExpectSameDeviceRows(const Track& read, const Track& made) {
  EXPECT_COLUMN(kernel.end_ns);
  EXPECT_COLUMN(kernel.duration_ns);
  EXPECT_COLUMN(kernel.signature);
  EXPECT_COLUMN(kernel.correlation);
  EXPECT_COLUMN(kernel.graph);
  EXPECT_COLUMN(kernel.graph_node);
  EXPECT_COLUMN(kernel.capture);
  EXPECT_COLUMN(kernel.weight);
  EXPECT_COLUMN(kernel.external);
  EXPECT_COLUMN(kernel.detail);
  EXPECT_COLUMN(memcpy.end_ns);
  EXPECT_COLUMN(memcpy.operation);
  EXPECT_COLUMN(memcpy.bytes);
  EXPECT_COLUMN(memcpy.peer);
  EXPECT_COLUMN(memcpy.external);
  EXPECT_COLUMN(memset.end_ns);
  EXPECT_COLUMN(memset.operation);
  EXPECT_COLUMN(memset.bytes);
  EXPECT_COLUMN(memset.value);
  EXPECT_COLUMN(memset.external);
  EXPECT_COLUMN(sync.end_ns);
  EXPECT_COLUMN(sync.duration_ns);
  EXPECT_COLUMN(sync.operation);
  EXPECT_COLUMN(sync.correlation);
  EXPECT_COLUMN(sync.stream);
  EXPECT_COLUMN(sync.event_record);
  EXPECT_COLUMN(sync.weight);
  EXPECT_COLUMN(cuda_event.time_ns);
  EXPECT_COLUMN(cuda_event.correlation);
  EXPECT_COLUMN(cuda_event.record);
}

void ExpectSameTracks(const Process& read, const Process& made) {
  ASSERT_EQ(read.tracks.size(), made.tracks.size());
  for (size_t i = 0; i < made.tracks.size(); ++i) {
    const Track &x = read.tracks[i], &y = made.tracks[i];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.tid, y.tid);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.is_stream, y.is_stream);
    EXPECT_EQ(x.device, y.device);
    EXPECT_EQ(x.stream, y.stream);
    EXPECT_EQ(x.row_detail.rows(), 0u);
    ExpectSameHostRows(x, y);
    ExpectSameDeviceRows(x, y);
  }
}

TEST_F(BundleWriter, RowsComeBack) {
  const Trace made = TraceOf({SomeProcess()});
  ASSERT_EQ(made.processes[0].tracks.size(), 2u);
  ASSERT_EQ(made.processes[0].tracks[0].launch.rows(), 2u);
  const auto read = WriteAndOpen(made);
  ASSERT_EQ(read->processes.size(), 1u);
  ExpectSameTracks(read->processes[0], made.processes[0]);
  // A column without any value has no rows in the file.
  EXPECT_TRUE(read->processes[0].tracks[1].memcpy.external.empty());
}

TEST_F(BundleWriter, FactsComeBack) {
  Trace made = TraceOf({SomeProcess()});
  made.import_notes = {{ImportNoteKind::kTruncated, 0, ""}, {ImportNoteKind::kClipped, 3, "gemm"}};
  made.faults = {{"rank0.json", 99, "it was cut"}};
  const auto read = WriteAndOpen(made);
  EXPECT_EQ(read->importer, "Kineto JSON");
  EXPECT_FALSE(read->has_manifest);
  EXPECT_EQ(read->origin_realtime_ns, made.origin_realtime_ns);
  ASSERT_EQ(read->import_notes.size(), 2u);
  EXPECT_EQ(read->import_notes[0].kind, ImportNoteKind::kTruncated);
  EXPECT_EQ(ImportNoteText(read->import_notes[1]), ImportNoteText(made.import_notes[1]));
  ASSERT_EQ(read->faults.size(), 1u);
  EXPECT_EQ(read->faults[0].file, "rank0.json");
  EXPECT_EQ(read->faults[0].offset, 99u);
  EXPECT_EQ(read->faults[0].what, "it was cut");
  const Process &x = read->processes[0], &y = made.processes[0];
  EXPECT_EQ(x.pid, 4711);
  EXPECT_EQ(x.host, "host");
  EXPECT_EQ(x.file, "rank0.json");
  EXPECT_EQ(x.argv, y.argv);
  EXPECT_EQ(x.environment, y.environment);
  EXPECT_EQ(x.strings, y.strings);
  EXPECT_EQ(x.functions, y.functions);
  EXPECT_EQ(x.rows, y.rows);
  EXPECT_EQ(x.first_ns, y.first_ns);
  EXPECT_EQ(x.last_ns, y.last_ns);
  EXPECT_EQ(x.recorded_ns, y.recorded_ns);
  EXPECT_EQ(x.clock_kind, 0u);
  EXPECT_EQ(x.gpu_tick_ns, 0u);
  EXPECT_FALSE(x.has_cupti_clock);
  EXPECT_EQ(x.health.SerializeAsString(), y.health.SerializeAsString());
  ASSERT_EQ(x.signatures.size(), 1u);
  EXPECT_EQ(x.signatures.at(1).SerializeAsString(), y.signatures.at(1).SerializeAsString());
  EXPECT_EQ(x.FindDevice(1)->SerializeAsString(), y.devices[0].SerializeAsString());
}

TEST_F(BundleWriter, ProcessesOfOnePidKeepTheirOrder) {
  Trace made = TraceOf({SomeProcess(7), SomeProcess(3), SomeProcess(7), SomeProcess(0)});
  for (size_t i = 0; i < 4; ++i) made.processes[i].file = std::to_string(i) + ".json";
  const auto read = WriteAndOpen(made);
  ASSERT_EQ(read->processes.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read->processes[i].file, std::to_string(i) + ".json");
    EXPECT_EQ(read->processes[i].pid, made.processes[i].pid);
  }
}

// A file may mix times since 1970 with times since the machine's start.
TEST_F(BundleWriter, TimesOfTwoClocksComeBack) {
  ProcessBuilder builder(1, "");
  const uint32_t thread = builder.Thread(1), stream = builder.Stream(0, 0, 7);
  const uint32_t name = builder.Intern("op");
  WorkRow kernel;
  kernel.signature = builder.Signature(SignatureOf(name));
  for (const int64_t at : {int64_t{0}, kYear / 300, kYear, 55 * kYear + 1}) {
    builder.Add(thread, OpRow{{at, at + 3}, name});
    kernel.span = {at + 1, at + 2};
    builder.AddKernel(stream, kernel);
  }
  const Trace made = TraceOf({builder.Finish(0)});
  const auto read = WriteAndOpen(made);
  ExpectSameTracks(read->processes[0], made.processes[0]);
}

TEST_F(BundleWriter, WithoutManifestTheWallClockStays) {
  ImportReport report;
  ASSERT_FALSE(Write(TraceOf({SomeProcess()}), &report));
  const auto read = Open();
  EXPECT_EQ(read->origin_realtime_ns, 1'700'000'000'000'000'123);
  EXPECT_EQ(read->processes[0].first_ns, 0);
}

// Other rows would get the details of a row that is missing.
TEST_F(BundleWriter, DamageLeavesNoDetailAtAWrongRow) {
  ImportReport report;
  ASSERT_FALSE(Write(TraceOf({SomeProcess()}), &report));
  const std::string path = folder_ + "/p4711-1.gpt";
  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  codec::TraceScan scan;
  ASSERT_TRUE(codec::Scan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &scan));
  int damaged = 0;
  for (const codec::BlockRef& block : scan.blocks) {
    if (block.header.kind != static_cast<uint16_t>(proto::ChunkKind::kRange)) continue;
    // The checksum is at the end.
    bytes[block.offset + block.header.compressed_bytes - 1] ^= 1;
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto read = Open();
  EXPECT_EQ(read->faults.size(), 1u);
  const Track& track = read->processes[0].tracks[0];
  ASSERT_EQ(track.op.rows(), 2u);
  EXPECT_TRUE(track.op.external.empty());
  ASSERT_EQ(track.python.rows(), 2u);
  EXPECT_EQ(track.python.parent[0], PythonTable::kNoRow);
}

TEST_F(BundleWriter, RefusesWhatItCannotCarry) {
  ImportReport report;
  Trace trace = TraceOf({SomeProcess()});
  trace.importer.clear();
  EXPECT_NE(Write(trace, &report).message.find("is a bundle already"), std::string::npos);

  trace = TraceOf({SomeProcess()});
  trace.processes[0].tracks[0].heap.time_ns.push_back(1);
  EXPECT_NE(Write(trace, &report).message.find("it has heap rows"), std::string::npos);
  fs::remove_all(folder_ + "/p4711-1.gpt.part");

  trace = TraceOf({SomeProcess()});
  trace.processes[0].tracks[1].kernel.weight.Rewrite([](size_t, uint32_t) { return 4; });
  EXPECT_NE(Write(trace, &report).message.find("stand for several"), std::string::npos);
  fs::remove_all(folder_ + "/p4711-1.gpt.part");

  trace = TraceOf({SomeProcess()});
  trace.processes[0].tracks[0].op.end_ns.Rewrite([](size_t, int64_t) { return INT64_MAX; });
  EXPECT_NE(Write(trace, &report).message.find("decades apart"), std::string::npos);
  // Nothing that a reader takes for a trace is left.
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_EQ(entry.path().extension(), ".part");
}

TEST_F(BundleWriter, ABundleIsNotImportedAgain) {
  const auto read = WriteAndOpen(TraceOf({SomeProcess()}));
  ImportReport report;
  const Error error = Write(*read, &report);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_NE(error.message.find("is a bundle already"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::analysis
