// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations of serving engines: what their names say, and sums by phase.

#include "analysis/steps/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/results/steps.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using proto::IterationPhase;
using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::TrackBuilder;
using testing::ElementsAre;

// "prefill 15 requests 15360 tokens": what a name tells, and "-" for what it does not tell.
std::string Read(const std::string& name) {
  const proto::IterationName read =
      proto::ReadIterationName(name.data(), static_cast<uint32_t>(name.size()));
  if (!read.is_iteration) return "no iteration";
  constexpr const char* kPhases[] = {"unknown", "prefill", "decode", "mixed", "idle"};
  const auto told = [](uint64_t number) {
    return number == proto::IterationName::kUntold ? std::string("-") : std::to_string(number);
  };
  return (read.number == proto::IterationName::kUntold ? "" : told(read.number) + ": ") +
         kPhases[static_cast<size_t>(read.phase)] + " " + told(read.requests) + " requests " +
         told(read.tokens) + " tokens";
}

TEST(IterationNames, OfVllm) {
  EXPECT_EQ(Read("execute_context_1(888)_generation_0(0)"), "prefill 1 requests 888 tokens");
  EXPECT_EQ(Read("execute_context_1(888_788544)_generation_0(0)"), "prefill 1 requests 888 tokens");
  EXPECT_EQ(Read("execute_context_2(512)_generation_30(30)"), "mixed 32 requests 542 tokens");
  EXPECT_EQ(
      Read("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"),
      "decode 32 requests 32 tokens");
  EXPECT_EQ(Read("execute_15360_context_15(sq15360sk15360sqsq15728640sqsk15728640)_generation_0("
                 "sq0sk0sqsq0sqsk0)"),
            "prefill 15 requests 15360 tokens");
  EXPECT_EQ(Read("Iteration(515): 0 context requests, 0 context tokens, 20 generation requests, 20 "
                 "generation tokens"),
            "515: decode 20 requests 20 tokens");
  EXPECT_EQ(Read("Iteration(7)"), "7: unknown - requests - tokens");
  EXPECT_EQ(Read("execute_context_1(888_788544)_generation_2(2_900)"),
            "mixed 3 requests 890 tokens");
  EXPECT_EQ(Read("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)"),
            "decode 32 requests 32 tokens");
  EXPECT_EQ(Read("execute_context_0(0)_generation_0(0)"), "idle 0 requests 0 tokens");
}

TEST(IterationNames, FirstOnesOfVllm) {
  EXPECT_EQ(Read("execute_new_2_cached_0"), "prefill 2 requests - tokens");
  EXPECT_EQ(Read("execute_new_1_cached_31"), "unknown 32 requests - tokens");
  EXPECT_EQ(Read("execute_new_0_cached_31"), "unknown 31 requests - tokens")
      << "a request that is not new may still read its prompt";
  EXPECT_EQ(Read("execute_new_0_cached_0"), "idle 0 requests - tokens");
  EXPECT_EQ(Read("execute_new_0_cached_"), "no iteration");
}

// Returns "P requests p tokens + D requests d tokens, c cached".
std::string Parts(const std::string& name) {
  const proto::IterationName read =
      proto::ReadIterationName(name.data(), static_cast<uint32_t>(name.size()));
  const auto told = [](uint64_t number) {
    return number == proto::IterationName::kUntold ? std::string("-") : std::to_string(number);
  };
  return told(read.prefill_requests) + " requests " + told(read.prefill_tokens) + " tokens + " +
         told(read.decode_requests) + " requests " + told(read.decode_tokens) + " tokens, " +
         told(read.cached_tokens) + " cached";
}

