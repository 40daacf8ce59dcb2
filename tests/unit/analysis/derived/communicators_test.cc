// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/communicators.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/derived/collective_message.h"
#include "analysis/derived/parallel_kind.h"
#include "analysis/model/process_groups.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::kUs;

// Ranks with one device each. Kernels have the detail that PyTorch writes.
class Devices {
 public:
  explicit Devices(size_t ranks) {
    for (size_t i = 0; i < ranks; ++i) {
      auto& builder = builders_.emplace_back(static_cast<int32_t>(100 + i));
      builder.process().environment = {{"RANK", std::to_string(i)},
                                       {"WORLD_SIZE", std::to_string(ranks)}};
      signatures_.push_back(builder.Signature("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 32));
      streams_.push_back(&builder.Stream(0, 1, 20));
    }
    details_.resize(ranks);
  }

  // Adds one kernel of a rank. Kernels of a rank come in their order.
  Devices& Kernel(size_t rank, int64_t start, int64_t end, const std::string& detail) {
    streams_[rank]->Kernel(signatures_[rank], start, end);
    details_[rank].push_back(builders_[rank].Id(detail));
    return *this;
  }

  // All ranks of a group reduce floats. Each begins at its time.
  Devices& Reduce(const std::string& group, const std::string& ranks,
                  const std::map<size_t, int64_t>& starts, int64_t end, int64_t number,
                  uint64_t elements = 1000) {
    for (const auto& [rank, start] : starts)
      Kernel(rank, start, end,
             Detail("allreduce", group, ranks, starts.size(), number, elements, ""));
    return *this;
  }

  static std::string Detail(const std::string& op, const std::string& group,
                            const std::string& ranks, size_t size, int64_t number,
                            uint64_t elements, const std::string& more) {
    std::string text = R"({"Collective name":")" + op + R"(","Process Group Name":")" + group +
                       R"(","Process Group Ranks":")" + ranks + R"(","Group size":)" +
                       std::to_string(size) + R"(,"dtype":"Float","In msg nelems":)" +
                       std::to_string(elements) + R"(,"Out msg nelems":)" +
                       std::to_string(elements);
    if (number >= 0) text += R"(,"Seq":)" + std::to_string(number);
    return text + more + "}";
  }

  test::ProcessBuilder& rank(size_t i) { return builders_[i]; }

  Arrivals Find() {
    processes_.clear();
    std::vector<const Process*> list;
    for (size_t i = 0; i < builders_.size(); ++i) {
      Process& process = processes_.emplace_back(builders_[i].Build());
      for (Track& track : process.tracks) {
        if (!track.is_stream || details_[i].empty()) continue;
        track.kernel.detail = {};
        for (const uint32_t detail : details_[i]) track.kernel.detail.push_back(detail);
      }
    }
    for (const Process& process : processes_) list.push_back(&process);
    return FindArrivals(list);
  }

 private:
  std::deque<test::ProcessBuilder> builders_;
  std::deque<Process> processes_;
  std::vector<uint32_t> signatures_;
  std::vector<test::TrackBuilder*> streams_;
  std::vector<std::vector<uint32_t>> details_;
};

TEST(Message, DetailIsRead) {
  const std::string detail =
      R"({"Collective name":"_allgather_base","In msg nelems":1024,"Out msg nelems":2048,)"
      R"("Group size":2,"dtype":"BFloat16","In split size":"[1,\"2]","Process Group Name":"3",)"
      R"("Process Group Ranks":[0, 1],"Seq":41,"Src Rank":5})";
  const auto message = ReadMessage(detail);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->name, "_allgather_base");
  EXPECT_EQ(message->group, "3");
  EXPECT_EQ(message->ranks, "[0, 1]");
  EXPECT_EQ(message->sequence, 41);
  EXPECT_EQ(message->source, 5);
  EXPECT_EQ(message->in_bytes, 2048u);
  EXPECT_EQ(SizeOf(*message), 4096u);
}

