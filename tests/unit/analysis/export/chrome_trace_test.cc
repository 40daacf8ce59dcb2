// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What ExportChrome writes for hand-made traces, as text and as JSON.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/analysis/export/exported.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

proto::Device H200() {
  proto::Device device;
  device.set_id(0);
  device.set_name("NVIDIA H200");
  device.set_memory_bytes(150109880320);
  device.set_compute_major(9);
  device.set_multiprocessors(132);
  device.set_threads_per_warp(32);
  device.set_warps_per_multiprocessor(64);
  device.set_blocks_per_multiprocessor(32);
  device.set_threads_per_block(1024);
  device.set_registers_per_block(65536);
  device.set_registers_per_multiprocessor(65536);
  device.set_shared_bytes_per_block(49152);
  device.set_shared_bytes_per_multiprocessor(233472);
  return device;
}

constexpr char kSmall[] = R"json({
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472}
  ],
  "distributedInfo": {"rank": 3, "world_size": 8},
  "host_name": "host",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
  {
    "name": "process_name", "ph": "M", "ts": 0.000, "pid": 7, "tid": 0,
    "args": {
      "name": "train.py"
    }
  },
  {
    "name": "process_labels", "ph": "M", "ts": 0.000, "pid": 7, "tid": 0,
    "args": {
      "labels": "CPU"
    }
  },
  {
    "name": "process_sort_index", "ph": "M", "ts": 0.000, "pid": 7, "tid": 0,
    "args": {
      "sort_index": 7
    }
  },
  {
    "name": "process_name", "ph": "M", "ts": 0.000, "pid": 0, "tid": 0,
    "args": {
      "name": "train.py"
    }
  },
  {
    "name": "process_labels", "ph": "M", "ts": 0.000, "pid": 0, "tid": 0,
    "args": {
      "labels": "GPU 0"
    }
  },
  {
    "name": "process_sort_index", "ph": "M", "ts": 0.000, "pid": 0, "tid": 0,
    "args": {
      "sort_index": 5000000
    }
  },
  {
    "name": "thread_name", "ph": "M", "ts": 0.000, "pid": 7, "tid": 8,
    "args": {
      "name": "thread 8 (python3)"
    }
  },
  {
    "name": "thread_sort_index", "ph": "M", "ts": 0.000, "pid": 7, "tid": 8,
    "args": {
      "sort_index": 8
    }
  },
  {
    "name": "thread_name", "ph": "M", "ts": 0.000, "pid": 0, "tid": 7,
    "args": {
      "name": "stream 7 "
    }
  },
  {
    "name": "thread_sort_index", "ph": "M", "ts": 0.000, "pid": 0, "tid": 7,
    "args": {
      "sort_index": 7
    }
  },
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 8,
    "ts": 0.001, "dur": 9.020,
    "args": {
      "External id": 1
    }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 8,
    "ts": 1.000, "dur": 2.000,
    "args": {
      "External id": 1, "cbid": 1, "correlation": 5
    }
  },
  {
    "ph": "s", "id": 5, "pid": 7, "tid": 8, "ts": 1.000,
    "cat": "ac2g", "name": "ac2g"
  },
  {
    "ph": "X", "cat": "kernel", "name": "gemm(float*)", "pid": 0, "tid": 7,
    "ts": 20.000, "dur": 1.999,
    "args": {
      "External id": 1, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": 5, "registers per thread": 32, "shared memory": 0, "blocks per SM": 0.969697, "warps per SM": 3.878788, "grid": [128, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 6
    }
  },
  {
    "ph": "f", "id": 5, "pid": 0, "tid": 7, "ts": 20.000,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }
  ],
  "traceName": "trace.json"
}
)json";

TEST(ExportChrome, WritesASmallTraceAsKinetoDoes) {
  ProcessBuilder process(7);
  process.process().environment = {{"RANK", "3"}, {"WORLD_SIZE", "8"}};
  process.process().devices = {H200()};
  process.Thread(8).Op("aten::mm", 1, 9021).Call("__cudaLaunchKernel_ptsz_v13000", 1000, 3000, 5);
  process.Stream(0, 1, 7).Kernel(process.Signature("_Z4gemmPf", 128, 128), 20000, 21999, 5);
  Trace trace = MakeTrace({&process});
  trace.origin_realtime_ns = 1790857026000000000;
  ExportOptions options;
  options.name = "trace.json";
  EXPECT_EQ(Export(trace, options).text, kSmall);
}

