// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Work read as sums: those of the file and those of the decoded rows are the same, and sums that
// lie are not believed.

#include "analysis/read/work_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"
#include "tests/unit/codec/codec_test_util.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using testing::HasSubstr;

std::shared_ptr<const Trace> OpenSums(const std::string& path, bool trusts_sums) {
  OpenOptions options;
  options.sums_above_rows = 1;
  options.trusts_sums = trusts_sums;
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_FALSE(error) << error.message;
  EXPECT_TRUE(trace->has_sums);
  return trace;
}

// All that the model has of the work.
std::vector<std::vector<int64_t>> WorkOf(const Trace& trace) {
  std::vector<std::vector<int64_t>> work;
  for (const Process& process : trace.processes) {
    for (const Track& track : process.tracks) {
      for (const TableSums& table : track.work.tables) {
        for (const KeySums& sums : table.keys) {
          work.push_back({track.id, static_cast<int64_t>(table.kind), table.lacks_bytes, sums.key,
                          static_cast<int64_t>(sums.rows), static_cast<int64_t>(sums.count),
                          sums.total_ns, sums.min_ns, sums.max_ns,
                          static_cast<int64_t>(sums.bytes)});
        }
      }
      for (const BusyStretch& stretch : track.work.stretches) {
        work.push_back({track.id, static_cast<int64_t>(stretch.kind), stretch.first_ns,
                        stretch.last_ns, stretch.busy_ns});
      }
    }
  }
  return work;
}

