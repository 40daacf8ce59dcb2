// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/torch/op_names.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gpuprof::tracer {
namespace {

using proto::Record;
using proto::RecordKind;

// A ring in memory, and the definitions found in it.
class TestRing {
 public:
  explicit TestRing(uint32_t records = 4096)
      : memory_(
            static_cast<char*>(mmap(nullptr, proto::kRingHeaderBytes + records * sizeof(Record),
                                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes_(proto::kRingHeaderBytes + records * sizeof(Record)) {
    get()->capacity = records;
  }
  ~TestRing() { munmap(memory_, bytes_); }
  TestRing(const TestRing&) = delete;
  TestRing& operator=(const TestRing&) = delete;

  proto::RingHeader* get() { return reinterpret_cast<proto::RingHeader*>(memory_); }

  std::map<uint64_t, std::string> TakeDefinitions() {
    std::map<uint64_t, std::string> found;
    const Record* data = proto::RingRecords(get());
    const uint32_t mask = get()->capacity - 1;
    uint64_t at = get()->tail;
    for (; at < get()->head; ++at) {
      const Record& record = data[at & mask];
      if (record.kind != static_cast<uint8_t>(RecordKind::kString)) continue;
      std::string text;
      const uint32_t slots = proto::PayloadSlots(record.b);
      for (uint32_t i = 1; i <= slots; ++i) {
        text.append(reinterpret_cast<const char*>(&data[(at + i) & mask]), sizeof(Record));
      }
      // Nothing but zeros behind the text.
      EXPECT_EQ(text.find_last_not_of('\0') + 1, record.b);
      text.resize(record.b);
      EXPECT_EQ(found.count(record.a), 0u) << "defined twice";
      found[record.a] = text;
      at += slots;
    }
    get()->tail = at;
    return found;
  }

 private:
  char* memory_;
  uint64_t bytes_;
};

class OpNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(NamesInit());
    NamesBeginFile();
  }
  uint32_t Id(const char* name) {
    return NameId(ring_.get(), cache_.get(), name, 7, proto::WakeNobody());
  }
  TestRing ring_;
  std::unique_ptr<NameCache> cache_ = std::make_unique<NameCache>();
};

TEST_F(OpNamesTest, OneIdAndOneDefinitionAName) {
  const std::string copy = "aten::add_";
  const uint32_t add = Id("aten::add_");
  const uint32_t mul = Id("aten::mul_");
  EXPECT_GE(add, kFirstName);
  EXPECT_NE(add, mul);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Id("aten::add_"), add);
    EXPECT_EQ(Id(copy.c_str()), add);
  }
  const std::map<uint64_t, std::string> want = {{add, "aten::add_"}, {mul, "aten::mul_"}};
  EXPECT_EQ(ring_.TakeDefinitions(), want);
}

TEST_F(OpNamesTest, AnAddressThatComesToHoldAnotherName) {
  char buffer[200];
  std::map<std::string, uint32_t> ids;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t length = 1; length < 150; ++length) {
      for (uint32_t change = 0; change < length; change += 7) {
        std::memset(buffer, 'a', sizeof(buffer));
        buffer[change] = 'b';
        buffer[length] = '\0';
        const uint32_t id = Id(buffer);
        const auto [known, is_new] = ids.emplace(buffer, id);
        EXPECT_EQ(known->second, id) << buffer;
      }
      ring_.TakeDefinitions();
    }
  }
}

TEST_F(OpNamesTest, NamesAtTheEndOfAPage) {
  char* pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages + 4096, 4096, PROT_NONE), 0);
  for (uint32_t length = 1; length < 60; ++length) {
    char* name = pages + 4096 - length - 1;
    std::memset(name, 'e', length);
    name[length] = '\0';
    const std::string copy = name;
    const uint32_t id = Id(name);
    EXPECT_EQ(Id(name), id);
    EXPECT_EQ(Id(copy.c_str()), id);
    // A shorter one in the place of the cached one.
    name[length / 2] = '\0';
    if (length / 2 != 0) {
      EXPECT_NE(Id(name), id) << length;
    }
  }
  munmap(pages, 8192);
}

