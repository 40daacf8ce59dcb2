// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes a big trace that is shaped like a program's:
// make_bundle heap|kernels|training ROWS FOLDER [SLOWER]
// make_bundle job RANKS FOLDER STEPS
// heap: allocations and frees of six sizes by 200 stacks, on the coarse clock. kernels: ROWS
// kernels of 300 signatures in 4 streams, each with the call that launched it. training: steps of
// 5,000 layers. A layer is an operation in another one, a call in it and a kernel: four rows. With
// SLOWER, kernels take so many per cent longer. job: one folder for each rank. A rank loads,
// computes forward and backward, meets the others in an all-reduce, and runs its optimizer. The
// last rank is slow in the second half of the steps. Times are nanoseconds, which are ticks and
// CUPTI's clock too.

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_writer.h"
#include "proto/record.h"
#include "proto/schema.h"
#include "proto/ticks.h"
#include "proto/trace.pb.h"

namespace gpuprof {
namespace {

constexpr uint64_t kWallNs = 1'700'000'000'000'000'000;
constexpr uint32_t kStreams = 4;
constexpr uint32_t kSignatures = 300;
constexpr uint32_t kStacks = 200;
constexpr uint32_t kLayers = 5'000;  // of a step
constexpr uint32_t kOps = 60;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "make_bundle: cannot %s\n", what);
  std::exit(1);
}

class Maker {
 public:
  explicit Maker(const std::string& folder, uint32_t pid = 100) {
    mkdir(folder.c_str(), 0700);
    proto::FileHeader header = {};
    header.pid = pid;
    header.start_id = kWallNs / 1000;
    header.realtime_ns = kWallNs;
    header.ticks_kind = static_cast<uint32_t>(proto::ClockKind::kMonotonic);
    const std::string file = folder + "/p" + std::to_string(pid) + "-1.gpt";
    Require(writer_.Create(file.c_str(), header), "create the trace");
    Clock(now_);
  }

  void Heap(uint64_t rows) {
    proto::Stacks stacks;
    stacks.set_first_id(1);
    for (uint32_t i = 0; i < kStacks; ++i) {
      stacks.add_parent_back(i < 10 ? 0 : 10);
      stacks.add_pc_delta(64);
    }
    Table(proto::ChunkKind::kStacks, 9, stacks, kStacks);
    codec::ChunkBuilder heap(proto::ChunkKind::kHeap, 1, 0);
    std::vector<uint64_t> live;
    for (uint64_t i = 0; i < rows; ++i) {
      now_ += 60 + random_() % 100;
      const uint64_t time = now_ - now_ % 1'000'000;  // the coarse clock
      const bool is_free = live.size() > 20'000 || (!live.empty() && random_() % 2 == 0);
      uint64_t address = 0;
      if (is_free) {
        const size_t at = live.size() - 1 - random_() % std::min<size_t>(live.size(), 64);
        address = live[at];
        live[at] = live.back();
        live.pop_back();
      } else {
        address = 0x7f3200000000 + i * 96 % (1 << 24);
        live.push_back(address);
      }
      const uint64_t row[] = {time, proto::HeapOperation(is_free, is_free ? 4 : 1, 0), address,
                              is_free ? 0 : 32u << random_() % 6,
                              is_free ? 0 : 1 + random_() % kStacks};
      heap.Append(row, time);
      if (heap.count() == proto::kRowsPerChunk) Write(&heap);
    }
    Write(&heap);
    End();
  }

