// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/kineto_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/import/chrome_reader.h"

namespace gpuprof::analysis::import {
namespace {

using testing::ElementsAre;

// Imports the events of `json`; the notes stay with the importer.
std::vector<Process> Import(const std::string& json, KinetoImporter* importer) {
  MemorySource source(json);
  ChromeTextNotes text;
  const Error error = ReadChrome(&source, "trace.json", importer, &text);
  EXPECT_FALSE(error) << error.message;
  return importer->Build("trace.json", importer->Close());
}

std::vector<Process> Import(const std::string& json) {
  KinetoImporter importer;
  return Import(json, &importer);
}

std::string Kernel(const std::string& name, double start_us, double duration_us, int correlation,
                   const std::string& more = "") {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":7,"ts":)" +
         std::to_string(start_us) + R"(,"dur":)" + std::to_string(duration_us) +
         R"(,"args":{"device":0,"context":1,"stream":7,"correlation":)" +
         std::to_string(correlation) + more + "}}";
}

std::string Call(double start_us, int correlation, int external = 0) {
  return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":)" +
         std::to_string(start_us) + R"(,"dur":1,"args":{"correlation":)" +
         std::to_string(correlation) + R"(,"External id":)" + std::to_string(external) + "}}";
}

const Track* StreamOf(const Process& process) {
  for (const Track& track : process.tracks) {
    if (track.is_stream) return &track;
  }
  return nullptr;
}

uint64_t CountOf(KinetoImporter* importer, ImportNoteKind kind) {
  return importer->notes().count(kind);
}

TEST(KinetoImporter, KernelsBelongToTheProcessThatLaunchedThem) {
  const auto processes = Import("[" + Kernel("gemm", 20, 5, 1) + "," + Call(10, 1) + "]");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].pid, 10);
  const Track* stream = StreamOf(processes[0]);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->stream, 7u);
  EXPECT_THAT(stream->kernel.end_ns, ElementsAre(15'000));
  EXPECT_THAT(stream->kernel.duration_ns, ElementsAre(5'000));
}

TEST(KinetoImporter, ProcessesThatUseTheSameIdsHaveADeviceEach) {
  std::string json = "[";
  for (const int rank : {0, 1}) {
    const std::string pid = std::to_string(100 + rank), device = std::to_string(rank);
    for (const int id : {1, 2}) {
      json += R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":)" + pid +
              R"(,"tid":5,"ts":)" + std::to_string(10 * id + rank) +
              R"(,"dur":1,"args":{"correlation":)" + std::to_string(id) + "}},";
      json += R"({"ph":"X","cat":"kernel","name":"k","pid":)" + device + R"(,"tid":7,"ts":)" +
              std::to_string(100 * id) + R"(,"dur":2,"args":{"device":)" + device +
              R"(,"stream":7,"correlation":)" + std::to_string(id) + "}},";
    }
  }
  json.back() = ']';
  KinetoImporter importer;
  const auto processes = Import(json, &importer);
  ASSERT_EQ(processes.size(), 2u);
  for (uint32_t rank : {0, 1}) {
    EXPECT_EQ(StreamOf(processes[rank])->device, rank);
    EXPECT_EQ(StreamOf(processes[rank])->kernel.rows(), 2u);
  }
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kIdClash), 2u);
}

TEST(KinetoImporter, ShapesOfLaunchesMakeSignatures) {
  const std::string shape = R"(,"grid":[8,2,1],"block":[128,1,1],"registers per thread":32)";
  const auto processes = Import("[" + Call(1, 1) + "," + Kernel("a", 20, 5, 1, shape) + "," +
                                Kernel("a", 30, 5, 1, shape) + "," + Kernel("a", 40, 5, 1) + "]");
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].signatures.size(), 2u);
  const KernelTable& kernels = StreamOf(processes[0])->kernel;
  const proto::Signature& signature = processes[0].signatures.at(kernels.signature[0]);
  EXPECT_THAT(signature.grid(), ElementsAre(8, 2, 1));
  EXPECT_EQ(signature.registers(), 32u);
  EXPECT_EQ(kernels.signature[0], kernels.signature[1]);
}