TEST(ExportChrome, LinksCallsToTheInnermostOperation) {
  ProcessBuilder process(7);
  process.Thread(8)
      .User("ProfilerStep#1", 0, 1000)
      .Op("aten::linear", 10, 500)
      .Op("aten::addmm", 20, 400)
      .Call("cudaLaunchKernel", 30, 40, 1)
      .Call("cudaLaunchKernel", 410, 420, 2)
      .Call("cudaLaunchKernel", 600, 610, 3);
  process.Stream(0, 1, 7).Copy(1, 1, 3, 64, 700, 732, 2);
  const Exported exported = Export(MakeTrace({&process}));
  std::map<std::string, uint64_t> ids;
  for (const Json& op : exported.Of("cpu_op")) ids[op["name"]] = op["args"]["External id"];
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_NE(ids["aten::linear"], ids["aten::addmm"]);
  const std::vector<Json> calls = exported.Of("cuda_runtime");
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0]["args"]["External id"], ids["aten::addmm"]);
  EXPECT_EQ(calls[1]["args"]["External id"], ids["aten::linear"]);
  EXPECT_FALSE(calls[2]["args"].contains("External id")) << "a range of the user is no operation";
  ASSERT_EQ(exported.Of("user_annotation").size(), 1u);
  const std::vector<Json> copies = exported.Of("gpu_memcpy");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0]["name"], "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(copies[0]["args"]["External id"], ids["aten::linear"]);
  EXPECT_EQ(copies[0]["args"]["memory bandwidth (GB/s)"], 2.0);
  EXPECT_EQ(exported.Of("ac2g").size(), 2u) << "only the copy has a call";
}

TEST(ExportChrome, KeepsNumbersAndShapesOfImportedOperations) {
  ProcessBuilder process(7);
  process.Thread(8)
      .Op("a", 0, 10)
      .Op("b", 10, 20)
      .Op("c", 20, 30)
      .Call("cudaLaunchKernel", 12, 14, 1);
  const uint32_t shapes = process.Id(R"({"Input Dims": [[2, 3], []], "Ev Idx": 4})");
  const uint32_t damaged = process.Id(R"({"Input Dims": [[2, 3})");
  Trace trace = MakeTrace({&process});
  trace.importer = "Kineto JSON";
  trace.processes[0].tracks[0].api.external = {513};
  OpTable& ops = trace.processes[0].tracks[0].op;
  ops.external = {0, 513, 7};
  ops.detail = {0, shapes, damaged};
  const Exported exported = Export(trace);
  const std::vector<Json> found = exported.Of("cpu_op");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_FALSE(found[0].contains("args"));
  EXPECT_EQ(found[1]["args"],
            Json::parse(R"({"External id": 513, "Input Dims": [[2, 3], []], "Ev Idx": 4})"));
  EXPECT_EQ(found[2]["args"], Json::parse(R"({"External id": 7})"));
  EXPECT_EQ(exported.Of("cuda_runtime")[0]["args"]["External id"], 513);
}

TEST(ExportChrome, KeepsWhatImportedKernelsTellAboutCollectives) {
  ProcessBuilder process(7);
  process.Thread(8).Call("cudaLaunchKernel", 2, 4, 1);
  const uint32_t signature = process.Signature("ncclDevKernel", 1, 32);
  process.Stream(0, 1, 7)
      .Kernel(signature, 20, 30, 1)
      .Kernel(signature, 40, 50, 1)
      .Kernel(signature, 60, 70, 1);
  const uint32_t detail = process.Id(R"({"Collective name":"allreduce","Seq":5})");
  const uint32_t broken = process.Id(R"({"Collective name":)");
  Trace trace = MakeTrace({&process});
  trace.importer = "Kineto JSON";
  trace.processes[0].tracks[1].kernel.detail = {detail, 0, broken};
  trace.processes[0].tracks[1].kernel.external = {9, 9, 9};
  const std::vector<Json> kernels = Export(trace).Of("kernel");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0]["args"]["External id"], 9);
  EXPECT_EQ(kernels[0]["args"]["Collective name"], "allreduce");
  EXPECT_EQ(kernels[0]["args"]["Seq"], 5);
  EXPECT_FALSE(kernels[1]["args"].contains("Collective name"));
  EXPECT_FALSE(kernels[2]["args"].contains("Collective name"));
}

