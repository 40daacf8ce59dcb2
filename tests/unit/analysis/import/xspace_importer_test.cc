// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/xspace_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "proto/operations.h"
#include "tests/unit/analysis/import/xspace_maker.h"

namespace gpuprof::analysis::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Imports a space; the notes stay with the importer.
Process Import(const xspace::XSpace& space, XSpaceImporter* importer) {
  const HeldBytes file(space.SerializeAsString());
  XSpaceFacts facts;
  const Error error = ReadXSpace(file, "x.xplane.pb", importer, &facts);
  EXPECT_FALSE(error) << error.message;
  return importer->Build("x.xplane.pb", facts.host, importer->Close());
}

Process Import(const xspace::XSpace& space) {
  XSpaceImporter importer(0);
  return Import(space, &importer);
}

const Track* TrackOf(const Process& process, std::string_view name) {
  for (const Track& track : process.tracks)
    if (track.name == name) return &track;
  return nullptr;
}

const Track* StreamOf(const Process& process) {
  for (const Track& track : process.tracks)
    if (track.is_stream) return &track;
  return nullptr;
}

std::string NameOf(const Process& process, uint32_t signature) {
  return process.String(process.signatures.at(signature).name());
}

TEST(XSpaceImporter, KernelsHaveTheirShapeDetailAndCall) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:3");
  xspace::XEvent* kernel =
      device.Event(device.Line(7, "Stream #7(Kernel)", 100), "gemm", 20'000'000, 5'000'000);
  device.Stat(kernel, "correlation_id", 11);
  device.Stat(kernel, "kernel_details", "regs:32 static_shared:4 grid:8,2,1 block:128,1,1");
  device.Stat(kernel, "hlo_op", "fusion.\"1\"");
  device.Stat(kernel, "program_id", 15);
  device.Stat(kernel, "group_id", 2);
  PlaneMaker host(&space, "/host:CPU");
  xspace::XEvent* call =
      host.Event(host.Line(100, "Host Threads/100", 100), "cuLaunchKernel", 1'000'000, 500'000);
  host.Stat(call, "correlation_id", 11);
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  const Track* stream = StreamOf(process);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->device, 3u);
  EXPECT_EQ(stream->stream, 7u);
  EXPECT_THAT(stream->kernel.end_ns, ElementsAre(24'000));
  EXPECT_THAT(stream->kernel.duration_ns, ElementsAre(5'000));
  EXPECT_THAT(stream->kernel.correlation, ElementsAre(11));
  const proto::Signature& signature = process.signatures.at(stream->kernel.signature[0]);
  EXPECT_EQ(process.String(signature.name()), "gemm");
  EXPECT_THAT(signature.grid(), ElementsAre(8, 2, 1));
  EXPECT_THAT(signature.block(), ElementsAre(128, 1, 1));
  EXPECT_EQ(signature.registers(), 32u);
  EXPECT_EQ(signature.static_shared_bytes(), 4u);
  EXPECT_EQ(process.String(stream->kernel.detail[0]),
            R"({"hlo_op":"fusion.\"1\"","program_id":15})");
  const Track* thread = &process.tracks[stream == &process.tracks[0] ? 1 : 0];
  EXPECT_EQ(thread->tid, 100);
  EXPECT_THAT(thread->api.correlation, ElementsAre(11));
  EXPECT_EQ(process.String(process.functions.at(thread->api.function[0])), "cuLaunchKernel");
  EXPECT_TRUE(importer.notes().Take().empty());
}

TEST(XSpaceImporter, SpansThatLieInEachOtherStillDoInNanoseconds) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  xspace::XLine* line = host.Line(5, "python", 10);
  host.Event(line, "outer", 1'999, 2'002);  // 1.999 to 4.001 ns
  host.Event(line, "inner", 2'000, 2'001);  // 2.000 to 4.001 ns
  host.Event(line, "before", -1, 1);
  const Process process = Import(space);
  const OpTable& ops = TrackOf(process, "python")->op;
  EXPECT_THAT(ops.end_ns, ElementsAre(1, 5, 5));
  EXPECT_THAT(ops.duration_ns, ElementsAre(1, 2, 3));
  EXPECT_EQ(process.String(ops.name[1]), "inner");
  EXPECT_EQ(process.String(ops.name[2]), "outer");
}

TEST(XSpaceImporter, ImpossibleTimesAreCounted) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  xspace::XLine* line = host.Line(5, "python");
  host.Event(line, "negative", 1'000, -5'000);
  host.Event(line, "endless", 4'000, std::numeric_limits<int64_t>::max());
  host.Event(line, "aggregate", 0, 7)->set_num_occurrences(3);
  xspace::XLine* late = host.Line(6, "late", std::numeric_limits<int64_t>::max());
  host.Event(late, "never", 0, 1);
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kBadTime), 2u);
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kClipped), 1u);
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kNoTime), 3u);
  EXPECT_THAT(TrackOf(process, "python")->op.duration_ns, ElementsAre(0, 9'223'372'036'854'771));
}

TEST(XSpaceImporter, StepsAreRangesThatTheStepFinderKnows) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  xspace::XLine* line = host.Line(5, "python");
  for (const int64_t step : {7, 8}) {
    xspace::XEvent* train = host.Event(line, "train", step * 1'000'000, 500'000);
    host.Stat(train, "_r", 1);
    host.Stat(train, "step_num", step);
  }
  xspace::XEvent* named = host.Event(line, "train_step", 20'000'000, 1000);
  host.Stat(named, "_r", 1);
  host.Stat(named, "iter_num", 3);
  xspace::XEvent* grouped = host.Event(line, "TraceContext", 30'000'000, 1000);
  host.Stat(grouped, "group_id", 4);
  xspace::XEvent* no_root = host.Event(line, "step", 40'000'000, 1000);
  host.Stat(no_root, "_r", 0);
  host.Stat(host.Event(line, "FunctionRun", 50'000'000, 1000), "_r", 1);
  const Process process = Import(space);
  const Track* thread = TrackOf(process, "python");
  std::vector<std::string> names;
  for (size_t i = 0; i < thread->range.rows(); ++i)
    names.push_back(process.String(thread->range.domain[i]) + ":" +
                    process.String(thread->range.name[i]));
  EXPECT_THAT(names,
              ElementsAre("train:step 7", "train:step 8", ":train_step 3", "TraceContext:step 4"));
  EXPECT_EQ(thread->op.rows(), 2u);
}

TEST(XSpaceImporter, StepsOfADeviceCountIfNoThreadMarksSteps) {
  for (const bool thread_marks : {false, true}) {
    xspace::XSpace space;
    PlaneMaker device(&space, "/device:TPU:0");
    device.Event(device.Line(1, "Steps"), "12", 1000, 9000);
    PlaneMaker host(&space, "/host:CPU");
    xspace::XEvent* event = host.Event(host.Line(5, "python"), "train", 0, 1000);
    if (thread_marks) host.Stat(event, "step_num", 1);
    const Process process = Import(space);
    const Track* steps = TrackOf(process, "TPU 0 Steps");
    ASSERT_NE(steps, nullptr);
    EXPECT_FALSE(steps->is_stream);
    EXPECT_EQ(process.String(steps->range.name[0]), thread_marks ? "12" : "step 12");
    EXPECT_EQ(process.String(steps->range.domain[0]), "Steps");
  }
}

TEST(XSpaceImporter, OperationsOfATpuAreItsWork) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:TPU:1");
  xspace::XLine* ops = device.Line(3, "XLA Ops");
  const std::string fusion = "%fusion.3 = f32[4] fusion(%a)", loop = "%while.1 = () while(%b)";
  device.Event(ops, loop, 0, 90'000);
  device.Event(ops, fusion, 1'000, 2'000);
  device.Stat(device.Metadata(loop), "hlo_category", "while");
  device.Stat(device.Metadata(fusion), "hlo_category", "loop fusion");
  device.Stat(device.Metadata(fusion), "flops", 64);
  device.Event(device.Line(2, "XLA Modules"), "jit_f(1)", 0, 100'000);
  const Process process = Import(space);
  const Track* stream = StreamOf(process);
  ASSERT_EQ(stream->kernel.rows(), 1u);
  EXPECT_EQ(NameOf(process, stream->kernel.signature[0]), "fusion.3");
  EXPECT_EQ(process.String(stream->kernel.detail[0]),
            R"x({"hlo":"%fusion.3 = f32[4] fusion(%a)","hlo_category":"loop fusion","flops":64})x");
  EXPECT_EQ(process.String(TrackOf(process, "TPU 1 XLA Ops")->range.name[0]), "while.1");
  EXPECT_EQ(process.String(TrackOf(process, "TPU 1 XLA Modules")->range.name[0]), "jit_f(1)");
  ASSERT_EQ(process.devices.size(), 1u);
  EXPECT_EQ(process.devices[0].name(), "TPU") << "the plane alone tells the kind";
}

TEST(XSpaceImporter, CopiesTellDirectionBytesAndMemory) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:0");
  xspace::XLine* stream = device.Line(7, "Stream #7(MemcpyD2H,Memset)");
  device.Stat(device.Event(stream, "MemcpyD2H", 0, 1'000), "memcpy_details",
              "kind_src:device kind_dst:pinned size:4096 dest:0 async:1");
  device.Stat(device.Event(stream, "Memset", 2'000, 1'000), "memset_details",
              "kind:device num_bytes:64 async:0");
  device.Stat(device.Event(stream, "__amd_rocclr_copyBuffer.kd", 4'000, 1'000), "correlation_id",
              5);
  PlaneMaker host(&space, "/host:CPU");
  host.Stat(host.Event(host.Line(9, "Host Threads/9"), "hipMemcpyDtoDAsync", 0, 10),
            "correlation_id", 5);
  const Process process = Import(space);
  const Track* track = StreamOf(process);
  EXPECT_THAT(track->memcpy.operation,
              ElementsAre(proto::CopyOperation(2, 3, 2, 0), proto::CopyOperation(8, 0, 0, 0)));
  EXPECT_THAT(track->memcpy.bytes, ElementsAre(4096, kUnknownBytes));
  EXPECT_THAT(track->memset.bytes, ElementsAre(64));
  EXPECT_EQ(track->kernel.rows(), 0u);
}

TEST(XSpaceImporter, GraphsMayBeRecordedAsAWhole) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:0");
  xspace::XEvent* launch = device.Event(device.Line(7, "Stream #7"), "CudaGraphExec:5", 0, 9'000);
  device.Stat(launch, "correlation_id", 3);
  PlaneMaker host(&space, "/host:CPU");
  host.Stat(host.Event(host.Line(9, "Host Threads/9"), "cuGraphLaunch (CudaGraph:5)", 0, 10),
            "correlation_id", 3);
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  const Track* stream = StreamOf(process);
  EXPECT_EQ(stream->kernel.rows(), 0u);
  EXPECT_THAT(stream->graph_launch.graph, ElementsAre(5));
  EXPECT_THAT(stream->graph_launch.duration_ns, ElementsAre(9));
  EXPECT_THAT(stream->graph_launch.correlation, ElementsAre(3));
  EXPECT_TRUE(importer.notes().Take().empty());
}

TEST(XSpaceImporter, AnImpossibleEndIsCut) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:0");
  xspace::XLine* stream = device.Line(7, "Stream #7");
  device.Event(stream, "late", 0, 900'000'000);
  device.Event(stream, "next", 5'000'000, 4'000'000);
  device.Event(stream, "begins early", 8'000'000, 4'000'000);
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  EXPECT_THAT(StreamOf(process)->kernel.duration_ns, ElementsAre(5'000, 4'000, 4'000));
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kClipped), 1u);
}

TEST(XSpaceImporter, RowsOfThreadsKeepWhatTheyTell) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  xspace::XLine* line = host.Line(5, "main");
  host.Event(line, "$file.py:3 f", 0, 9'000);
  xspace::XEvent* execute = host.Event(line, "Execute#id=3#", 1'000, 2'000);
  host.Stat(execute, "shape", "f32[2]");
  host.Stat(execute, "_src", "first");
  host.Stat(execute, "_src", "last");
  xspace::XEvent* link = host.Event(line, "Wait", 4'000, 1'000);
  host.Stat(link, "_pt", 5);
  host.Stat(link, "_p", 77);
  xspace::XEvent* memory = host.Event(line, "MemoryAllocation", 6'000, 0);
  host.Stat(memory, "allocator_name", "GPU_2_bfc");
  host.Stat(memory, "allocation_bytes", 512);
  host.Stat(memory, "bytes_allocated", 2048);
  host.Stat(memory, "bytes_available", 1024);
  host.Stat(memory, "addr", 4096);
  xspace::XEvent* release = host.Event(line, "MemoryDeallocation", 7'000, 0);
  host.Stat(release, "allocator_name", "gpu_host_bfc");
  xspace::XEvent* of_host = host.Event(line, "MemoryAllocation", 8'000, 0);
  host.Stat(of_host, "allocator_name", "mklcpu");
  host.Stat(of_host, "bytes_allocated", 2048);
  host.Stat(of_host, "bytes_available", 1024);
  xspace::XLine* nvtx = host.Line(1ll << 32, "Host Threads/5/NVTX");
  host.Event(nvtx, "NVTX:domain:forward", 0, 100);
  const Process process = Import(space);
  const Track* thread = TrackOf(process, "main");
  EXPECT_EQ(process.String(thread->python.name[0]), "file.py(3): f");
  EXPECT_EQ(process.String(thread->op.name[0]), "Execute");
  EXPECT_EQ(process.String(thread->op.detail[0]), R"({"id":"3","shape":"f32[2]","_src":"last"})");
  EXPECT_EQ(thread->op.detail[1], 0u);
  EXPECT_THAT(thread->tensor.device, ElementsAre(1 << 8 | 2, 0, 0));
  EXPECT_THAT(thread->tensor.bytes, ElementsAre(512, proto::kReturnedOfUnknownSize, 0));
  EXPECT_EQ(thread->tensor.total_allocated[0], 2048u);
  EXPECT_EQ(thread->tensor.total_reserved[0], 3072u);
  EXPECT_EQ(thread->tensor.total_reserved[2], 2048u) << "what the host may still give is not taken";
  EXPECT_EQ(process.String(thread->range.domain[0]), "domain");
  EXPECT_EQ(process.String(thread->range.name[0]), "forward");
}

// Two threads make calls under the system's number, and operations under another one.
xspace::XSpace WithThreadsTwice(int64_t shift_of_operations) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  for (const int64_t thread : {0, 1}) {
    xspace::XLine* calls = host.Line(100 + thread, "Host Threads/" + std::to_string(100 + thread));
    xspace::XLine* operations = host.Line(-77 - thread, "pool/" + std::to_string(-77 - thread));
    for (int64_t i = 0; i < 5; ++i) {
      const int64_t at = (2 * i + thread) * 100'000;
      const std::string name = "fusion." + std::to_string(i);
      host.Event(operations, name, at + shift_of_operations, 90'000);
      xspace::XEvent* call = host.Event(calls, "cuLaunchKernel", at + 10'000, 5'000);
      host.Stat(call, "correlation_id", 10 * thread + i + 1);
      host.Stat(call, "hlo_op", name);
    }
  }
  return space;
}

TEST(XSpaceImporter, AThreadThatTheFileHasTwiceIsOne) {
  const Process process = Import(WithThreadsTwice(0));
  ASSERT_EQ(process.tracks.size(), 2u);
  for (const Track& track : process.tracks) {
    EXPECT_EQ(track.name, "pool");
    EXPECT_EQ(track.op.rows(), 5u);
    EXPECT_EQ(track.api.rows(), 5u);
    EXPECT_EQ(track.op.end_ns[0] - 90, track.api.end_ns[0] - 15);
  }
  EXPECT_EQ(process.tracks[0].tid + process.tracks[1].tid, 201);
  EXPECT_THAT(process.health.note(0).text(), HasSubstr("threads: 2"));
}

TEST(XSpaceImporter, ThreadsWhoseOperationsDoNotFitStayApart) {
  const Process process = Import(WithThreadsTwice(50'000'000));
  EXPECT_EQ(process.tracks.size(), 4u);
  EXPECT_EQ(process.health.note_size(), 0);
}

TEST(XSpaceImporter, SamplesOfADeviceAreCounters) {
  xspace::XSpace space;
  PlaneMaker device(&space, "/device:GPU:0");
  xspace::XLine* line = device.Line(0, "_counters_");
  for (const int64_t value : {3, 5})
    device.Stat(device.Event(line, "sample", value * 1'000, 0), "sm__cycles", value);
  xspace::XStat* real = device.Event(line, "sample", 9'000, 0)->add_stats();
  real->set_metadata_id(device.StatId("share"));
  real->set_double_value(0.25);
  real = device.Event(line, "sample", 9'500, 0)->add_stats();
  real->set_metadata_id(device.StatId("share"));
  real->set_double_value(std::numeric_limits<double>::quiet_NaN());
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  EXPECT_THAT(StreamOf(process)->counter.value, ElementsAre(3, 5, 250));
  EXPECT_EQ(process.counters.at(2).name(), "share");
  EXPECT_EQ(process.counters.at(2).divisor(), 1000u);
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kCounter), 1u);
}

TEST(XSpaceImporter, TheTaskTellsWhenTheProfilerBegan) {
  xspace::XSpace space;
  PlaneMaker task(&space, "Task Environment");
  task.Stat(task.plane(), "profile_start_time", 1'700'000'000'000'000'000);
  PlaneMaker host(&space, "/host:CPU");
  host.Event(host.Line(5, "python", 250), "a", 0, 1'000);
  XSpaceImporter importer(0);
  const HeldBytes file(space.SerializeAsString());
  XSpaceFacts facts;
  EXPECT_FALSE(ReadXSpace(file, "x", &importer, &facts));
  EXPECT_EQ(importer.Close(), 1'700'000'000'000'000'250);
  EXPECT_TRUE(importer.IsWallClock());
}

TEST(XSpaceImporter, PlanesThatAreNotKnownAreRanges) {
  xspace::XSpace space;
  PlaneMaker other(&space, "/device:CUSTOM:Megascale Trace");
  other.Event(other.Line(5, "transfers"), "send", 0, 1'000);
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  const Track* track = TrackOf(process, "/device:CUSTOM:Megascale Trace transfers");
  ASSERT_NE(track, nullptr);
  EXPECT_EQ(process.String(track->range.name[0]), "send");
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kUnknownCategory), 1u);
}

TEST(XSpaceImporter, DetailsHaveAShareOfTheMemory) {
  xspace::XSpace space;
  PlaneMaker host(&space, "/host:CPU");
  xspace::XLine* line = host.Line(5, "python");
  constexpr int kEvents = 12'000;
  const std::string text(6'000, 'x');
  for (int i = 0; i < kEvents; ++i)
    host.Stat(host.Event(line, "a", i, 1), "text", text + std::to_string(i));
  XSpaceImporter importer(0);
  const Process process = Import(space, &importer);
  EXPECT_EQ(TrackOf(process, "python")->op.rows(), kEvents);
  EXPECT_GT(importer.notes().count(ImportNoteKind::kDetail), 1'000u);
}

TEST(XSpaceScopes, CirclesAreCut) {
  XSpaceScopes scopes;
  scopes.Add(1, 2, "a");
  scopes.Add(2, 3, "b");
  scopes.Add(3, 1, "c");
  scopes.Add(4, 4, "d");
  scopes.Add(6, 5, "f");
  scopes.Add(7, 6, "g");
  EXPECT_EQ(scopes.CutCircles(), 2u);
  EXPECT_EQ(scopes.PathOf(7), "f/g");
  EXPECT_EQ(scopes.PathOf(4), "d");
  EXPECT_LE(scopes.PathOf(1).size(), 5u);
  EXPECT_EQ(scopes.PathOf(99), "");
}

}  // namespace
}  // namespace gpuprof::analysis::import
