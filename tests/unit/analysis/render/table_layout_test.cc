// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables that are made of layouts, and rows of lists in lists.

#include "analysis/render/table_layout.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/passes/registry.h"
#include "analysis/render/json.h"
#include "analysis/render/layouts.h"
#include "proto/results/api.pb.h"
#include "proto/results/critical_path.pb.h"
#include "proto/results/heap.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/threads.pb.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {
namespace {

const google::protobuf::FieldDescriptor* Field(const google::protobuf::Descriptor* type,
                                               std::string_view path) {
  return FieldsOf(type, path).back();
}

std::string Text(const TableLayout& layout, const ResultMessage& result,
                 const TextOptions& options = {}) {
  return TableText("rows", layout, result, options);
}

TEST(UnitOf, FollowsNameAndType) {
  const auto* copies = results::Copies::descriptor();
  EXPECT_EQ(UnitOf(Field(copies, "mean_ns")), Unit::kDuration);
  EXPECT_EQ(UnitOf(Field(copies, "total_bytes")), Unit::kBytes);
  EXPECT_EQ(UnitOf(Field(copies, "limit_ratio")), Unit::kPercent);
  EXPECT_EQ(UnitOf(Field(copies, "count")), Unit::kNumber);
  EXPECT_EQ(UnitOf(Field(copies, "gb_per_s")), Unit::kReal);
  EXPECT_EQ(UnitOf(Field(copies, "device")), Unit::kIdentifier);
  EXPECT_EQ(UnitOf(Field(copies, "pid")), Unit::kProcess);
  EXPECT_EQ(UnitOf(Field(copies, "name")), Unit::kText);
  EXPECT_EQ(UnitOf(Field(results::ThreadProcess::descriptor(), "role")), Unit::kWord);
  EXPECT_EQ(UnitOf(Field(results::Thread::descriptor(), "tool")), Unit::kFlag);
  const auto* use = results::UnifiedMemoryUse::descriptor();
  EXPECT_EQ(UnitOf(Field(use, "bytes")), Unit::kBytes);
  EXPECT_EQ(UnitOf(Field(use, "bytes_per_second")), Unit::kBytesPerSecond);
  EXPECT_EQ(UnitOf(Field(results::TensorDevice::descriptor(), "allocated_bytes_per_step")),
            Unit::kBytes);
}

TEST(FieldsOf, FollowsPaths) {
  const auto fields = FieldsOf(results::Thread::descriptor(), "start.module");
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0]->name(), "start");
  EXPECT_EQ(fields[1]->name(), "module");
  EXPECT_TRUE(FieldsOf(results::Thread::descriptor(), "start.nothing").empty());
  EXPECT_TRUE(FieldsOf(results::Thread::descriptor(), "tid.nothing").empty());
  EXPECT_TRUE(FieldsOf(results::Thread::descriptor(), "").empty());
}

constexpr TableColumn kThreadColumns[] = {
    {.field = "name", .title = "thread", .needs = "tid", .blank = "nobody"},
    kWhosePid,
    {.field = "tid", .title = "tid"},
    {.field = "cpu_ns", .title = "cpu", .blank = "-"},
    {.field = "op_ns", .title = "of life", .share_of = "life_ns"},
    {.field = "tool", .title = "tool"},
    {.field = "start.module", .title = "in", .blank = "?"},
    {.field = "lost_count", .title = "lost", .shown = ShownIf::kAny},
    {.field = "count", .title = "all kept", .shown = ShownIf::kNone, .shown_by = "lost_count"},
};
constexpr TableLayout kThreads = {"threads", results::Thread::descriptor, kThreadColumns};

