// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/serial_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kSerialMs = 1'000'000;

// How long a request is served, in ns.
enum class Service { kEven, kUneven };

int64_t Draw(std::mt19937& random, double ms, Service service) {
  std::uniform_real_distribution<double> jitter(0.95, 1.1);
  std::exponential_distribution<double> uneven(1.0);
  return static_cast<int64_t>(ms * kSerialMs *
                              (service == Service::kEven ? jitter(random) : uneven(random)));
}

// Workers that ask, wait, and work on the answer for a while. `serial`: one request at a time.
std::vector<Interval> Simulate(uint32_t seed, size_t workers, double ms, double between_ms,
                               bool serial, Service service) {
  std::mt19937 random(seed);
  std::vector<int64_t> asks(workers);
  for (size_t i = 0; i < workers; ++i) asks[i] = Draw(random, between_ms + ms, Service::kUneven);
  std::vector<Interval> waits;
  int64_t free_at = 0;
  for (int i = 0; i < 600; ++i) {
    const auto next = std::min_element(asks.begin(), asks.end());
    const int64_t begin = serial ? std::max(free_at, *next) : *next;
    const int64_t end = begin + Draw(random, ms, service);
    free_at = end;
    waits.push_back({*next, end});
    *next = end + Draw(random, between_ms, Service::kUneven);
  }
  return waits;
}

TEST(SerialSource, OneAtATimeIsFound) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    for (const size_t workers : {3u, 4u, 8u}) {
      const SourceUse use = JudgeSource(Simulate(seed, workers, 4, 0.5, true, Service::kEven));
      EXPECT_TRUE(use.is_serial) << seed << " " << workers << " " << use.evenness;
      EXPECT_GT(use.outstanding, 1.5);
      EXPECT_NEAR(static_cast<double>(use.served_ns) / kSerialMs, 4.1, 0.5);
    }
  }
}

// Requests take very different times. Then the rate of ends tells.
TEST(SerialSource, OneAtATimeOfUnevenRequestsIsFound) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const SourceUse use = JudgeSource(Simulate(seed, 2, 8, 4, true, Service::kUneven));
    EXPECT_TRUE(use.is_serial) << seed << " " << use.growth << " " << use.growth_error;
  }
}

TEST(SerialSource, ManyAtOnceIsNot) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    for (const size_t workers : {2u, 3u, 4u, 8u}) {
      for (const Service service : {Service::kEven, Service::kUneven}) {
        for (const double between_ms : {0.5, 4.0}) {
          const SourceUse use = JudgeSource(Simulate(seed, workers, 8, between_ms, false, service));
          EXPECT_FALSE(use.is_serial) << seed << " " << workers << " " << use.evenness << " "
                                      << use.growth << " " << use.growth_error;
        }
      }
    }
  }
}

TEST(SerialSource, FewWaitsTellNothing) {
  EXPECT_FALSE(JudgeSource({}).is_serial);
  EXPECT_FALSE(JudgeSource({{0, 10}, {0, 20}, {10, 30}}).is_serial);
}

// What was there already came at once, and says nothing of the source.
TEST(SerialSource, ShortWaitsDoNotCount) {
  std::vector<Interval> waits = Simulate(7, 4, 4, 0.5, true, Service::kEven);
  const size_t count = waits.size();
  for (size_t i = 0; i < count; ++i) waits.push_back({waits[i].end, waits[i].end + 1000});
  const SourceUse use = JudgeSource(waits);
  EXPECT_TRUE(use.is_serial);
  EXPECT_NEAR(static_cast<double>(use.served_ns) / kSerialMs, 4.1, 0.5);
}

}  // namespace
}  // namespace gpuprof::analysis