TEST(ExportChrome, WritesNumbersAndArrowsOfAutograd) {
  ProcessBuilder process(7);
  process.Thread(8).Op("aten::mul", 10, 20);
  process.Thread(9).Op("MulBackward0", 30, 40);
  Trace trace = MakeTrace({&process});
  trace.importer = "Kineto JSON";
  for (Track& track : trace.processes[0].tracks) track.op.sequence = {1};
  trace.processes[0].tracks[1].op.operation = {static_cast<uint32_t>(proto::OpScope::kBackward)};
  const Exported exported = Export(trace);
  const std::vector<Json> ops = exported.Of("cpu_op"), arrows = exported.Of("fwdbwd");
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0]["args"], Json::parse(R"({"Sequence number": 0, "Fwd thread id": 0})"));
  EXPECT_EQ(ops[1]["args"], Json::parse(R"({"Sequence number": 0, "Fwd thread id": 1})"));
  ASSERT_EQ(arrows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(arrows[i]["name"], "fwdbwd");
    EXPECT_EQ(arrows[i]["ph"], i == 0 ? "s" : "f");
    EXPECT_EQ(arrows[i]["tid"], ops[i]["tid"]);
    EXPECT_EQ(arrows[i]["ts"], ops[i]["ts"]);
    EXPECT_EQ(arrows[i]["id"], arrows[0]["id"]);
  }
}

TEST(ExportChrome, WritesCountersOfImportedProcesses) {
  ProcessBuilder process(7);
  process.Thread(8).Op("aten::mul", 10, 20);
  Trace trace = MakeTrace({&process});
  trace.importer = "Kineto JSON";
  Process& imported = trace.processes[0];
  const char* const keys[] = {"x", "y", "x"};
  for (uint32_t id : {1, 2, 3}) {
    proto::Counter& counter = imported.counters[id];
    counter.set_name(id == 3 ? "other" : "both");
    counter.set_source(keys[id - 1]);
    counter.set_divisor(10);
  }
  imported.tracks[0].counter.time_ns = {10, 10, 10, 10, 15};
  imported.tracks[0].counter.counter = {1, 1, 2, 3, 9};
  imported.tracks[0].counter.value = {5, 10, -5, 30, 1};
  const Exported exported = Export(trace);
  std::vector<Json> found;
  for (const Json& event : exported.events) {
    if (event["ph"] == "C") found.push_back({event["name"], event["pid"], event["args"]});
  }
  EXPECT_EQ(Json(found), Json::parse(R"([["both", 7, {"x": 0.5}], ["both", 7, {"x": 1, "y": -0.5}],
                                         ["other", 7, {"x": 3}]])"));
  EXPECT_EQ(exported.report.left_out.at("counter"), 1u);
}

TEST(ExportChrome, WritesPythonCallsWithTheirCallers) {
  ProcessBuilder process(7);
  process.Thread(8).Op("a", 0, 1);
  process.Thread(9).Op("a", 0, 1);
  const uint32_t name = process.Id("train.py(3): main");
  Trace trace = MakeTrace({&process});
  for (Track& track : trace.processes[0].tracks) {
    track.python.end_ns = {50, 100};
    track.python.duration_ns = {10, 100};
    track.python.name = {name, name};
    track.python.parent = {1, PythonTable::kNoRow};
  }
  const std::vector<Json> calls = Export(trace).Of("python_function");
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0]["args"], Json::parse(R"({"Python parent id": null, "Python id": 2})"));
  EXPECT_EQ(calls[1]["args"], Json::parse(R"({"Python parent id": 2, "Python id": 1})"));
  EXPECT_EQ(calls[2]["args"], Json::parse(R"({"Python parent id": null, "Python id": 4})"));
  EXPECT_EQ(calls[3]["tid"], 9);
}