// As PyTorch writes what torch.cuda.graph(enable_annotations=True) and mark_kernels() kept.
TEST(KinetoImporter, AnnotationsOfNodesOfGraphsAreKept) {
  const std::string node = R"(,"graph id":3,"graph node id":17)";
  const auto processes = Import(
      "[" + Call(1, 1) + "," + Kernel("a", 20, 5, 1, node + R"(,"annotation":"residual_add")") +
      "," + Kernel("b", 30, 5, 1, node + R"(,"name":"linear_fwd","layer":"0")") + "," +
      Kernel("c", 40, 5, 1, node) + "," + Kernel("d", 50, 5, 1, R"(,"annotation":"of no graph")") +
      "]");
  ASSERT_EQ(processes.size(), 1u);
  const KernelTable& kernels = StreamOf(processes[0])->kernel;
  ASSERT_EQ(kernels.rows(), 4u);
  ASSERT_EQ(kernels.detail.size(), 4u);
  EXPECT_EQ(processes[0].String(kernels.detail[0]), R"({"annotation":"residual_add"})");
  EXPECT_EQ(processes[0].String(kernels.detail[1]), R"({"annotation":"linear_fwd"})");
  EXPECT_EQ(kernels.detail[2], 0u);
  EXPECT_EQ(kernels.detail[3], 0u);
}

TEST(KinetoImporter, AnEndBehindLaterWorkOfTheStreamIsClipped) {
  KinetoImporter importer;
  const auto processes = Import("[" + Call(1, 1) + "," + Kernel("long", 20, 500, 1) + "," +
                                    Call(3, 2) + "," + Kernel("next", 30, 5, 2) + "]",
                                &importer);
  EXPECT_THAT(StreamOf(processes[0])->kernel.duration_ns, ElementsAre(10'000, 5'000));
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kClipped), 1u);
}

TEST(KinetoImporter, RowsOfOneLaunchAreClippedAtTheNextLaunch) {
  KinetoImporter importer;
  const auto processes = Import("[" + Call(1, 1) + "," + Kernel("long", 20, 500, 1) + "," +
                                    Kernel("long", 22, 500, 1) + "," + Call(3, 2) + "," +
                                    Kernel("next", 30, 5, 2) + "," + Kernel("next", 31, 5, 2) + "]",
                                &importer);
  EXPECT_THAT(StreamOf(processes[0])->kernel.end_ns, ElementsAre(29'000, 29'000, 34'000, 35'000));
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kClipped), 2u);
}

TEST(KinetoImporter, KernelsOfOneGraphLaunchMayLieInEachOther) {
  KinetoImporter importer;
  const auto processes = Import(
      "[" + Call(1, 1) + "," + Kernel("outer", 20, 500, 1) + "," + Kernel("inner", 30, 5, 1) + "]",
      &importer);
  EXPECT_THAT(StreamOf(processes[0])->kernel.duration_ns, ElementsAre(5'000, 500'000));
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kClipped), 0u);
}

TEST(KinetoImporter, AKernelMayBeginBeforeTheOneInFrontOfItEnds) {
  KinetoImporter importer;
  const auto processes =
      Import("[" + Call(1, 1) + "," + Call(3, 2) + "," + Kernel("first", 20, 10, 1) + "," +
                 Kernel("second", 25, 10, 2) + "]",
             &importer);
  EXPECT_THAT(StreamOf(processes[0])->kernel.duration_ns, ElementsAre(10'000, 10'000));
}

TEST(KinetoImporter, WorkAndCallsWithoutTheOtherAreCounted) {
  KinetoImporter importer;
  Import("[" + Call(10, 1) + "," + Call(20, 2) + "," + Kernel("early", 8, 1, 1) + "," +
             Kernel("lost", 30, 1, 9) + "]",
         &importer);
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kImpossibleOrder), 1u);
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kNoLaunch), 1u);
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kNoKernel), 1u);
}