TEST(Message, DamagedDetailsSayNothing) {
  for (const char* text : {"", "{", "{\"Seq\"", "{\"Seq\":", "[1,2]", "{\"hlo_op\":\"dot\"}",
                           "{\"Collective name", "{\"Collective name\\"})
    EXPECT_FALSE(ReadMessage(text)) << text;
  const auto message = ReadMessage(R"({"Collective name":"x","In msg nelems":-3,"dtype":"Float"})");
  ASSERT_TRUE(message);
  EXPECT_FALSE(SizeOf(*message));
}

TEST(Message, KindsAndFactorsAreThoseOfNcclsTests) {
  EXPECT_EQ(KindOfCollective("_reduce_scatter_base"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(KindOfCollective("ncclDevKernel_AllReduce_Sum_f32"), CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfCollective("c10d::alltoall_base_"), CollectiveKind::kAllToAll);
  EXPECT_EQ(KindOfCollective("reduce"), CollectiveKind::kReduce);
  EXPECT_EQ(KindOfCollective("ncclDevKernel_SendRecv"), CollectiveKind::kUnknown);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveKind::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveKind::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveKind::kAllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveKind::kSend, 2), 1);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveKind::kAllReduce, 1), 0);
}

TEST(ProcessGroups, ListsOfRanksAreShortAndComeBack) {
  const std::vector<std::vector<uint32_t>> lists = {
      {0}, {0, 1}, {0, 2}, {0, 1, 2, 3}, {0, 8, 16, 24}, {5, 1, 2, 3}, {0, 1, 8, 9}, {7, 3}};
  for (const std::vector<uint32_t>& list : lists)
    EXPECT_EQ(ReadRankList(ShortRankList(list)), list) << ShortRankList(list);
  EXPECT_EQ(ShortRankList({0, 8, 16, 24}), "0-24:8");
  EXPECT_EQ(ShortRankList({0, 2}), "0,2");
  for (const char* text : {"", "a", "1,", "3-1", "0-9:0", "0-4294967295", "1 2", "-1"})
    EXPECT_TRUE(ReadRankList(text).empty()) << text;
}

TEST(ParallelKinds, NamesOfLibrariesTellThem) {
  const std::pair<const char*, ParallelKind> names[] = {
      {"mesh_dp", ParallelKind::kData},
      {"mesh_dp_shard", ParallelKind::kData},
      {"mesh_dp_shard_cp", ParallelKind::kSeveral},
      {"tp:0", ParallelKind::kTensor},
      {"TENSOR_MODEL_PARALLEL_GROUP", ParallelKind::kTensor},
      {"PIPELINE_MODEL_PARALLEL_GROUP", ParallelKind::kPipeline},
      {"DATA_PARALLEL_GROUP_WITH_CP", ParallelKind::kData},
      {"EXPERT_DATA_PARALLEL_GROUP", ParallelKind::kData},
      {"EXPERT_MODEL_PARALLEL_GROUP", ParallelKind::kExpert},
      {"MODEL_PARALLEL_GROUP", ParallelKind::kSeveral},
      {"EMBEDDING_GROUP", ParallelKind::kEmbedding},
      {"CONTEXT_PARALLEL_GROUP", ParallelKind::kContext},
      {"default_pg", ParallelKind::kAll},
      {"undefined", ParallelKind::kUnknown},
      {"7", ParallelKind::kUnknown}};
  for (const auto& [name, kind] : names) EXPECT_EQ(KindOfGroupName(name), kind) << name;
}

TEST(Communicators, GroupsAreMatchedByThemselves) {
  Devices devices(4);
  // Two groups in parallel, of which the second is slower. All ranks have another order of groups.
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t at = (10 + i * 20) * kMs;
    devices.Reduce("1", "[0, 1]", {{0, at}, {1, at + 2 * kMs}}, at + 3 * kMs, i);
    devices.Reduce("2", "[2, 3]", {{2, at}, {3, at + kMs}}, at + 4 * kMs, i + 100);
    devices.Reduce("3", "[0, 2]", {{0, at + 5 * kMs}, {2, at + 5 * kMs}}, at + 6 * kMs, i);
    devices.Reduce("4", "[1, 3]", {{1, at + 5 * kMs}, {3, at + 5 * kMs}}, at + 6 * kMs, i);
  }
  const Arrivals arrivals = devices.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.matched_count, 24u);
  ASSERT_EQ(arrivals.groups.size(), 4u);
  for (const ArrivalsOfGroup& group : arrivals.groups) {
    EXPECT_TRUE(group.group.by_sequence && group.group.is_whole);
    EXPECT_EQ(group.count, 6u);
    const int64_t spread = group.group.name == "1" ? 12 : group.group.name == "2" ? 6 : 0;
    EXPECT_EQ(group.spread_ns, spread * kMs) << group.group.name;
  }
  for (const ArrivalsOfOp& op : arrivals.ops) {
    EXPECT_EQ(op.sized_count, 6u);
    EXPECT_EQ(op.bytes, 24'000u);
    const std::string& group = arrivals.groups[op.group].group.name;
    EXPECT_EQ(op.transfer_ns, (group == "2" ? 18 : 6) * kMs) << group;
  }
}