TEST(ExportChrome, WritesRangesMarksTensorsAndOverheads) {
  ProcessBuilder process(7);
  process.Thread(8)
      .Range("", "push", 0, 10)
      .Range("io", "load", 10, 30)
      .Range("", "here", 40, 40, 0, proto::RangeKind::kMark)
      .Range("", "start", 0, 50, 0, proto::RangeKind::kStartEnd)
      .Tensor(60, 0x10, 512, 1 << 8 | 2, 1, 1024, 2048)
      .Tensor(70, 0x10, proto::kReturnedOfUnknownSize, 0xff)
      .Overhead(proto::OverheadOperation(5 << 16), 80, 90);
  const Exported exported = Export(MakeTrace({&process}));
  const std::vector<Json> ranges = exported.Of("user_annotation");
  ASSERT_EQ(ranges.size(), 4u) << "a begin, an end and two slices";
  EXPECT_EQ(ranges[2]["ph"], "X");
  EXPECT_EQ(ranges[3]["args"]["domain"], "io");
  EXPECT_TRUE(exported.report.left_out.empty());
  ASSERT_EQ(exported.Named("start").size(), 2u) << "a begin and an end";
  EXPECT_EQ(exported.Named("start")[0]["ph"], "b");
  EXPECT_EQ(exported.Named("start")[1]["ph"], "e");
  EXPECT_EQ(exported.Named("start")[1]["ts"], 0.05);
  const std::vector<Json> moments = exported.Of("cpu_instant_event");
  ASSERT_EQ(moments.size(), 3u);
  EXPECT_EQ(moments[0]["name"], "here");
  EXPECT_EQ(moments[1]["args"],
            Json::parse(R"({"Total Reserved": 2048, "Total Allocated": 1024, "Bytes": 512,
                            "Addr": 16, "Device Id": 2, "Device Type": 1})"));
  EXPECT_FALSE(moments[2]["args"].contains("Bytes"));
  EXPECT_EQ(moments[2]["args"]["Device Id"], -1);
  ASSERT_EQ(exported.Of("overhead").size(), 1u);
  EXPECT_EQ(exported.Of("overhead")[0]["name"], "Lazy Function Loading");
}

TEST(ExportChrome, WritesWaitsWithWhatTheyWaitFor) {
  ProcessBuilder process(7);
  process.Thread(8).Call("cudaEventRecord", 0, 10, 4).Call("cudaStreamWaitEvent", 20, 30, 5);
  process.Stream(0, 1, 7).Recorded(2, 9, 4, 77);
  process.Stream(0, 1, 13).Sync(2, 20, 30, 5, 9, 77);
  process.Stream(0, 1, kNoCudaId).Sync(4, 40, 50, 6);
  const Exported exported = Export(MakeTrace({&process}));
  const std::vector<Json> waits = exported.Of("cuda_sync");
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0]["name"], "Stream Wait Event");
  EXPECT_EQ(waits[0]["args"]["wait_on_stream"], 7);
  EXPECT_EQ(waits[0]["args"]["wait_on_cuda_event_record_corr_id"], 4);
  EXPECT_EQ(waits[0]["args"]["wait_on_cuda_event_id"], 9);
  EXPECT_EQ(waits[1]["name"], "Context Sync");
  EXPECT_EQ(exported.report.left_out, (std::map<std::string, uint64_t>{{"cuda_event", 1}}));
}

TEST(ExportChrome, WritesFunctionsThatStreamsRunOnTheHost) {
  ProcessBuilder process(7);
  process.Thread(8).Call("cudaLaunchHostFunc", 0, 10, 4);
  process.Stream(2, 1, 7).HostFunction(9, 20, 70, 4).HostFunction(9, 80, 90, 5, 21, 3);
  const Exported exported = Export(MakeTrace({&process}));
  const std::vector<Json> functions = exported.Of("host_function");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0]["name"], "Host function");
  EXPECT_EQ(functions[0]["pid"], 2);
  EXPECT_EQ(functions[0]["tid"], 7);
  EXPECT_EQ(functions[0]["args"],
            Json::parse(R"({"device": 2, "context": 1, "correlation": 4, "thread": 9})"));
  EXPECT_EQ(functions[1]["args"]["graph id"], 21);
  EXPECT_EQ(functions[1]["args"]["graph node id"], 3);
  EXPECT_EQ(exported.Of("ac2g").size(), 2u) << "an arrow from the call to the function";
  EXPECT_TRUE(exported.report.left_out.empty());
}

