// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What ExportXSpace writes for hand-made traces, read by protobuf's own classes.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "proto/foreign/xspace.pb.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using foreign::xspace::XEvent;
using foreign::xspace::XLine;
using foreign::xspace::XPlane;
using foreign::xspace::XSpace;
using foreign::xspace::XStat;

struct Written {
  std::map<std::string, std::string> bytes;  // by path
  std::map<std::string, XSpace> files;
  ExportReport report;
};

Written Export(const Trace& trace, const ExportOptions& options = {}) {
  Written run;
  const auto sink = [](void* context, const std::string& path, std::string_view bytes) {
    static_cast<Written*>(context)->bytes[path] += bytes;
    return true;
  };
  const Error error = ExportXSpace(trace, options, sink, &run, &run.report);
  EXPECT_FALSE(error) << error.message;
  for (const auto& [path, bytes] : run.bytes)
    EXPECT_TRUE(run.files[path].ParseFromString(bytes)) << path;
  return run;
}

std::string Text(const XPlane& plane, const XStat& stat) {
  switch (stat.value_case()) {
    case XStat::kInt64Value:
      return std::to_string(stat.int64_value());
    case XStat::kUint64Value:
      return std::to_string(stat.uint64_value());
    case XStat::kStrValue:
      return stat.str_value();
    case XStat::kRefValue:
      return plane.stat_metadata().at(static_cast<int64_t>(stat.ref_value())).name();
    default:
      return "?";
  }
}

// Returns an event as "name start+duration key=value ...", in nanoseconds.
std::string Text(const XPlane& plane, const XEvent& event) {
  std::string text = plane.event_metadata().at(event.metadata_id()).name() + " " +
                     std::to_string(event.offset_ps() / 1000) + "+" +
                     std::to_string(event.duration_ps() / 1000);
  for (const XStat& stat : event.stats())
    text += " " + plane.stat_metadata().at(stat.metadata_id()).name() + "=" + Text(plane, stat);
  return text;
}

// Returns the lines of a plane by their names.
std::map<std::string, std::vector<std::string>> LinesOf(const XSpace& space,
                                                        const std::string& name) {
  std::map<std::string, std::vector<std::string>> lines;
  for (const XPlane& plane : space.planes()) {
    if (plane.name() != name) continue;
    for (const XLine& line : plane.lines())
      for (const XEvent& event : line.events()) lines[line.name()].push_back(Text(plane, event));
  }
  return lines;
}

using Lines = std::map<std::string, std::vector<std::string>>;

TEST(ExportXSpace, GivesWorkOfAllThreadsToTheSteps) {
  ProcessBuilder process(7);
  process.Thread(8, "main")
      .Op("aten::mm", 110, 150)
      .Range("", "step 4", 100, 300)
      .Call("cudaLaunchKernel", 120, 130, 1)
      .Op("aten::mm", 410, 450)
      .Range("", "step 5", 400, 600);
  process.Thread(9, "backward")
      .Op("aten::mul", 210, 220)
      .Op("Backward", 200, 250)
      .Call("cudaLaunchKernel", 212, 216, 2)
      .Call("cudaLaunchKernel", 350, 360, 3);
  const uint32_t kernel = process.Signature("_Z4workv", 2, 64);
  process.Stream(0, 1, 7).Kernel(kernel, 140, 190, 1).Kernel(kernel, 220, 260, 2);
  process.Stream(0, 1, 8).Kernel(kernel, 370, 380, 3);
  const Written run = Export(MakeTrace({&process}));
  ASSERT_EQ(run.files.size(), 1u);
  const XSpace& space = run.files.begin()->second;
  EXPECT_EQ(
      LinesOf(space, "/host:CPU"),
      (Lines{{"main/8",
              {"step 0+200 _r=1 step_num=4 _pt=0 _p=1", "aten::mm 10+40",
               "step 300+200 _r=1 step_num=5 _pt=0 _p=2", "aten::mm 310+40"}},
             {"backward/9", {"Backward 100+50 _ct=0 _c=1", "aten::mul 110+10"}},
             {"Host Threads/8", {"cudaLaunchKernel 20+10 correlation_id=1 device_id=0 _ct=0 _c=1"}},
             {"Host Threads/9",
              {"cudaLaunchKernel 112+4 correlation_id=2 device_id=0 _ct=0 _c=1",
               "cudaLaunchKernel 250+10 correlation_id=3 device_id=0"}}}));
  const std::string details =
      " kernel_details=regs:32 static_shared:0 dynamic_shared:0 grid:2,1,1 block:64,1,1";
  EXPECT_EQ(LinesOf(space, "/device:GPU:0"),
            (Lines{{"Stream #7(Compute)",
                    {"work() 40+50 correlation_id=1" + details + " tf_op=aten/mm:",
                     "work() 120+40 correlation_id=2" + details + " tf_op=aten/mul:"}},
                   {"Stream #8(Compute)", {"work() 270+10 correlation_id=3" + details}}}));
  EXPECT_EQ(run.report.steps, 2u);
  EXPECT_EQ(run.report.events, 12u);
  EXPECT_TRUE(run.report.left_out.empty());
}