TEST(Communicators, AMissingCollectiveMovesNoOther) {
  Devices devices(2);
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = (10 + i * 10) * kMs;
    std::map<size_t, int64_t> starts = {{0, at}, {1, at + kMs}};
    const std::string detail = Devices::Detail("allreduce", "1", "[0, 1]", 2, i, 10, "");
    for (const auto& [rank, start] : starts)
      if (i != 4 || rank == 0) devices.Kernel(rank, start, at + 2 * kMs, detail);
  }
  const Arrivals arrivals = devices.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.matched_count, 9u);
  EXPECT_EQ(arrivals.groups[0].group.unmatched_count, 1u);
  EXPECT_EQ(arrivals.groups[0].spread_ns, 9 * kMs);
}

TEST(Communicators, EqualNumbersOfOneCallKeepTheirOrder) {
  Devices devices(2);
  for (int64_t i = 0; i < 1000; ++i)
    devices.Reduce("1", "[0, 1]", {{0, (10 + i) * kMs}, {1, (10 + i) * kMs + 10 * kUs}},
                   (10 + i) * kMs + 100 * kUs, 7);
  const Arrivals arrivals = devices.Find();
  EXPECT_EQ(arrivals.matched_count, 1000u);
  EXPECT_EQ(arrivals.groups[0].spread_ns, 1000 * 10 * kUs);
}

TEST(Communicators, DifferentOperationsOfOneNumberAreNotMatched) {
  Devices devices(2);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = (10 + i * 10) * kMs;
    for (size_t rank = 0; rank < 2; ++rank)
      devices.Kernel(
          rank, at, at + kMs,
          Devices::Detail(rank == 0 ? "allreduce" : "broadcast", "1", "[0, 1]", 2, i, 10, ""));
  }
  EXPECT_EQ(devices.Find().match, ArrivalMatch::kDifferentOrder);
}

TEST(Communicators, TransferNeedsAllRanksOfTheGroup) {
  Devices devices(2);
  for (int64_t i = 0; i < 4; ++i)
    for (size_t rank = 0; rank < 2; ++rank)
      devices.Kernel(rank, (10 + i) * kMs, (10 + i) * kMs + kUs,
                     Devices::Detail("allreduce", "1", "[0, 1, 2, 3]", 4, i, 10, ""));
  const Arrivals arrivals = devices.Find();
  ASSERT_EQ(arrivals.matched_count, 4u);
  EXPECT_FALSE(arrivals.groups[0].group.is_whole);
  EXPECT_EQ(arrivals.ops[0].transfer_count, 0u);
}

TEST(Communicators, DelayThatARankInheritsIsTheOthers) {
  Devices devices(3);
  // Rank 1 is slow. Rank 0 waits for it, and then comes late to its collective with rank 2.
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = (10 + i * 20) * kMs;
    devices.Reduce("0", "[0, 1, 2]", {{0, at}, {1, at}, {2, at}}, at + 100 * kUs, i);
    devices.Reduce("1", "[0, 1]", {{0, at + kMs}, {1, at + 6 * kMs}}, at + 6100 * kUs, i);
    devices.Reduce("2", "[0, 2]", {{0, at + 7100 * kUs}, {2, at + 2 * kMs}}, at + 7200 * kUs, i);
  }
  const Arrivals arrivals = devices.Find();
  ASSERT_EQ(arrivals.matched_count, 30u);
  EXPECT_EQ(arrivals.ranks[0].last_count, 10u);
  EXPECT_EQ(arrivals.ranks[0].inherited_ns, 10 * 5 * kMs) << "as long as it waited";
  EXPECT_EQ(arrivals.ranks[0].lead_ns, 10 * 100 * kUs);
  EXPECT_EQ(arrivals.ranks[0].caused_ns, 0);
  const Judgement judgement = JudgeLateness(arrivals, {});
  ASSERT_TRUE(judgement.late());
  EXPECT_EQ(judgement.late()->rank, 1u);
  EXPECT_EQ(judgement.late()->count, judgement.late()->of);
}