TEST(ExportChrome, WritesCallersBeforeCalleesOfTheSameTime) {
  ProcessBuilder process(7);
  process.Thread(8).Op("caller", 5, 10).Op("callee", 5, 10).Op("moment", 20, 20).Op("next", 20, 20);
  const Trace trace = MakeTrace({&process});
  const Column<uint32_t>& names = trace.processes[0].tracks[0].op.name;
  ASSERT_EQ(trace.processes[0].String(names[0]), "callee") << "a table has callees first";
  std::vector<std::string> found;
  for (const Json& op : Export(trace).Of("cpu_op")) found.push_back(op["name"]);
  EXPECT_EQ(found, (std::vector<std::string>{"caller", "callee", "moment", "next"}));
}

TEST(ExportChrome, WritesNamesOfAnyBytesAsJson) {
  ProcessBuilder process(7);
  const std::string name = "a\"b\\c\n\x01\xff\xc3\xa9";
  process.Thread(8).Op(name, 0, 10);
  const std::vector<Json> ops = Export(MakeTrace({&process})).Of("cpu_op");
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0]["name"], "a\"b\\c\n\x01\xef\xbf\xbd\xc3\xa9");
}

TEST(ExportChrome, TellsProcessesWithGpusApart) {
  ProcessBuilder first(7), second(8), without(9);
  first.process().environment["RANK"] = "0";
  second.process().environment["RANK"] = "1";
  for (ProcessBuilder* process : {&first, &second}) {
    process->Thread(70).Call("cudaLaunchKernel", 0, 10, 5);
    process->Stream(0, 1, 7).Kernel(process->Signature("gemm", 1, 32), 20, 30, 5);
  }
  without.Thread(90).Op("a", 0, 10);
  const Exported exported = Export(MakeTrace({&first, &second, &without}));
  const std::vector<Json> kernels = exported.Of("kernel");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["pid"], "[rank 0] 0");
  EXPECT_EQ(kernels[1]["pid"], "[rank 1] 0");
  EXPECT_EQ(exported.Of("cuda_runtime")[1]["pid"], "[rank 1] 8");
  EXPECT_EQ(exported.Of("cpu_op")[0]["pid"], "[9] 9");
  const std::vector<Json> arrows = exported.Of("ac2g");
  ASSERT_EQ(arrows.size(), 4u);
  EXPECT_EQ(arrows[0]["id"], arrows[1]["id"]);
  EXPECT_EQ(arrows[2]["id"], arrows[3]["id"]);
  EXPECT_NE(arrows[0]["id"], arrows[2]["id"]);
  EXPECT_EQ(exported.report.ranks, (std::set<uint32_t>{0, 1}));

  ExportOptions options;
  options.pid = 8;
  const Exported alone = Export(MakeTrace({&first, &second, &without}), options);
  ASSERT_EQ(alone.Of("kernel").size(), 1u);
  EXPECT_EQ(alone.Of("kernel")[0]["pid"], 0);
  EXPECT_EQ(alone.json["distributedInfo"]["rank"], 1);
}

TEST(ExportChrome, RefusesAProcessThatIsNotThere) {
  ProcessBuilder process(7);
  process.Thread(8).Op("a", 0, 10);
  ExportOptions options;
  options.pid = 6;
  ExportReport report;
  const Error error = ExportChrome(
      MakeTrace({&process}), options, [](void*, std::string_view) { return true; }, nullptr,
      &report);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
}

TEST(ExportChrome, StopsWhenTheSinkDoes) {
  ProcessBuilder process(7);
  constexpr int kMany = 100000;
  for (int i = 0; i < kMany; ++i) process.Thread(8).Tensor(i, 1, 1);
  size_t pieces = 0;
  ExportReport report;
  const auto sink = [](void* context, std::string_view) {
    ++*static_cast<size_t*>(context);
    return false;
  };
  EXPECT_FALSE(ExportChrome(MakeTrace({&process}), {}, sink, &pieces, &report));
  EXPECT_EQ(pieces, 1u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
