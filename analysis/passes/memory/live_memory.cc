// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See live_memory.h.

#include "analysis/passes/memory/live_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/base/units.h"

namespace gpuprof::analysis {
namespace {

constexpr double kTwoSided95 = 1.959964;
constexpr double kOneSideOf95 = 0.025;

// How many standard deviations above the mean a normal number is with this probability, below a
// half.
double NormalQuantile(double probability) {
  double low = 0;
  double high = 40;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    const bool is_rarer = std::erfc(middle / std::sqrt(2.0)) / 2 < probability;
    (is_rarer ? high : low) = middle;
  }
  return low;
}

uint64_t Rounded(double value) { return WholeNumber(std::round(value)); }

// The upper 2.5 % point of the gamma distribution with this mean and variance, by Wilson and
// Hilferty's cube of a normal one: within 1 % from a shape of 1 on.
double UpperGamma(double mean, double variance) {
  const double part = variance / (9 * mean * mean);
  const double root = 1 - part + kTwoSided95 * std::sqrt(part);
  return mean * root * root * root;
}

}  // namespace

uint64_t Estimate::value() const { return Rounded(sum); }

uint64_t Estimate::low() const { return low_of_highest(1); }

uint64_t Estimate::low_of_highest(uint64_t estimates) const {
  const double distance =
      estimates > 1 ? NormalQuantile(kOneSideOf95 / static_cast<double>(estimates)) : kTwoSided95;
  return Rounded(std::max(seen, sum - distance * std::sqrt(variance)));
}

uint64_t Estimate::high() const {
  const double normal = sum + kTwoSided95 * std::sqrt(variance);
  if (heaviest <= 0) return Rounded(normal);
  const double unseen = 2 * heaviest;
  return Rounded(std::max(normal, UpperGamma(sum + unseen, variance + unseen * unseen)));
}

double Sampling::Probability(uint64_t size, bool sampled) const {
  if (!sampled || period_ <= 0) return 1;
  // An allocation of no bytes is sampled like one of a single byte.
  return -std::expm1(-static_cast<double>(std::max<uint64_t>(size, 1)) / period_);
}

void Sampling::AddSampledCount(uint64_t size, Estimate* to) const {
  const double p = Probability(size, true);
  to->sum += 1 / p;
  to->variance += (1 - p) / (p * p);
  to->seen += 1;
  if (p < 1) to->heaviest = std::max(to->heaviest, 1 / p);
}

void Sampling::AddSampledBytes(uint64_t size, Estimate* to) const {
  const double p = Probability(size, true);
  const auto bytes = static_cast<double>(size);
  to->sum += bytes / p;
  to->variance += bytes * bytes * (1 - p) / (p * p);
  to->seen += bytes;
  if (p < 1) to->heaviest = period_ / 2;
}

Estimate Sampling::NoBytes(bool sampled) const {
  Estimate none;
  if (sampled) none.heaviest = period_ / 2;
  return none;
}

LiveMemory::LiveMemory(uint32_t period, int64_t start, int64_t end, size_t buckets,
                       BlockWatcher* watcher)
    : sampling_(period),
      watcher_(watcher),
      start_(start),
      width_(std::max<int64_t>(1, (end - start) / static_cast<int64_t>(buckets) + 1)),
      bucket_end_(start),
      timeline_(buckets, 0) {}

int64_t LiveMemory::bucket_start(size_t bucket) const {
  return start_ + width_ * static_cast<int64_t>(bucket);
}

uint64_t LiveMemory::SampledSize(const MemoryBlock& block) const {
  const double p = sampling_.Probability(block.size, true);
  return p < 1 ? Rounded(static_cast<double>(block.size) / p) : block.size;
}

void LiveMemory::EnterBucket(int64_t time) {
  const size_t last = timeline_.size() - 1;
  while (bucket_ < last && time >= bucket_start(bucket_ + 1)) timeline_[++bucket_] = live_;
  bucket_end_ = bucket_ < last ? bucket_start(bucket_ + 1) : std::numeric_limits<int64_t>::max();
}

void LiveMemory::Free(int64_t time, uint64_t address) {
  if (address != 0 && !FreeIfLive(time, address)) CountUnmatchedFree();
}

void LiveMemory::NewCapture() {
  live_at_.Each([&](uint32_t index) { KeepForPeak(blocks_[index]); });
  live_at_.Clear();
  blocks_.clear();
  free_places_.clear();
  live_ = 0;
}

void LiveMemory::Finish() {
  while (bucket_ + 1 < timeline_.size()) timeline_[++bucket_] = live_;
  // The map goes first: where most blocks live to the end, it takes more than they do.
  live_at_.Clear();
  std::sort(free_places_.begin(), free_places_.end());
  size_t kept = 0;
  auto next_free = free_places_.begin();
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (next_free != free_places_.end() && *next_free == i) {
      ++next_free;
    } else {
      blocks_[kept++] = blocks_[i];
    }
  }
  blocks_.resize(kept);
  at_end_ = std::move(blocks_);
  for (const MemoryBlock& block : at_end_) KeepForPeak(block);
  for (std::vector<MemoryBlock>* list : {&at_peak_, &at_end_}) {
    std::stable_sort(list->begin(), list->end(), [](const MemoryBlock& x, const MemoryBlock& y) {
      return x.number < y.number;
    });
  }
}

void LiveMemory::AddressMap::Clear() {
  slots_ = std::vector<Slot>(64);
  used_ = 0;
}

void LiveMemory::AddressMap::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old) {
    if (slot.block != kNone) *Put(slot.address) = slot.block;
  }
}

}  // namespace gpuprof::analysis