TEST(KinetoImporter, RowsWithoutATimeAreLeftOut) {
  KinetoImporter importer;
  const auto processes = Import(
      "[" + Call(10, 1) + "," + Kernel("timed", 20, 1, 1) + "," + Kernel("lost", 0, 0, 2) + "]",
      &importer);
  EXPECT_EQ(StreamOf(processes[0])->kernel.rows(), 1u);
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kNoTime), 1u);
}

TEST(KinetoImporter, TimesAreOnTheWallClockIfTheFileTellsIt) {
  KinetoImporter importer;
  const std::string json = R"({"traceEvents":[)" + std::string(Call(10, 1)) +
                           R"(],"baseTimeNanoseconds":1700000000000000000})";
  MemorySource source(json);
  ChromeTextNotes text;
  ASSERT_FALSE(ReadChrome(&source, "trace.json", &importer, &text));
  EXPECT_EQ(importer.Close(), 1'700'000'000'000'010'000);
  EXPECT_TRUE(importer.IsWallClock());
}

TEST(KinetoImporter, APythonFunctionEndsNoLaterThanItsCaller) {
  KinetoImporter importer;
  const auto processes = Import(
      R"([{"ph":"X","cat":"python_function","name":"outer","pid":1,"tid":1,"ts":10,"dur":20,
           "args":{"Python id":1,"Python parent id":null}},
          {"ph":"X","cat":"python_function","name":"inner","pid":1,"tid":1,"ts":15,"dur":90,
           "args":{"Python id":2,"Python parent id":1}},
          {"ph":"X","cat":"python_function","name":"alone","pid":1,"tid":1,"ts":40,"dur":5,
           "args":{"Python id":3,"Python parent id":99}}])",
      &importer);
  const PythonTable& python = processes[0].tracks[0].python;
  EXPECT_THAT(python.duration_ns, ElementsAre(15'000, 20'000, 5'000));
  EXPECT_THAT(python.self_ns, ElementsAre(15'000, 5'000, 5'000));
  EXPECT_THAT(python.parent, ElementsAre(1u, PythonTable::kNoRow, PythonTable::kNoRow));
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kClipped), 1u);
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kUnknownName), 1u);
}

TEST(KinetoImporter, LaunchesHaveThePythonStackOfTheirMoment) {
  const auto processes = Import(
      R"([{"ph":"X","cat":"python_function","name":"outer","pid":10,"tid":10,"ts":5,"dur":20,
           "args":{"Python id":1}},
          {"ph":"X","cat":"python_function","name":"inner","pid":10,"tid":10,"ts":9,"dur":5,
           "args":{"Python id":2,"Python parent id":1}},)" +
      Call(10, 1) + "," + Call(18, 2) + "," + Call(90, 3) + "]");
  const Process& process = processes[0];
  const LaunchTable& launches = process.tracks[0].launch;
  ASSERT_EQ(launches.rows(), 2u);
  StackNode node;
  ASSERT_TRUE(process.stacks.Find(launches.stack[0], &node));
  EXPECT_EQ(process.String(NameOfFrame(node.pc)), "inner");
  ASSERT_TRUE(process.stacks.Find(node.parent, &node));
  EXPECT_EQ(process.String(NameOfFrame(node.pc)), "outer");
  ASSERT_TRUE(process.stacks.Find(launches.stack[1], &node));
  EXPECT_EQ(process.String(NameOfFrame(node.pc)), "outer");
}

TEST(KinetoImporter, OperationsHaveTheirDepthAndTheirShapes) {
  const auto processes = Import(
      R"([{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":1,"dur":9,
           "args":{"External id":5,"Input Dims":"[[2, 3], [3]]","Input type":"['float', 'float']"}},
          {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":2,"dur":3,
           "args":{"External id":6,"Fwd thread id":1}},
          {"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":20}])");
  const Process& process = processes[0];
  const OpTable& ops = process.tracks[0].op;
  EXPECT_THAT(ops.external, ElementsAre(6u, 5u, 0u));
  std::vector<uint32_t> depths;
  for (const uint32_t operation : ops.operation) depths.push_back(proto::OpDepthOf(operation));
  EXPECT_THAT(depths, ElementsAre(2, 1, 0));
  EXPECT_EQ(process.String(ops.detail[1]),
            R"({"Input Dims":[[2,3],[3]],"Input type":["float","float"]})");
  EXPECT_EQ(proto::OpScopeOf(ops.operation[0]), proto::OpScope::kBackward);
  EXPECT_EQ(proto::OpScopeOf(ops.operation[2]), proto::OpScope::kUser);
}