results::Thread* AddThread(results::Threads* result, int32_t pid, int32_t tid, const char* host) {
  results::Thread* thread = result->add_threads();
  thread->set_name("worker");
  thread->set_pid(pid);
  thread->set_tid(tid);
  thread->set_host(host);
  thread->set_life_ns(2'000'000);
  thread->set_op_ns(500'000);
  thread->set_count(1234);
  return thread;
}

TEST(MakeTable, WritesEachUnitAndLeavesOutWhatSaysNothing) {
  results::Threads result;
  AddThread(&result, 7, 8, "node1")->set_cpu_ns(1'500'000);
  results::Thread* other = AddThread(&result, 7, 0, "node1");
  other->set_tool(true);
  other->mutable_start()->set_module("libc.so.6");
  EXPECT_EQ(Text(kThreads, result),
            "rows\n"
            "  thread  tid      cpu  of life  tool  in         all kept\n"
            "  worker    8  1.50 ms   25.0 %  no    ?             1,234\n"
            "  nobody    0        -   25.0 %  yes   libc.so.6     1,234\n"
            "\n");
}

TEST(MakeTable, TellsProcessesAndHostsApart) {
  results::Threads result;
  AddThread(&result, 7, 8, "node1")->set_lost_count(3);
  AddThread(&result, 7, 9, "node2");
  EXPECT_EQ(Text(kThreads, result),
            "rows\n"
            "  thread         pid  tid  cpu  of life  tool  in  lost\n"
            "  worker  7 on node1    8    -   25.0 %  no    ?      3\n"
            "  worker  7 on node2    9    -   25.0 %  no    ?      0\n"
            "\n");
}

TEST(MakeTable, ShowsAsManyRowsAsTheOptionsAllow) {
  results::Threads result;
  AddThread(&result, 7, 8, "");
  AddThread(&result, 9, 9, "");  // not shown, and still the reason for a column
  TextOptions options;
  options.limit = 1;
  EXPECT_EQ(Text(kThreads, result, options),
            "rows\n"
            "  thread  pid  tid  cpu  of life  tool  in  all kept\n"
            "  worker    7    8    -   25.0 %  no    ?      1,234\n"
            "  ... and 1 more (--limit 0 shows all)\n"
            "\n");
  TableLayout complete = kThreads;
  complete.is_complete = true;
  const std::string text = Text(complete, result, options);
  EXPECT_NE(text.find("\n  worker    9    9 "), std::string::npos) << text;
  EXPECT_EQ(text.find("more"), std::string::npos) << text;
}

constexpr TableColumn kCopyColumns[] = {
    {.field = "name", .title = "direction", .only_by = "direction"},
    {.field = "name", .title = "other", .except_by = "direction"},
    kWhoseContext,
};
constexpr TableLayout kCopies = {"copies", results::Copies::descriptor, kCopyColumns};

TEST(MakeTable, FollowsTheKeyOfTheResult) {
  results::Memcpy result;
  for (const int32_t pid : {1, 2}) {
    results::Copies* copies = result.add_copies();
    copies->set_name("HtoD");
    copies->set_pid(pid);
    copies->set_context(static_cast<uint32_t>(pid));
  }
  result.set_by("direction");
  EXPECT_EQ(Text(kCopies, result), "rows\n  direction\n  HtoD\n  HtoD\n\n");
  result.set_by("stream");
  EXPECT_EQ(Text(kCopies, result), "rows\n  other\n  HtoD\n  HtoD\n\n");
  // Now one process has two contexts.
  result.mutable_copies(1)->set_pid(1);
  EXPECT_EQ(Text(kCopies, result),
            "rows\n  other  context\n  HtoD         1\n  HtoD         2\n\n");
}

TEST(MakeTable, ShowsShortNamesUnlessWide) {
  static constexpr TableColumn kColumns[] = {{.field = "name", .title = "name"}};
  const TableLayout layout = {"stacks", results::HeapStack::descriptor, kColumns};
  results::Heap result;
  results::HeapStack* stack = result.add_stacks();
  stack->set_name("std::vector<int>::push_back(int)");
  stack->set_short_name("push_back");
  EXPECT_EQ(Text(layout, result), "rows\n  name\n  push_back\n\n");
  TextOptions options;
  options.wide = true;
  EXPECT_EQ(Text(layout, result, options), "rows\n  name\n  std::vector<int>::push_back(int)\n\n");
}

TEST(Csv, FollowsAListInAList) {
  results::CriticalPaths result;
  EXPECT_EQ(ToCsv(result, "paths.shares"), "kind,name,short_name,total_ns,total_ratio,count\r\n");
  for (const char* name : {"gemm", "relu"}) {
    results::PathShare* share = result.add_paths()->add_shares();
    share->set_kind(results::PATH_SHARE_KERNEL);
    share->set_name(name);
    share->set_count(2);
  }
  EXPECT_EQ(ToCsv(result, "paths.shares"),
            "kind,name,short_name,total_ns,total_ratio,count\r\n"
            "kernel,gemm,,0,0.0,2\r\n"
            "kernel,relu,,0,0.0,2\r\n");
}

// Every path of every layout leads to a field, and every key is one of the pass.
TEST(Layouts, NameFieldsThatThereAre) {
  size_t columns = 0;
  for (const PassEntry& entry : PassTable()) {
    std::string keys;
    for (const std::string_view key : entry.info.keys) keys.append(key).append(" ");
    const auto check_keys = [&](std::string_view words) {
      for (size_t end = 0; !words.empty(); words.remove_prefix(std::min(end + 1, words.size()))) {
        end = std::min(words.find(' '), words.size());
        EXPECT_TRUE(HasWord(keys, words.substr(0, end))) << entry.info.name << ": " << words;
      }
    };
    for (const TableLayout& layout : LayoutsOf(entry.type())) {
      const auto rows = FieldsOf(entry.type(), layout.rows);
      ASSERT_FALSE(rows.empty()) << entry.info.name << ": " << layout.rows;
      EXPECT_EQ(rows.back()->message_type(), layout.row()) << layout.rows;
      check_keys(layout.only_by);
      for (const TableColumn& column : layout.columns) {
        ++columns;
        for (const std::string_view path :
             {column.field, column.needs, column.share_of, column.shown_by}) {
          EXPECT_TRUE(path.empty() || !FieldsOf(layout.row(), path).empty())
              << layout.rows << ": " << path;
        }
        EXPECT_FALSE(column.field.empty()) << layout.rows << ": " << column.title;
        check_keys(column.only_by);
        check_keys(column.except_by);
      }
    }
  }
  EXPECT_GT(columns, 200U);
}

// Returns the columns of a layout that stand side by side on the page.
std::vector<const TableColumn*> OnPageBy(const TableLayout& layout, std::string_view key) {
  std::vector<const TableColumn*> columns;
  for (const TableColumn& column : layout.columns) {
    const bool is_of = column.only_by.empty() || HasWord(column.only_by, key);
    if (column.on_page != OnPage::kAbsent && is_of && !HasWord(column.except_by, key))
      columns.push_back(&column);
  }
  return columns;
}

// On the page a title stands for one column, and so does a field.
TEST(Layouts, TellColumnsApart) {
  for (const PassEntry& entry : PassTable()) {
    std::vector<std::string_view> keys = entry.info.keys;
    if (keys.empty()) keys.push_back("");
    for (const TableLayout& layout : LayoutsOf(entry.type())) {
      for (const std::string_view key : keys) {
        if (!layout.only_by.empty() && !HasWord(layout.only_by, key)) continue;
        std::set<std::string_view> titles, fields;
        for (const TableColumn* column : OnPageBy(layout, key)) {
          EXPECT_TRUE(fields.insert(column->field).second) << layout.rows << ": " << column->field;
          EXPECT_TRUE(titles.insert(column->title).second) << layout.rows << ": " << column->title;
          EXPECT_FALSE(column->title.empty()) << layout.rows << ": " << column->field;
        }
      }
    }
  }
}

TEST(Layouts, AreSortedByAColumn) {
  for (const PassEntry& entry : PassTable()) {
    for (const TableLayout& layout : LayoutsOf(entry.type())) {
      if (layout.sorted_by.empty()) continue;
      EXPECT_TRUE(std::any_of(layout.columns.begin(), layout.columns.end(),
                              [&](const TableColumn& column) {
                                return column.field == layout.sorted_by &&
                                       column.on_page == OnPage::kShown;
                              }))
          << layout.rows << ": " << layout.sorted_by;
    }
  }
}

TEST(NounsOf, MakesTheWordForSeveral) {
  using Nouns = std::pair<std::string, std::string>;
  const auto nouns = [](std::string_view rows, std::string_view noun) {
    return NounsOf({.rows = rows, .row = nullptr, .columns = {}, .noun = noun});
  };
  EXPECT_EQ(nouns("gaps", ""), Nouns("gap", "gaps"));
  EXPECT_EQ(nouns("paths.host_functions", ""), Nouns("host function", "host functions"));
  EXPECT_EQ(nouns("copies", "copy"), Nouns("copy", "copies"));
  EXPECT_EQ(nouns("processes", "process"), Nouns("process", "processes"));
}

TEST(ScaleOf, FollowsTheFieldAndTheColumn) {
  const auto* copies = results::Copies::descriptor();
  const auto unit = [&](const TableColumn& column) { return ScaleOf(column, copies).unit; };
  EXPECT_EQ(unit({.field = "total_ns"}), "ms");
  EXPECT_EQ(unit({.field = "max_ns"}), "\u00b5s");
  EXPECT_EQ(unit({.field = "max_ns", .scale = kMilliseconds}), "ms");
  EXPECT_EQ(unit({.field = "total_bytes"}), "MiB");
  EXPECT_EQ(ScaleOf({.field = "count"}, copies).divisor, 0);
  EXPECT_EQ(ScaleOf({.field = "gb_per_s"}, copies).divisor, 1);
}

}  // namespace
}  // namespace gpuprof::analysis