TEST(IterationNames, TellPartsAndTheCache) {
  EXPECT_EQ(Parts("execute_context_2(512)_generation_30(30)"),
            "2 requests 512 tokens + 30 requests 30 tokens, - cached");
  EXPECT_EQ(Parts("execute_6147_context_2(sq6144sk7144sqsq9sqsk9)_generation_3(sq3sk6144sqsq3"
                  "sqsk6144)"),
            "2 requests 6144 tokens + 3 requests 3 tokens, 13288 cached");
  EXPECT_EQ(Parts("step[EXTEND bs=2 toks=12 c_sq=12 c_sqsq=80 c_sqsk=120 c_sk=20]"),
            "2 requests 12 tokens + 0 requests 0 tokens, 20 cached");
  EXPECT_EQ(Parts("step[EXTEND bs=2 toks=12]"),
            "2 requests 12 tokens + 0 requests 0 tokens, - cached");
  EXPECT_EQ(Parts("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]"),
            "0 requests 0 tokens + 64 requests 128 tokens, 131072 cached");
  EXPECT_EQ(Parts("step[DECODE bs=64 g_sqsq=64 g_sqsk=100032 g_sk=100032]"),
            "0 requests 0 tokens + 64 requests - tokens, 100032 cached");
  EXPECT_EQ(Parts("step[MIXED bs=66 c=2 g=64 c_sq=2048 c_sk=2048 c_sqsq=9 c_sqsk=9 g_sq=64 "
                  "g_sk=65600 g_sqsq=64 g_sqsk=65600]"),
            "2 requests 2048 tokens + 64 requests 64 tokens, 67648 cached");
  EXPECT_EQ(Parts("step[MIXED bs=2]"), "- requests - tokens + - requests - tokens, - cached");
  EXPECT_EQ(Parts("decode[bs=117/128 tok=117 d=117]"),
            "0 requests 0 tokens + 117 requests 117 tokens, - cached");
  EXPECT_EQ(Parts("decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]"),
            "2 requests - tokens + 126 requests - tokens, - cached");
  EXPECT_EQ(Parts("prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=5 sqsk=5 sk=14721]"),
            "2 requests 14721 tokens + 0 requests 0 tokens, 14721 cached");
}

