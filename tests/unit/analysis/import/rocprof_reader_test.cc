// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The text of rocprofv3's JSON by hand. Whole files go through the command in
// tests/process/test_import_rocprof.py.

#include "analysis/import/rocprof_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "analysis/import/json_stream.h"

namespace gpuprof::analysis::import {
namespace {

// Writes down what comes.
struct Told final : RocprofHandler {
  void OnProcess() override { lines.push_back("process"); }
  void OnFacts(const RocprofProcess& process) override {
    lines.push_back("pid " + std::to_string(process.pid) + " on " + process.host);
  }
  void OnAgent(const RocprofAgent& agent) override {
    lines.push_back("agent " + std::to_string(agent.handle) + (agent.is_gpu ? " gpu" : ""));
  }
  void OnKernel(const RocprofKernel& kernel) override {
    lines.push_back("kernel " + std::to_string(kernel.id) + " " + kernel.name + " " +
                    std::to_string(kernel.vector_registers));
  }
  void OnKind(uint64_t kind, std::string_view name,
              const std::vector<std::string>& operations) override {
    lines.push_back("kind " + std::to_string(kind) + " " + std::string(name) + " " +
                    std::to_string(operations.size()));
  }
  void OnMessage(uint64_t correlation, std::string_view text) override {
    lines.push_back("message " + std::to_string(correlation) + " " + std::string(text));
  }
  bool OnRecord(std::string_view section, const RocprofRecord& record) override {
    if (section == "unwanted") return false;
    lines.push_back(std::string(section) + " " + std::to_string(record.start_ns.value_or(-1)) +
                    " " + std::to_string(record.correlation) + " " +
                    std::to_string(record.work_items[1]) + " " + std::to_string(record.queue));
    return true;
  }
  void OnUnread(std::string_view section, uint64_t records) override {
    lines.push_back("unread " + std::string(section) + " " + std::to_string(records));
  }
  Error Refusal() override { return {}; }

  std::vector<std::string> lines;
};

struct Outcome {
  Error error;
  RocprofText text;
  std::vector<std::string> lines;
};

Outcome Read(std::string_view json, size_t piece = SIZE_MAX) {
  MemorySource source(json, piece);
  Told told;
  Outcome outcome;
  outcome.error = ReadRocprof(&source, "file", &told, &outcome.text);
  outcome.lines = told.lines;
  return outcome;
}

constexpr char kFile[] = R"( {"rocprofiler-sdk-tool": [ {
 "metadata": {"pid": 12, "config": {"deep": [{"pid": 1}]}, "node": {"hostname": "n\u0041\n"}},
 "agents": [{"id": {"handle": 18446744073709551615}, "type": 2}, 7, {"id": 3, "type": 1}],
 "strings": {"buffer_records": [{"kind": "A", "operations": []},
                                {"kind": "B", "operations": ["x", "y"]}],
             "marker_api": [{"key": 5, "value": "a \"range\""}], "other": {"a": [1, "]"]}},
 "kernel_symbols": [{"kernel_id": 9, "kernel_name": "_Zk.kd", "arch_vgpr_count": 8,
                     "accum_vgpr_count": 4}, {"kernel_id": 10,
                     "formatted_kernel_name": "k [clone .kd]", "kernel_name": "other"}],
 "buffer_records": {
   "kernel_dispatch": [{"start_timestamp": 100, "correlation_id": {"internal": 6, "external": 7},
       "dispatch_info": {"queue_id": {"handle": 2}, "grid_size": {"x": 1, "y": 64, "z": 1}}}, 3],
   "empty": [], "number": 12, "text": "}]",
   "unwanted": [{"a": "}"}, [[]], {}, 7, "x"],
   "hip_api": [{"start_timestamp": -1, "correlation_id": 5}, ]
 }}], "more": null} )";

