// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The figures of a recording that the command itself speaks of.

#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {
namespace {

void Lose(uint64_t count, proto::LossKind kind, Process* process) {
  proto::Loss* loss = process->health.add_loss();
  loss->set_kind(kind);
  loss->set_count(count);
}

void Note(const char* source, const char* text, Process* process) {
  proto::Note* note = process->health.add_note();
  note->set_source(source);
  note->set_text(text);
}

TEST(Facts, AddsUpProcesses) {
  Trace trace;
  Process& first = trace.processes.emplace_back();
  first.rows = 20;
  first.dropped = 6;
  first.captures = {CaptureWindow{.start_trigger = "now", .stop_trigger = "signal"},
                    CaptureWindow{.start_trigger = "signal", .stop_trigger = "exit"}};
  Lose(5, proto::LOSS_RING_FULL, &first);
  Process& second = trace.processes.emplace_back();
  second.rows = 10;
  Lose(1, proto::LOSS_RING_FULL, &second);
  Lose(2, proto::LOSS_NO_RING, &second);
  Lose(0, proto::LOSS_WRITE_ERROR, &second);
  second.health.set_damaged_rings(3);
  second.health.set_activity_missing_ns(70);
  trace.faults.push_back({"p1-2.gpt", 77, "cut"});
  const BundleFacts facts = FactsOf(trace);
  EXPECT_EQ(facts.processes, 2u);
  EXPECT_EQ(facts.events, 30u);
  EXPECT_EQ(facts.signal_switches, 2u);
  EXPECT_EQ(facts.lost_threads, 3u);
  EXPECT_EQ(facts.activity_missing_ns, 70u);
  ASSERT_EQ(facts.losses.size(), 2u);
  EXPECT_EQ(facts.losses[0].name, "ring_full");
  EXPECT_EQ(facts.losses[0].count, 7u) << "and one of a full ring since the last health";
  EXPECT_EQ(facts.losses[1].name, "no_ring");
  EXPECT_EQ(facts.losses[1].count, 2u);
  ASSERT_EQ(facts.faults.size(), 1u);
  EXPECT_EQ(facts.faults[0], "p1-2.gpt at byte 77: cut");
}

TEST(Facts, ANoteHasTheReasonWhyATraceWasNotWritten) {
  Trace trace;
  const char* const words = "the trace cannot be written: file size limit reached; raise it";
  Process& first = trace.processes.emplace_back();
  Note("disk", words, &first);
  Note("torch", "something else", &first);
  Note("recovery", words, &trace.processes.emplace_back());
  const BundleFacts facts = FactsOf(trace);
  ASSERT_EQ(facts.write_causes.size(), 1u);
  EXPECT_EQ(facts.write_causes[0], "file size limit reached; raise it");
}

}  // namespace
}  // namespace gpuprof::analysis