TEST(IterationNames, AreReadInOneGo) {
  // Many places at which the middle of a form fits, and no end.
  std::string name = "step[mixed bs=1 c=1 g=1 c_sq=1 c_sk=1 ";
  for (int i = 0; i < 200'000; ++i) name += " g_sq=1 g_sk=1";
  EXPECT_EQ(Read(name), "no iteration");
}

TEST(IterationNames, WhatOnlyLooksLikeVllm) {
  for (const char* name : {"execute_model",
                           "execute_something_generation_else",
                           "execute_generation_",
                           "execute_generation_4(4)",
                           "execute_first_generation_pass",
                           "execute_context_generation_",
                           "execute_context_1_generation_2",
                           "execute_context_1()_generation_2()",
                           "execute_context_1(888)_generation_0",
                           "execute_context_1(888)_generation_0()",
                           "execute_context_1(888)_generation_0(0",
                           "execute_context_1(888)_generation_0(0) again",
                           "execute_context_1(888)_generation_0(0)_",
                           "execute_context_1(888_)_generation_0(0)",
                           "execute_context_1(888_7_7)_generation_0(0)",
                           "execute_context_1(888tokens)_generation_0(0)",
                           "execute_context_one(888)_generation_0(0)",
                           "execute_context_1(-8)_generation_0(0)",
                           "execute_context_1 (888)_generation_0 (0)",
                           "execute_context_1(888)__generation_0(0)",
                           " execute_context_1(888)_generation_0(0)",
                           "my_execute_context_1(888)_generation_0(0)",
                           "execute_context_(888)_generation_(0)",
                           "execute_32_context_0(0)_generation_32(32)",
                           "execute_32_context_0(sq0)_generation_32(sq32)",
                           "execute_32_context_0(sq0sk0sqsq0)_generation_32(sq32sk5sqsq32)",
                           "execute_32_context_0(sq0sk0)_generation_32(sq32sk5sqsq32sqsk9)",
                           "execute_context_0(sq0sk0)_generation_32(sq32sk55086)",
                           "execute_x_context_0(sq0sk0)_generation_32(sq32sk55086)",
                           "execute_context_1(888)_generation_0(1234567890123456789)"}) {
    EXPECT_EQ(Read(name), "no iteration") << name;
  }
}

TEST(IterationNames, OfSglang) {
  EXPECT_EQ(Read("step[EXTEND bs=15 toks=15360]"), "prefill 15 requests 15360 tokens");
  EXPECT_EQ(Read("step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]"),
            "prefill 2 requests 12 tokens");
  EXPECT_EQ(Read("step[DECODE bs=62]"), "decode 62 requests - tokens") << "speculation makes more";
  EXPECT_EQ(Read("step[mixed bs=9 ext=500 dec=8]"), "mixed 9 requests 508 tokens");
  EXPECT_EQ(Read("step[MIXED bs=2]"), "mixed 2 requests - tokens");
  EXPECT_EQ(Read("step[TARGET_VERIFY bs=4]"), "decode 4 requests - tokens");
  EXPECT_EQ(Read("step[DRAFT_EXTEND_V2 bs=1]"), "unknown 1 requests - tokens");
  EXPECT_EQ(Read("step[idle]"), "idle - requests - tokens");
  EXPECT_EQ(Read("step[3]"), "no iteration");
}

TEST(IterationNames, OfOthers) {
  EXPECT_EQ(Read("[Executor] _forward_step 17: 2 ctx reqs, 300 ctx tokens, 0 gen reqs"),
            "17: prefill 2 requests 300 tokens");
  EXPECT_EQ(Read("[Executor] _forward_step 18: 2 ctx reqs, 300 ctx tokens, 5 gen reqs"),
            "18: mixed 7 requests - tokens");
  EXPECT_EQ(Read("[Executor] _forward_step 19: 0 ctx reqs, 64 gen reqs"),
            "19: decode 64 requests - tokens");
  EXPECT_EQ(Read("executeStep: 0 ctx reqs, 0 gen reqs"), "idle 0 requests 0 tokens");
  EXPECT_EQ(Read("prefill[bs=2 tok=16384]"), "prefill 2 requests 16384 tokens");
  EXPECT_EQ(Read("step"), "no iteration");
  EXPECT_EQ(Read(""), "no iteration");
  EXPECT_EQ(Read("decode[bs=1234567890123456789]"), "no iteration") << "the number is too long";
}

// Prefill of 10 ms, then decodes of 2 ms with 1 ms between them, by 4 requests.
void Serve(ProcessBuilder* builder, const std::string& decode) {
  TrackBuilder& track = builder->Thread(9, "engine");
  int64_t at = 0;
  for (int round = 0; round < 5; ++round) {
    track.Range("", "execute_context_4(400)_generation_0(0)", at, at + 10 * kMs);
    at += 11 * kMs;
    for (int i = 0; i < 8; ++i, at += 3 * kMs) track.Range("", decode, at, at + 2 * kMs);
  }
}

TEST(Iterations, ByPhase) {
  ProcessBuilder builder(9);
  Serve(&builder, "execute_context_0(0)_generation_4(4)");
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  ASSERT_EQ(result.steps_size(), 45);
  EXPECT_EQ(result.steps(0).phase(), results::ITERATION_PHASE_PREFILL);
  EXPECT_EQ(result.steps(0).request_count(), 4u);
  EXPECT_EQ(result.steps(0).token_count(), 400u);
  EXPECT_EQ(result.steps(1).phase(), results::ITERATION_PHASE_DECODE);
  EXPECT_EQ(result.steps(1).token_count(), 4u);
  ASSERT_EQ(result.iteration_series_size(), 2);
  const results::IterationSeries& prefill = result.iteration_series(0);
  const results::IterationSeries& decode = result.iteration_series(1);
  EXPECT_EQ(prefill.phase(), results::ITERATION_PHASE_PREFILL);
  EXPECT_EQ(prefill.count(), 5u);
  EXPECT_EQ(decode.phase(), results::ITERATION_PHASE_DECODE);
  EXPECT_EQ(decode.count(), 40u);
  EXPECT_EQ(decode.median_ns(), 2 * kMs);
  EXPECT_EQ(decode.p95_ns(), 2 * kMs);
  EXPECT_DOUBLE_EQ(decode.mean_request_count(), 4);
  EXPECT_EQ(decode.token_count(), 160u);
  EXPECT_DOUBLE_EQ(decode.tokens_per_s(), 2000) << "4 tokens in 2 ms";
  EXPECT_EQ(decode.gap_median_ns(), 1 * kMs);
  EXPECT_EQ(decode.gap_total_ns(), 39 * kMs) << "the last one has no next";
  EXPECT_FALSE(decode.has_busy_ratio()) << "no device worked";
}

TEST(Iterations, TheFirstPrefillIsNoWarmUp) {
  ProcessBuilder builder(9);
  Serve(&builder, "execute_context_0(0)_generation_4(4)");
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  EXPECT_EQ(result.series(0).warmup_count(), 0u) << "it takes as long as the other prefills";
  EXPECT_EQ(result.iteration_series(0).count(), 5u);
}

TEST(Iterations, ASumWithoutRoomIsAbsent) {
  ProcessBuilder builder(9);
  Serve(&builder, "execute_context_0(0)_generation_4(999999999999999999)");
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  EXPECT_FALSE(result.iteration_series(1).has_token_count());
  EXPECT_EQ(result.steps(1).token_count(), 999999999999999999u);
}

TEST(Iterations, WhatAMarkDoesNotTellIsAbsent) {
  ProcessBuilder builder(9);
  Serve(&builder, "step[DECODE bs=4]");
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  const results::IterationSeries& decode = result.iteration_series(1);
  EXPECT_EQ(decode.phase(), results::ITERATION_PHASE_DECODE);
  EXPECT_DOUBLE_EQ(decode.mean_request_count(), 4);
  EXPECT_FALSE(decode.has_token_count());
  EXPECT_FALSE(decode.has_tokens_per_s());
  EXPECT_FALSE(result.steps(1).has_token_count());
}

TEST(Iterations, TheDeviceIsBusyInAPartOfThem) {
  ProcessBuilder builder(9);
  Serve(&builder, "execute_context_0(0)_generation_4(4)");
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  TrackBuilder& track = builder.Thread(9, "engine");
  int64_t at = 0;
  uint32_t number = 0;
  const auto launch = [&](int64_t begin, int64_t length) {
    ++number;
    track.Call("cudaLaunchKernel", begin, begin + kMs / 100, number);
    stream.Kernel(kernel, begin + kMs / 100, begin + kMs / 100 + length, number);
  };
  for (int round = 0; round < 5; ++round) {
    launch(at, 9 * kMs);
    at += 11 * kMs;
    for (int i = 0; i < 8; ++i, at += 3 * kMs) launch(at, kMs);
  }
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  const results::IterationSeries& decode = result.iteration_series(1);
  ASSERT_TRUE(decode.has_busy_ratio());
  EXPECT_NEAR(decode.busy_ratio(), 1.0 / 3, 0.02) << "1 ms of each 3";
}

TEST(Iterations, OtherStepsHaveNone) {
  ProcessBuilder builder(9);
  TrackBuilder& track = builder.Thread(9);
  for (int i = 0; i < 6; ++i) track.Range("", "step", i * 10 * kMs, (i * 10 + 9) * kMs);
  const auto result = test::RunPass<results::Steps>("steps", MakeTrace({&builder}));
  EXPECT_EQ(result.iteration_series_size(), 0);
  EXPECT_EQ(result.steps(0).phase(), results::ITERATION_PHASE_NONE);
  EXPECT_FALSE(result.steps(0).has_request_count());
}

}  // namespace
}  // namespace gpuprof::analysis