TEST(RocprofReaderTest, ReadsAllParts) {
  const Outcome outcome = Read(kFile);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.lines, (std::vector<std::string>{
                               "process", "pid 12 on nA\n", "agent 18446744073709551615 gpu",
                               "agent 3", "kind 0 A 0", "kind 1 B 2", "message 5 a \"range\"",
                               "kernel 9 _Zk 12", "kernel 10 k 0", "kernel_dispatch 100 6 64 2",
                               "unread unwanted 5", "hip_api -1 0 0 0"}));
  EXPECT_EQ(outcome.text.unreadable, 2u);
  EXPECT_FALSE(outcome.text.is_truncated || outcome.text.is_broken);
}

TEST(RocprofReaderTest, PiecesMakeNoDifference) {
  const Outcome whole = Read(kFile);
  for (size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(Read(kFile, piece).lines, whole.lines);
}

TEST(RocprofReaderTest, EachCutIsTold) {
  const std::string_view text(kFile);
  const std::vector<std::string> whole = Read(text).lines;
  const size_t last = text.rfind('}');
  for (size_t size = 0; size <= last; ++size) {
    const Outcome outcome = Read(text.substr(0, size));
    EXPECT_TRUE(outcome.error || outcome.text.is_truncated) << size;
    ASSERT_LE(outcome.lines.size(), whole.size());
    for (size_t i = 0; i + 1 < outcome.lines.size(); ++i)
      EXPECT_EQ(outcome.lines[i].substr(0, 4), whole[i].substr(0, 4)) << size;
  }
}

TEST(RocprofReaderTest, AnyBytesEnd) {
  std::mt19937 chance(5);
  const std::string text(kFile);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (unsigned n = 1 + chance() % 4; n > 0; --n)
      damaged[chance() % damaged.size()] = "{}[]\",:\\0a"[chance() % 10];
    const Outcome whole = Read(damaged), pieces = Read(damaged, 5);
    EXPECT_EQ(whole.lines, pieces.lines) << damaged;
    EXPECT_EQ(whole.error.message, pieces.error.message);
  }
}

TEST(RocprofReaderTest, BeginsByItsKey) {
  EXPECT_TRUE(BeginsAsRocprof(" \n{ \"rocprofiler-sdk-tool\" : ["));
  EXPECT_TRUE(BeginsAsRocprof("\xef\xbb\xbf{\"rocprofiler-sdk-tool\":["));
  EXPECT_FALSE(BeginsAsRocprof("{\"rocprofiler-sdk-tools\":["));
  EXPECT_FALSE(BeginsAsRocprof("{\"traceEvents\": \"rocprofiler-sdk-tool\"}"));
  EXPECT_FALSE(BeginsAsRocprof("{"));
  EXPECT_FALSE(BeginsAsRocprof(""));
}

TEST(JsonStreamTest, StepsOverValuesOfAnyDepthAndSize) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string text = "{\"a\": " + deep + ", \"b\": \"" + std::string(1'000'000, 'x') +
                           "\\\\\\\"\", \"c\": -1.5e3, \"d\": 7}";
  MemorySource source(text, 4099);
  TextWindow window(&source);
  window.Fill();
  JsonStream stream(&window);
  std::string keys, last;
  EXPECT_TRUE(stream.Object([&](std::string_view key) {
    keys += key;
    std::string_view json;
    if (key != "d") return stream.Skip();
    const bool is_read = stream.Value(&json, 100);
    last = json;
    return is_read;
  }));
  EXPECT_EQ(keys, "abcd");
  EXPECT_EQ(last, "7");
  EXPECT_EQ(stream.state(), JsonStream::State::kGood);
}

TEST(JsonStreamTest, TooLargeValuesCanBeSteppedOver) {
  const std::string text = "[\"" + std::string(5'000'000, 'x') + "\", 1]";
  MemorySource source(text);
  TextWindow window(&source);
  window.Fill();
  JsonStream stream(&window);
  int elements = 0;
  EXPECT_TRUE(stream.Array([&] {
    std::string_view json;
    const bool is_small = stream.Value(&json, 1000);
    EXPECT_EQ(is_small, elements == 1);
    return ++elements == 2 ? is_small : stream.Skip();
  }));
  EXPECT_EQ(elements, 2);
}

}  // namespace
}  // namespace gpuprof::analysis::import
