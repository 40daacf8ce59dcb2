// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Figures taken from a bundle's description.

#include "launcher/facts.h"

#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

TEST(Facts, AddsUpProcesses) {
  const BundleFacts facts = ParseFacts(R"({"count": 30, "lost_count": 9, "processes": [
      {"captures": [{"start_trigger": "now", "stop_trigger": "signal"},
                    {"start_trigger": "signal", "stop_trigger": "exit"}], "losses": [{"name": "ring_full", "count": 5}]},
      {"losses": [{"name": "ring_full", "count": 1}, {"name": "no_ring", "count": 2}]}],
      "faults": [{"file": "p1-2.gpt", "offset": 77, "what": "cut"}]})");
  EXPECT_EQ(facts.processes, 2u);
  EXPECT_EQ(facts.events, 30u);
  EXPECT_EQ(facts.signal_switches, 2u);
  ASSERT_EQ(facts.losses.size(), 2u);
  EXPECT_EQ(facts.losses[0].words, "ring_full");
  EXPECT_EQ(facts.losses[0].count, 7u) << "and one of a full ring since the last health";
  EXPECT_EQ(facts.losses[1].count, 2u);
  ASSERT_EQ(facts.faults.size(), 1u);
  EXPECT_EQ(facts.faults[0], "p1-2.gpt at byte 77: cut");
}

TEST(Facts, ANoteHasTheReasonWhyATraceWasNotWritten) {
  const BundleFacts facts = ParseFacts(R"({"processes": [
      {"notes": [{"source": "disk", "text": "the trace cannot be written: file size limit reached; raise it"},
                 {"source": "torch", "text": "something else"}]},
      {"notes": [{"source": "recovery", "text": "the trace cannot be written: file size limit reached; raise it"}]}]})");
  ASSERT_EQ(facts.write_causes.size(), 1u);
  EXPECT_EQ(facts.write_causes[0], "file size limit reached; raise it");
}

TEST(Facts, NonsenseIsEmpty) {
  EXPECT_EQ(ParseFacts("").processes, 0u);
  EXPECT_EQ(ParseFacts("[1]").processes, 0u);
  EXPECT_EQ(ParseFacts(R"({"processes": 7, "count": "x"})").events, 0u);
}

}  // namespace
}  // namespace gpuprof::launcher