  void Kernels(uint64_t rows) {
    Names();
    std::vector<std::unique_ptr<codec::ChunkBuilder>> streams;
    for (uint32_t i = 0; i < kStreams; ++i)
      streams.push_back(std::make_unique<codec::ChunkBuilder>(proto::ChunkKind::kKernel, 2 + i, 0));
    codec::ChunkBuilder calls(proto::ChunkKind::kApi, 1, 0);
    std::vector<uint64_t> free_at(kStreams, 0);
    for (uint64_t i = 0; i < rows; ++i) {
      const uint64_t correlation = 1 + i % 0xfffffff0;
      now_ += 4'000 + random_() % 500;
      const uint64_t spent = 2'500 + random_() % 400;
      const uint64_t call[] = {now_, spent, proto::ApiFunction(2, 211), correlation, 0};
      calls.Append(call, now_ - spent);
      const uint32_t stream = i % 16 == 0 ? 1 + i / 16 % 3 : 0;
      const uint32_t signature = i % kSignatures;
      const uint64_t duration = 1'000 + 16 * signature + random_() % 64;
      const uint64_t start = std::max(free_at[stream] + 640, now_ + 1'500);
      free_at[stream] = start + duration;
      const uint64_t kernel[] = {start + duration, duration, 1 + signature, correlation, 0, 0};
      streams[stream]->Append(kernel, start);
      if (calls.count() == proto::kRowsPerChunk) Write(&calls);
      if (streams[stream]->count() == proto::kRowsPerChunk) Write(streams[stream].get());
    }
    Write(&calls);
    for (auto& stream : streams) Write(stream.get());
    End();
  }

  void Training(uint64_t rows, uint64_t slower) {
    const uint64_t steps = std::max<uint64_t>(rows / (4 * kLayers), 1);
    Names();
    proto::Strings strings;
    for (uint32_t i = 0; i < kOps; ++i) {
      strings.add_id(kFirstOp + i);
      strings.add_text("aten::op_" + std::to_string(i));
    }
    for (uint64_t i = 0; i < steps; ++i) {
      strings.add_id(static_cast<uint32_t>(kFirstStep + i));
      strings.add_text("step " + std::to_string(i));
    }
    Table(proto::ChunkKind::kStrings, 8, strings, static_cast<uint32_t>(kOps + steps));
    std::vector<std::unique_ptr<codec::ChunkBuilder>> streams;
    for (uint32_t i = 0; i < kStreams; ++i)
      streams.push_back(std::make_unique<codec::ChunkBuilder>(proto::ChunkKind::kKernel, 2 + i, 0));
    codec::ChunkBuilder calls(proto::ChunkKind::kApi, 1, 0), ops(proto::ChunkKind::kOp, 1, 0);
    std::vector<uint64_t> free_at(kStreams, 0);
    const auto op = [&](uint64_t end, uint64_t start, uint64_t name, uint64_t scope,
                        uint64_t depth) {
      const uint64_t row[] = {end, end - start, name, scope | depth << 16};
      ops.Append(row, start);
      if (ops.count() == proto::kRowsPerChunk) Write(&ops);
    };
    uint64_t correlation = 0;
    for (uint64_t step = 0; step < steps; ++step) {
      const uint64_t begin = now_;
      const uint64_t noise = random_() % 200;
      for (uint32_t layer = 0; layer < kLayers; ++layer) {
        const uint64_t start = now_, inner = now_ + 400;
        const uint64_t called = inner + 300, returned = called + 2'500 + random_() % 400;
        const uint64_t call[] = {returned, returned - called, proto::ApiFunction(2, 211),
                                 ++correlation, 0};
        calls.Append(call, called);
        const uint32_t stream = layer % 16 == 0 ? 1 + layer / 16 % 3 : 0;
        const uint32_t signature = layer % kSignatures;
        const uint64_t duration =
            (2'000 + 16 * signature + noise + random_() % 64) * (100 + slower) / 100;
        const uint64_t run = std::max(free_at[stream] + 640, called + 1'500);
        free_at[stream] = run + duration;
        const uint64_t kernel[] = {run + duration, duration, 1 + signature, correlation, 0, 0};
        streams[stream]->Append(kernel, run);
        now_ = returned + 600;
        op(now_ - 300, inner, kFirstOp + (layer + 7) % kOps, 0, 2);
        op(now_, start, kFirstOp + layer % kOps, 0, 1);
        if (calls.count() == proto::kRowsPerChunk) Write(&calls);
        if (streams[stream]->count() == proto::kRowsPerChunk) Write(streams[stream].get());
      }
      // The step ends with its last kernel.
      now_ = std::max(now_, *std::max_element(free_at.begin(), free_at.end())) + 20'000;
      op(now_ - 5'000, begin, kFirstStep + step, static_cast<uint64_t>(proto::OpScope::kUser), 0);
    }
    Write(&calls);
    Write(&ops);
    for (auto& stream : streams) Write(stream.get());
    End();
  }

  // Writes the part of one rank. All ranks draw the same times, so each knows when the others come.
  void Rank(uint64_t rank, uint64_t ranks, uint64_t steps) {
    proto::Meta meta;
    meta.set_pid(static_cast<int32_t>(1000 + rank));
    meta.set_host("host" + std::to_string(rank / 8));
    for (const auto& [name, value] : {std::pair{"RANK", rank}, std::pair{"WORLD_SIZE", ranks},
                                      std::pair{"MASTER_PORT", ranks}}) {
      proto::EnvironmentEntry* entry = meta.add_environment();
      entry->set_name(name);
      entry->set_value(std::to_string(value));
    }
    Table(proto::ChunkKind::kMeta, 13, meta, 1);
    NamesOfJob(steps);
    codec::ChunkBuilder work(proto::ChunkKind::kKernel, 2, 0);
    codec::ChunkBuilder messages(proto::ChunkKind::kKernel, 3, 0);
    codec::ChunkBuilder calls(proto::ChunkKind::kApi, 1, 0), ops(proto::ChunkKind::kOp, 1, 0);
    const auto append = [&](codec::ChunkBuilder* table, std::vector<uint64_t> row, uint64_t start) {
      table->Append(row, start);
      if (table->count() == proto::kRowsPerChunk) Write(table);
    };
    uint64_t correlation = 0;
    for (uint64_t step = 0; step < steps; ++step) {
      const uint64_t begin = now_, loaded = begin + 4'000'000;
      // By rank: when it comes to the all-reduce, behind `loaded`.
      std::vector<std::pair<uint64_t, uint64_t>> work_of;
      uint64_t last = 0;
      for (uint64_t each = 0; each < ranks; ++each) {
        const bool is_slow = each + 1 == ranks && step * 2 >= steps;
        work_of.emplace_back(9'900'000 + random_() % 200'000,
                             (is_slow ? 32'000'000 : 20'000'000) + random_() % 200'000);
        last = std::max(last, work_of.back().first + work_of.back().second);
      }
      const auto [forward, backward] = work_of[rank];
      const uint64_t end = loaded + last + 5'000'000;
      now_ = end + 3'000'000;
      const std::pair<uint64_t, uint64_t> spans[] = {
          {loaded, loaded + forward},
          {loaded + forward, loaded + forward + backward},
          {loaded + forward + backward, end},
          {end, now_}};
      for (uint64_t i = 0; i < std::size(spans); ++i) {
        const auto& [from, to] = spans[i];
        const uint64_t called = loaded - 30'000 + i * 6'000;
        append(&calls, {called + 5'000, 5'000, proto::ApiFunction(2, 211), ++correlation, 0},
               called);
        append(i == 2 ? &messages : &work, {to, to - from, 1 + i, correlation, 0, 0}, from);
      }
      const auto user = static_cast<uint64_t>(proto::OpScope::kUser);
      append(&ops, {loaded - 50'000, loaded - 50'000 - begin, kFirstOp, user | 1 << 16}, begin);
      append(&ops, {now_ - 1, now_ - 1 - begin, kFirstStep + step, user}, begin);
    }
    for (codec::ChunkBuilder* table : {&calls, &ops, &work, &messages}) Write(table);
    End();
  }

 private:
  void NamesOfJob(uint64_t steps) {
    proto::Strings strings;
    proto::Signatures signatures;
    const char* const kernels[] = {"fwd_gemm_bf16", "bwd_gemm_bf16",
                                   "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                   "multi_tensor_adamw"};
    for (uint32_t i = 0; i < std::size(kernels); ++i) {
      strings.add_id(2 + i);
      strings.add_text(kernels[i]);
      proto::Signature* signature = signatures.add_signature();
      signature->set_id(1 + i);
      signature->set_name(2 + i);
    }
    strings.add_id(kFirstOp);
    strings.add_text("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    for (uint64_t i = 0; i < steps; ++i) {
      strings.add_id(static_cast<uint32_t>(kFirstStep + i));
      strings.add_text("ProfilerStep#" + std::to_string(i));
    }
    Table(proto::ChunkKind::kStrings, 8, strings, static_cast<uint32_t>(strings.id_size()));
    Table(proto::ChunkKind::kSignatures, 25, signatures, signatures.signature_size());
    proto::Streams streams;
    for (const uint32_t track : {2u, 3u}) {
      proto::Stream* stream = streams.add_stream();
      stream->set_track(track);
      stream->set_context(1);
      stream->set_stream(track == 2 ? 7 : 20);
    }
    Table(proto::ChunkKind::kStreams, 26, streams, 2);
  }

  static constexpr uint32_t kFirstOp = 2'000, kFirstStep = 10'000;

  void Names() {
    proto::Strings strings;
    proto::Signatures signatures;
    for (uint32_t i = 0; i < kSignatures; ++i) {
      strings.add_id(2 + i);
      strings.add_text("kernel_" + std::to_string(i / 3) + "<float>");
      proto::Signature* signature = signatures.add_signature();
      signature->set_id(1 + i);
      signature->set_name(2 + i - i % 3);
      for (const uint32_t blocks : {64 + i, 1u, 1u}) signature->add_grid(blocks);
      for (const uint32_t threads : {256u, 1u, 1u}) signature->add_block(threads);
    }
    strings.add_id(1000);
    strings.add_text("cudaLaunchKernel_v7000");
    Table(proto::ChunkKind::kStrings, 8, strings, kSignatures + 1);
    Table(proto::ChunkKind::kSignatures, 25, signatures, kSignatures);
    proto::Functions functions;
    functions.add_function(proto::ApiFunction(2, 211));
    functions.add_name(1000);
    Table(proto::ChunkKind::kFunctions, 28, functions, 1);
    proto::Streams streams;
    for (uint32_t i = 0; i < kStreams; ++i) {
      proto::Stream* stream = streams.add_stream();
      stream->set_track(2 + i);
      stream->set_context(1);
      stream->set_stream(7 + i);
    }
    Table(proto::ChunkKind::kStreams, 26, streams, kStreams);
  }

  void Clock(uint64_t ns) {
    proto::Clocks clocks;
    for (const bool is_of_cupti : {false, true}) {
      proto::ClockSnapshot* snapshot = clocks.add_snapshot();
      snapshot->set_ticks(ns);
      snapshot->set_monotonic_ns(ns);
      snapshot->set_realtime_ns(kWallNs + ns);
      snapshot->set_bracket_ticks(60);
      if (is_of_cupti) snapshot->set_cupti_ns(ns);
    }
    Table(proto::ChunkKind::kClocks, 11, clocks, 2);
  }

  void Table(proto::ChunkKind kind, int field, const google::protobuf::MessageLite& message,
             uint32_t entries) {
    const std::string bytes = message.SerializeAsString();
    Require(writer_.WriteTable(kind, 1, field, reinterpret_cast<const uint8_t*>(bytes.data()),
                               bytes.size(), entries),
            "write a table");
  }

  void Write(codec::ChunkBuilder* builder) {
    if (builder->count() != 0) Require(writer_.WriteEvents(builder, 1, 0), "write rows");
  }

  void End() {
    Clock(now_);
    Require(writer_.WriteEnd({}), "write the end");
  }

  codec::TraceWriter writer_;
  std::mt19937_64 random_{1};
  uint64_t now_ = 1'000'000;
};

int Main(int argc, char** argv) {
  const std::string what = argc == 4 || argc == 5 ? argv[1] : "";
  if (what == "job" && argc == 5) {
    const uint64_t ranks = std::strtoull(argv[2], nullptr, 10);
    mkdir(argv[3], 0700);
    for (uint64_t rank = 0; rank < ranks; ++rank) {
      Maker(std::string(argv[3]) + "/rank-" + std::to_string(rank),
            static_cast<uint32_t>(1000 + rank))
          .Rank(rank, ranks, std::strtoull(argv[4], nullptr, 10));
    }
    return 0;
  }
  if (what != "heap" && what != "kernels" && what != "training") {
    std::fprintf(stderr,
                 "usage: make_bundle heap|kernels|training ROWS FOLDER [SLOWER]\n"
                 "       make_bundle job RANKS FOLDER STEPS\n");
    return 2;
  }
  Maker maker(argv[3]);
  const uint64_t rows = std::strtoull(argv[2], nullptr, 10);
  if (what == "heap") maker.Heap(rows);
  if (what == "kernels") maker.Kernels(rows);
  if (what == "training") maker.Training(rows, argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 0);
  return 0;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