TEST(ExportXSpace, WritesCopiesRangesAndMemory) {
  ProcessBuilder process(7);
  process.Thread(8, "main")
      .Range("dom", "inner", 20, 30, 1)
      .Range("", "a:b", 10, 40)
      .Range("", "mark", 50, 50, 0, proto::RangeKind::kMark)
      .Range("", "loader", 0, 0, 0, proto::RangeKind::kNameThread)
      .Tensor(60, 0x10, 256, 1 << 8, 1, 256, 1024)
      .Tensor(70, 0x10, -256, 1 << 8, 1, 0, 1024)
      .Wait(proto::WaitKind::kMutex, 1, 2, 30, 40);
  process.Stream(1, 1, 7)
      .Copy(1, 1, 3, 4096, 10, 30, 5, 1)
      .Set(64, 40, 50, 6)
      .WholeGraph(3, 60, 90, 7);
  const Written run = Export(MakeTrace({&process}));
  const XSpace& space = run.files.at(run.files.begin()->first);
  const std::string memory =
      " allocator_name=GPU_0 addr=16 allocation_bytes=256 "
      "requested_bytes=256 bytes_allocated=";
  EXPECT_EQ(
      LinesOf(space, "/host:CPU"),
      (Lines{
          {"main/8",
           {"MemoryAllocation 50+0" + memory + "256 bytes_available=768 bytes_reserved=0",
            "MemoryDeallocation 60+0" + memory + "0 bytes_available=1024 bytes_reserved=0"}},
          {"Host Threads/8/NVTX", {"NVTX::a:b 0+30", "NVTX:dom:inner 10+10", "NVTX:mark 40+0"}}}));
  EXPECT_EQ(
      LinesOf(space, "/device:GPU:1"),
      (Lines{{"Stream #7(Compute,MemcpyHToD,Memset)",
              {"MemcpyHToD 0+20 correlation_id=5 memcpy_details=kind_src:pageable kind_dst:device "
               "size:4096 async:1",
               "Memset 30+10 correlation_id=6 memset_details=kind:device num_bytes:64 async:0",
               "CudaGraphExec:3 50+30 correlation_id=7 cuda_graph_exec_id=3"}}}));
  EXPECT_EQ(run.report.left_out, (std::map<std::string, uint64_t>{{"range", 1}, {"wait", 1}}));
}

TEST(ExportXSpace, TellsTheDeviceOfEachCallIfThereAreSeveral) {
  ProcessBuilder process(7);
  process.Thread(8)
      .Call("cudaLaunchKernel", 10, 20, 1)
      .Call("cudaLaunchKernel", 30, 40, 2)
      .Call("cudaDeviceSynchronize", 50, 60, 3);
  const uint32_t kernel = process.Signature("k", 1, 32);
  process.Stream(0, 1, 7).Kernel(kernel, 20, 30, 1);
  process.Stream(2, 2, 7).Kernel(kernel, 40, 50, 2);
  // Another context has a stream of this number.
  process.Stream(2, 3, 7).Kernel(kernel, 60, 70);
  const Written run = Export(MakeTrace({&process}));
  const XSpace& space = run.files.begin()->second;
  EXPECT_EQ(LinesOf(space, "/host:CPU").at("Host Threads/8"),
            (std::vector<std::string>{"cudaLaunchKernel 0+10 correlation_id=1 device_id=0",
                                      "cudaLaunchKernel 20+10 correlation_id=2 device_id=2",
                                      "cudaDeviceSynchronize 40+10 correlation_id=3"}));
  for (const XPlane& plane : space.planes()) {
    if (plane.name() != "/device:GPU:2") continue;
    ASSERT_EQ(plane.lines_size(), 2);
    EXPECT_EQ(plane.lines(0).id(), 7);
    EXPECT_NE(plane.lines(1).id(), 7);
  }
}

TEST(ExportXSpace, GivesEachProcessWithAGpuAFile) {
  ProcessBuilder first(7), second(17), worker(18, 17);
  for (ProcessBuilder* process : {&first, &second}) {
    const uint32_t kernel = process->Signature("k", 1, 32);
    process->Stream(0, 1, 7).Kernel(kernel, 20, 30, 1);
  }
  worker.Thread(19, "loader").Op("fetch", 40, 50);
  const Written run = Export(MakeTrace({&first, &second, &worker}));
  std::map<std::string, size_t> lines;
  for (const auto& [path, space] : run.files)
    lines[path.substr(path.rfind('/') + 1)] = LinesOf(space, "/host:CPU").size();
  EXPECT_EQ(lines,
            (std::map<std::string, size_t>{{"host-7.xplane.pb", 0}, {"host-17.xplane.pb", 1}}));
  ExportOptions options;
  options.pid = 7;
  EXPECT_EQ(Export(MakeTrace({&first, &second, &worker}), options).files.size(), 1u);
}

TEST(ExportXSpace, WritesNamesOfAnyBytes) {
  ProcessBuilder process(7);
  process.Thread(8, "a\xff").Op("\xc3(", 10, 20);
  const Written run = Export(MakeTrace({&process}));
  EXPECT_EQ(LinesOf(run.files.begin()->second, "/host:CPU"),
            (Lines{{"a\xef\xbf\xbd/8", {"\xef\xbf\xbd( 0+10"}}}));
}

TEST(ExportXSpace, RefusesAProcessThatIsNotThere) {
  ProcessBuilder process(7);
  const Trace trace = MakeTrace({&process});
  ExportOptions options;
  options.pid = 8;
  ExportReport report;
  const auto sink = [](void*, const std::string&, std::string_view) { return true; };
  EXPECT_EQ(ExportXSpace(trace, options, sink, nullptr, &report).kind, ErrorKind::kUsage);
}

TEST(ExportXSpace, StopsWhenTheSinkDoes) {
  ProcessBuilder process(7);
  process.Thread(8).Op("op", 10, 20);
  int pieces = 0;
  const auto sink = [](void* context, const std::string&, std::string_view) {
    ++*static_cast<int*>(context);
    return false;
  };
  ExportReport report;
  EXPECT_FALSE(ExportXSpace(MakeTrace({&process}), {}, sink, &pieces, &report));
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace gpuprof::analysis::test