// A trace whose kernels and copies run on several streams, in blocks. Spans overlap now and then.
class WorkSumsTest : public testing::Test {
 protected:
  void Make(uint32_t seed) {
    TraceMaker maker(directory_.path(), 7, 100);
    path_ = maker.path();
    maker.Meta(maker.Identity(1));
    // CUPTI's clock runs a little slower, and its pace changes.
    proto::Clocks clocks;
    for (uint64_t i = 0; i < 20; ++i) {
      proto::ClockSnapshot* snapshot = clocks.add_snapshot();
      snapshot->set_ticks(2'000'000'000 * (i + 1));
      snapshot->set_monotonic_ns(1'000'000'000 * (i + 1));
      snapshot->set_realtime_ns(5'000'000'000 + 1'000'000'000 * (i + 1));
      snapshot->set_bracket_ticks(60);
      if (i % 2 == 0) snapshot->set_cupti_ns(1'000'000'000 * (i + 1) + i * i * 700);
    }
    maker.Table(ChunkKind::kClocks, 11, clocks, 20);
    std::mt19937_64 random(seed);
    const uint64_t streams = 1 + random() % 5, keys = 1 + random() % 30;
    std::vector<uint64_t> at(streams, 1'000'000'000);
    for (int block = 0; block < 12; ++block) {
      for (uint32_t stream = 0; stream < streams; ++stream) {
        const uint64_t rows = 2'000 + random() % 4'000;
        for (uint64_t row = 0; row < rows; ++row) {
          at[stream] += random() % 400'000;
          const uint64_t reach = random() % 40 == 0 ? 900'000 : 200'000;
          maker.Row(ChunkKind::kKernel, 2 + stream,
                    {at[stream], random() % reach, 1 + random() % keys, row, 0, 0});
          if (row % 2 == 0) {
            maker.Row(ChunkKind::kMemcpy, 2 + stream,
                      {at[stream], random() % reach, random() % 3, row, random() % 5'000});
          }
        }
      }
      maker.Flush();
    }
    maker.End();
  }
  uint64_t SumTables() const {
    const std::vector<uint8_t> file = codec::ReadBytes(path_);
    codec::TraceScan scan;
    EXPECT_TRUE(codec::Scan(file.data(), file.size(), &scan));
    uint64_t tables = 0;
    for (const codec::BlockRef& block : scan.blocks)
      tables += static_cast<ChunkKind>(block.header.kind) == ChunkKind::kWorkSums ? 1 : 0;
    return tables;
  }

  // Writes the trace anew with other sums.
  void Change(const std::function<void(proto::WorkSums*)>& change) {
    const std::vector<uint8_t> file = codec::ReadBytes(path_);
    codec::TraceScan scan;
    ASSERT_TRUE(codec::Scan(file.data(), file.size(), &scan));
    codec::TraceWriter writer;
    path_ = directory_.File("p8-100.gpt");
    std::filesystem::remove(path_);
    ASSERT_TRUE(writer.Create(path_.c_str(), scan.header));
    codec::BlockDecoder decoder;
    for (const codec::BlockRef& block : scan.blocks) {
      if (static_cast<ChunkKind>(block.header.kind) != ChunkKind::kWorkSums) {
        ASSERT_TRUE(writer.CopyBlock(block.header, &file[block.offset]));
        continue;
      }
      const uint8_t* message = nullptr;
      uint64_t bytes = 0;
      codec::Fault fault;
      ASSERT_TRUE(decoder.Decompress(file.data(), block, &message, &bytes, &fault));
      proto::Trace table;
      ASSERT_TRUE(table.ParseFromArray(message, static_cast<int>(bytes)));
      proto::WorkSums* sums = table.mutable_chunk(0)->mutable_work_sums();
      change(sums);
      const std::string changed = sums->SerializeAsString();
      ASSERT_TRUE(writer.WriteTable(ChunkKind::kWorkSums, 1, 37,
                                    reinterpret_cast<const uint8_t*>(changed.data()),
                                    changed.size(), static_cast<uint32_t>(sums->group_size())));
    }
    ASSERT_TRUE(writer.WriteEnd({}));
    writer.Close();
  }

  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(WorkSumsTest, OfTheFileAreThoseOfTheRows) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Make(seed);
    ASSERT_EQ(SumTables(), 1u) << seed;
    const auto taken = OpenSums(path_, true), decoded = OpenSums(path_, false);
    EXPECT_TRUE(taken->faults.empty());
    ASSERT_FALSE(WorkOf(*decoded).empty());
    EXPECT_EQ(WorkOf(*taken), WorkOf(*decoded)) << seed;
    std::filesystem::remove(path_);
  }
}

// Only then does the test above compare anything.
TEST_F(WorkSumsTest, OfTheFileAreTaken) {
  Make(3);
  Change([](proto::WorkSums* sums) {
    proto::WorkGroup* group = sums->mutable_group(0);
    group->set_total(0, group->total(0) + 1'000'000);
  });
  EXPECT_NE(WorkOf(*OpenSums(path_, true)), WorkOf(*OpenSums(path_, false)));
}

TEST_F(WorkSumsTest, OfSomeBlocksLeaveTheOthersToBeDecoded) {
  Make(4);
  // The kernels or copies of one stream have no sums.
  Change([](proto::WorkSums* sums) { sums->mutable_group()->DeleteSubrange(1, 1); });
  const auto taken = OpenSums(path_, true), decoded = OpenSums(path_, false);
  EXPECT_TRUE(taken->faults.empty());
  EXPECT_EQ(WorkOf(*taken), WorkOf(*decoded));
}

TEST_F(WorkSumsTest, ThatLieAreFaultsAndTheRowsAreSummed) {
  const std::pair<const char*, std::function<void(proto::WorkSums*)>> lies[] = {
      {"other rows",
       [](proto::WorkSums* sums) {
         proto::WorkGroup* group = sums->mutable_group(0);
         group->set_rows(0, group->rows(0) + 1);
         group->set_total(0, group->total(0) + group->least(0));
       }},
      {"not there", [](proto::WorkSums* s) { s->mutable_group(0)->set_blocks_back(0, 100'000); }},
      {"not there",
       [](proto::WorkSums* s) { s->mutable_group(0)->set_blocks_back(0, ~uint32_t{0}); }},
      {"another table or track", [](proto::WorkSums* s) { s->mutable_group(0)->set_track(77); }},
      {"another table or track", [](proto::WorkSums* s) { s->mutable_group(0)->set_kind(82); }},
      {"a block twice",
       [](proto::WorkSums* s) {
         s->mutable_group(0)->set_blocks_back(1, s->group(0).blocks_back(0));
       }},
      {"a block twice", [](proto::WorkSums* s) { *s->add_group() = s->group(0); }},
      {"cannot be true",
       [](proto::WorkSums* s) { s->mutable_group(0)->set_busy(0, uint64_t{1} << 40); }},
      {"cannot be true",
       [](proto::WorkSums* s) { s->mutable_group(0)->set_most(0, uint64_t{1} << 50); }},
      {"different length", [](proto::WorkSums* s) { s->mutable_group(0)->add_total(1); }},
  };
  Make(5);
  const auto decoded = OpenSums(path_, false);
  const std::string right = path_;
  for (const auto& [what, lie] : lies) {
    path_ = right;
    Change(lie);
    const auto taken = OpenSums(path_, true);
    ASSERT_EQ(taken->faults.size(), 1u) << what;
    EXPECT_THAT(taken->faults[0].what, HasSubstr(what));
    EXPECT_EQ(WorkOf(*taken), WorkOf(*decoded)) << what;
  }
}

}  // namespace
}  // namespace gpuprof::analysis