TEST(KinetoImporter, OperationsHaveAutogradsNumbers) {
  const auto processes = Import(
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1,
           "args":{"Sequence number":0,"Fwd thread id":0}},
          {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":3,"dur":1,
           "args":{"Sequence number":"41","Fwd thread id":1}},
          {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":5,"dur":1,
           "args":{"Sequence number":-1}},
          {"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":2,"ts":7,"dur":1}])");
  EXPECT_THAT(processes[0].tracks[0].op.sequence, ElementsAre(1u, 42u, 0u));
  EXPECT_EQ(proto::OpScopeOf(processes[0].tracks[0].op.operation[0]), proto::OpScope::kFunction);
  EXPECT_THAT(processes[0].tracks[1].op.sequence, ElementsAre(0u));
}

TEST(KinetoImporter, KernelsKeepWhatTheyTellAboutCollectives) {
  const std::string comms =
      R"(,"Collective name":"allreduce","In msg nelems":8,"Process Group Ranks":"[0, 1]",
         "In split size":[], "Rank":null,"queued":0,"of no interest":1)";
  const auto processes = Import("[" + Call(1, 1) + "," + Kernel("nccl", 20, 5, 1, comms) + "," +
                                Kernel("gemm", 30, 5, 1) + "]");
  const KernelTable& kernels = StreamOf(processes[0])->kernel;
  ASSERT_EQ(kernels.detail.size(), 2u);
  EXPECT_EQ(
      processes[0].String(kernels.detail[0]),
      R"({"Collective name":"allreduce","In msg nelems":8,"Process Group Ranks":"[0, 1]","In split size":[],"Rank":null})");
  EXPECT_EQ(kernels.detail[1], 0u);
}

TEST(KinetoImporter, TimesThatAreNoneAreCounted) {
  KinetoImporter importer;
  const auto processes = Import(
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1e20,"dur":9},
          {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":null,"dur":9},
          {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":3,"dur":-4},
          {"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":1,"ts":4}])",
      &importer);
  EXPECT_THAT(processes[0].tracks[0].op.duration_ns, ElementsAre(0, 0));
  EXPECT_EQ(CountOf(&importer, ImportNoteKind::kBadTime), 4u);
}

TEST(KinetoFields, CopiesAreKnownByEitherSpelling) {
  const CopyName cuda = CopyOfName("Memcpy HtoD (Pageable -> Device)");
  EXPECT_TRUE(cuda.is_copy);
  EXPECT_EQ(cuda.kind, 1);
  EXPECT_EQ(cuda.source, 1);
  EXPECT_EQ(cuda.destination, 3);
  EXPECT_EQ(CopyOfName("CopyDeviceToHost").kind, 2);
  EXPECT_EQ(CopyOfName("MEMORY_COPY_DEVICE_TO_DEVICE").kind, 8);
  EXPECT_TRUE(CopyOfName("__amd_rocclr_fillBufferAligned.kd").is_set);
  EXPECT_FALSE(CopyOfName("CopyKernelOfMine").is_copy);
  EXPECT_FALSE(CopyOfName("gemm").is_copy);
}

TEST(KinetoFields, ProcessesMayHaveAPrefix) {
  using Kind = JsonValue::Kind;
  const Entity merged = EntityOf({Kind::kString, "[TP00] 83"});
  EXPECT_EQ(merged.prefix, "[TP00]");
  EXPECT_EQ(merged.number, 83);
  EXPECT_EQ(EntityOf({Kind::kString, "83"}), EntityOf({Kind::kNumber, "83"}));
  EXPECT_FALSE(EntityOf({Kind::kString, "Spans"}).has_number);
}

}  // namespace
}  // namespace gpuprof::analysis::import