TEST(Communicators, DelayOfBucketsCountsOnce) {
  Devices devices(2);
  // The second bucket begins while the first one waits for rank 1.
  for (int64_t i = 0; i < 20; i += 2) {
    const int64_t at = (10 + i * 20) * kMs;
    devices.Reduce("0", "[0, 1]", {{0, at}, {1, at + 8 * kMs}}, at + 9 * kMs, i);
    devices.Reduce("0", "[0, 1]", {{0, at + 2 * kMs}, {1, at + 11 * kMs}}, at + 12 * kMs, i + 1);
  }
  const Arrivals arrivals = devices.Find();
  EXPECT_EQ(arrivals.ranks[1].last_count, 20u);
  EXPECT_EQ(arrivals.ranks[1].lead_ns, 10 * 9 * kMs) << "8 ms, and 1 ms more at the second bucket";
  EXPECT_EQ(arrivals.ranks[1].inherited_ns, 10 * 8 * kMs);
  EXPECT_EQ(arrivals.ranks[1].caused_ns, 10 * (8 + 2) * kMs) << "to 8, and from the end at 9 to 11";
}

TEST(Communicators, MessagesBoundTheClocks) {
  Devices devices(2);
  // The second clock is 9 ms ahead. A message takes 0.2 ms, in each direction.
  constexpr int64_t kAhead = 9 * kMs;
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t at = (10 + i * 10) * kMs;
    for (const bool is_forth : {true, false}) {
      const int64_t start = at + (is_forth ? 0 : 5 * kMs), end = start + 200 * kUs;
      const std::string ranks =
          is_forth ? R"(,"Src Rank":0,"Dst Rank":1)" : R"(,"Src Rank":1,"Dst Rank":0)";
      devices.Kernel(0, start, end,
                     Devices::Detail(is_forth ? "send" : "recv", "1", "[0, 1]", 2, -1, 10, ranks));
      devices.Kernel(1, start + kAhead, end + kAhead,
                     Devices::Detail(is_forth ? "recv" : "send", "1", "[0, 1]", 2, -1, 10, ranks));
    }
  }
  const Arrivals arrivals = devices.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.matched_count, 12u);
  EXPECT_EQ(arrivals.ranks[1].clock_offset_ns - arrivals.ranks[0].clock_offset_ns, -kAhead);
  EXPECT_EQ(arrivals.clock_error_ns, 200 * kUs);
  EXPECT_TRUE(arrivals.leads.empty()) << "who waits for a message waits for a result";
}

TEST(Communicators, RanksWithoutACommonGroupAreSetsOfTheirOwn) {
  Devices devices(4);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = (10 + i * 10) * kMs;
    devices.Reduce("1", "[0, 1]", {{0, at}, {1, at + kMs}}, at + 2 * kMs, i);
    devices.Reduce("2", "[2, 3]", {{2, at + 99 * kMs}, {3, at + 99 * kMs}}, at + 101 * kMs, i);
  }
  const Arrivals arrivals = devices.Find();
  EXPECT_EQ(arrivals.matched_count, 8u);
  EXPECT_EQ(arrivals.ranks[0].clock_set, arrivals.ranks[1].clock_set);
  EXPECT_NE(arrivals.ranks[0].clock_set, arrivals.ranks[2].clock_set);
}