// Names with the arguments' shapes are long, and differ in their last characters.
TEST_F(OpNamesTest, LongNamesAreCutAndStayApart) {
  const std::string longest(kMostNameBytes, 'l');
  const uint32_t id = Id(longest.c_str());
  const uint32_t first = Id((longest + "more").c_str()), second = Id((longest + "less").c_str());
  EXPECT_NE(first, id);
  EXPECT_NE(first, second);
  EXPECT_EQ(Id((longest + "more").c_str()), first);
  const auto names = ring_.TakeDefinitions();
  EXPECT_EQ(names.at(id), longest);
  EXPECT_EQ(names.at(first).size(), kMostNameBytes);
  EXPECT_EQ(names.at(first).rfind(longest.substr(0, 1004) + "\u2026#", 0), 0u);
  // Not within a character.
  const std::string wide =
      longest.substr(0, 1002) + "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac";
  const uint32_t third = Id(wide.c_str());
  EXPECT_EQ(ring_.TakeDefinitions().at(third).rfind(longest.substr(0, 1002) + "\u2026#", 0), 0u);
}

TEST_F(OpNamesTest, ARefusedDefinitionIsTriedAgain) {
  TestRing small(1);
  proto::RingHeader* ring = small.get();
  EXPECT_EQ(NameId(ring, cache_.get(), "aten::refused", 7, proto::WakeNobody()), kNameTableFull);
  EXPECT_EQ(ring->head.load(), 0u);
  EXPECT_EQ(ring->dropped.load(), 0u);
  const uint32_t id = Id("aten::refused");
  EXPECT_NE(id, kNameTableFull);
  EXPECT_EQ(ring_.TakeDefinitions().count(id), 1u);
}

TEST_F(OpNamesTest, AnotherFileDefinesAgainUnderTheSameId) {
  const uint32_t id = Id("aten::again");
  EXPECT_EQ(ring_.TakeDefinitions().count(id), 1u);
  EXPECT_EQ(Id("aten::again"), id);
  EXPECT_EQ(ring_.TakeDefinitions().size(), 0u);
  NamesBeginFile();
  *cache_ = {};  // as a forked child's threads begin
  EXPECT_EQ(Id("aten::again"), id);
  EXPECT_EQ(ring_.TakeDefinitions().count(id), 1u);
}

TEST_F(OpNamesTest, EightThreadsAgree) {
  constexpr int kThreads = 8;
  constexpr int kNames = 500;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::unique_ptr<TestRing>> rings;
  rings.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) rings.push_back(std::make_unique<TestRing>());
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto cache = std::make_unique<NameCache>();
      for (int n = 0; n < kNames; ++n) {
        const std::string name = "thread test " + std::to_string(n);
        ids[t].push_back(
            NameId(rings[t]->get(), cache.get(), name.c_str(), 7, proto::WakeNobody()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, std::string> all;
  for (const auto& ring : rings) {
    for (const auto& [id, text] : ring->TakeDefinitions()) {
      EXPECT_TRUE(all.emplace(id, text).second) << "defined by two threads: " << text;
    }
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kNames));
  for (int t = 0; t < kThreads; ++t) {
    ASSERT_EQ(ids[t], ids[0]);
    for (int n = 0; n < kNames; ++n) {
      EXPECT_EQ(all[ids[t][n]], "thread test " + std::to_string(n));
    }
  }
}

// Last: nothing can be added afterwards.
TEST_F(OpNamesTest, ZFullTable) {
  uint64_t refused = 0;
  for (uint32_t n = 0; n < kMostNames + 100; ++n) {
    ring_.get()->tail = ring_.get()->head.load();
    refused += Id(("filler " + std::to_string(n)).c_str()) == kNameTableFull;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GE(NamesLost(), refused);
}

}  // namespace
}  // namespace gpuprof::tracer