TEST(Communicators, RangesOfNcclNameTheCommunicator) {
  Devices devices(2);
  std::vector<const Process*> list;
  std::deque<Process> processes;
  for (size_t rank = 0; rank < 2; ++rank) {
    auto builder = test::ProcessBuilder(static_cast<int32_t>(100 + rank));
    builder.process().environment = {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "2"}};
    auto& thread = builder.Thread(1);
    auto& stream = builder.Stream(0, 1, 20);
    const uint32_t kernel = builder.Signature("ncclDevKernel_AllGather_RING_LL", 1, 32);
    const auto value = [&](int64_t end, uint8_t place, const char* name, uint64_t bits) {
      thread.Value("NCCL", end, place, name, RangeValue::kUint64, bits);
    };
    value(5 * kMs, 0, "NCCL communicator ID", 0xfeed);
    value(5 * kMs, 1, "No. of ranks", 2);
    thread.Range("NCCL", "ncclCommInitRank", 4 * kMs, 5 * kMs);
    for (uint32_t i = 0; i < 4; ++i) {
      const int64_t at = (10 + i * 10) * kMs;
      thread.Call("cudaLaunchKernel", at + 10 * kUs, at + 20 * kUs, i + 1);
      value(at + 30 * kUs, 0, "NCCL communicator ID", 0xfeed);
      value(at + 30 * kUs, 1, "Message size [bytes]", 500);
      thread.Range("NCCL", "ncclAllGather", at, at + 30 * kUs);
      stream.Kernel(kernel, at + kMs, at + 2 * kMs, i + 1);
    }
    processes.push_back(builder.Build());
  }
  for (const Process& process : processes) list.push_back(&process);
  const Arrivals arrivals = FindArrivals(list);
  ASSERT_EQ(arrivals.groups.size(), 1u);
  const Communicator& group = arrivals.groups[0].group;
  EXPECT_EQ(group.name, "0xfeed");
  EXPECT_EQ(group.size, 2u);
  EXPECT_TRUE(group.is_whole);
  ASSERT_EQ(arrivals.ops.size(), 1u);
  EXPECT_EQ(arrivals.ops[0].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(arrivals.ops[0].bytes, 4 * 1000u) << "of both ranks";
  EXPECT_EQ(arrivals.ops[0].transfer_ns, 4 * kMs);
}

// NCCL names the other rank of a message by its number in the communicator.
TEST(Communicators, PeersAreRanksOfTheirCommunicator) {
  std::vector<const Process*> list;
  std::deque<Process> processes;
  for (const uint32_t own : {0u, 1u}) {
    auto builder = test::ProcessBuilder(static_cast<int32_t>(100 + own));
    builder.process().environment = {{"RANK", std::to_string(2 + own)}, {"WORLD_SIZE", "4"}};
    auto& thread = builder.Thread(1);
    auto& stream = builder.Stream(0, 1, 20);
    const auto value = [&](int64_t end, uint8_t place, const char* name, uint64_t bits) {
      thread.Value("NCCL", end, place, name, RangeValue::kUint64, bits);
    };
    value(5 * kMs, 0, "NCCL communicator ID", 0xfeed);
    value(5 * kMs, 1, "No. of ranks", 2);
    value(5 * kMs, 2, "Rank", own);
    thread.Range("NCCL", "ncclCommInitRank", 4 * kMs, 5 * kMs);
    thread.Call("cudaLaunchKernel", 10 * kMs, 11 * kMs, 1);
    value(12 * kMs, 0, "NCCL communicator ID", 0xfeed);
    value(12 * kMs, 1, "Message size [bytes]", 500);
    value(12 * kMs, 2, "Peer rank", 1 - own);
    thread.Range("NCCL", own == 0 ? "ncclSend" : "ncclRecv", 10 * kMs, 12 * kMs);
    stream.Kernel(builder.Signature("ncclDevKernel_SendRecv", 1, 32), 12 * kMs, 13 * kMs, 1);
    processes.push_back(builder.Build());
  }
  for (const Process& process : processes) list.push_back(&process);
  const Arrivals arrivals = FindArrivals(list);
  ASSERT_EQ(arrivals.groups.size(), 1u);
  const Communicator& group = arrivals.groups[0].group;
  ASSERT_EQ(group.messages.size(), 1u);
  EXPECT_EQ(group.messages[0].sender, 0u);
  EXPECT_EQ(group.messages[0].receiver, 1u);
  EXPECT_EQ(group.ranks, (std::vector<uint32_t>{2, 3}))
      << "all members are there, with their numbers";
}

}  // namespace
}  // namespace gpuprof::analysis
