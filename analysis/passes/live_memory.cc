// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See live_memory.h.

#include "analysis/passes/live_memory.h"

#include <algorithm>
#include <cmath>
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

void Sampling::AddCount(uint64_t size, bool sampled, Estimate* to) const {
  const double p = Probability(size, sampled);
  to->sum += 1 / p;
  to->variance += (1 - p) / (p * p);
  to->seen += 1;
  if (p < 1) to->heaviest = std::max(to->heaviest, 1 / p);
}

void Sampling::AddBytes(uint64_t size, bool sampled, Estimate* to) const {
  const double p = Probability(size, sampled);
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

LiveMemory::LiveMemory(uint32_t period, int64_t start, int64_t end, size_t buckets)
    : sampling_(period),
      start_(start),
      width_(std::max<int64_t>(1, (end - start) / static_cast<int64_t>(buckets) + 1)),
      timeline_(buckets, 0) {}

int64_t LiveMemory::bucket_start(size_t bucket) const {
  return start_ + width_ * static_cast<int64_t>(bucket);
}

uint64_t LiveMemory::LiveSize(const Block& block) const {
  const double p = sampling_.Probability(block.size, block.sampled);
  return p < 1 ? Rounded(static_cast<double>(block.size) / p) : block.size;
}

void LiveMemory::Advance(int64_t time) {
  const int64_t wanted =
      std::clamp<int64_t>((time - start_) / width_, 0, static_cast<int64_t>(timeline_.size()) - 1);
  while (bucket_ < static_cast<size_t>(wanted)) timeline_[++bucket_] = live_;
}

void LiveMemory::Alloc(int64_t time, uint64_t address, uint64_t size, bool sampled,
                       uint32_t group) {
  Advance(time);
  const auto index = static_cast<uint32_t>(blocks_.size());
  if (uint32_t* old = live_at_.Find(address)) {
    ++implied_frees_;
    Release(*old, time);
    *old = index;
  } else {
    live_at_.Insert(address, index);
  }
  blocks_.push_back({time, -1, size, group, kNever, sampled});
  live_ += LiveSize(blocks_.back());
  timeline_[bucket_] = std::max(timeline_[bucket_], live_);
  if (live_ <= peak_) return;
  peak_ = live_;
  peak_time_ = time;
  peak_blocks_ = blocks_.size();
  peak_frees_ = frees_;
  peak_capture_ = capture_;
}

void LiveMemory::Free(int64_t time, uint64_t address) {
  if (address == 0) return;
  Advance(time);
  uint32_t index = 0;
  if (!live_at_.Erase(address, &index)) {
    ++unmatched_frees_;
    return;
  }
  Release(index, time);
}

void LiveMemory::Release(uint32_t index, int64_t time) {
  Block& block = blocks_[index];
  block.freed = frees_++;
  block.life_ns = std::max<int64_t>(time - block.time_ns, 0);
  live_ -= LiveSize(block);
}

void LiveMemory::NewCapture() {
  live_at_.Clear();
  live_ = 0;
  capture_ = blocks_.size();
}

void LiveMemory::Finish() {
  while (bucket_ + 1 < timeline_.size()) timeline_[++bucket_] = live_;
}

bool LiveMemory::LiveAtPeak(size_t block) const {
  return block >= peak_capture_ && block < peak_blocks_ && blocks_[block].freed >= peak_frees_;
}

bool LiveMemory::LiveAtEnd(size_t block) const {
  return block >= capture_ && blocks_[block].freed == kNever;
}

size_t LiveMemory::AddressMap::Home(uint64_t address) const {
  return static_cast<size_t>((address >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1);
}

uint32_t* LiveMemory::AddressMap::Find(uint64_t address) {
  for (size_t i = Home(address); slots_[i].block != kNever; i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].address == address) return &slots_[i].block;
  }
  return nullptr;
}

void LiveMemory::AddressMap::Insert(uint64_t address, uint32_t block) {
  if (used_ * 2 >= slots_.size()) Grow();
  size_t i = Home(address);
  while (slots_[i].block != kNever) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {address, block};
  ++used_;
}

bool LiveMemory::AddressMap::Erase(uint64_t address, uint32_t* block) {
  const size_t mask = slots_.size() - 1;
  size_t hole = Home(address);
  while (slots_[hole].block != kNever && slots_[hole].address != address) hole = (hole + 1) & mask;
  if (slots_[hole].block == kNever) return false;
  *block = slots_[hole].block;
  // Closes the gap: whoever probed past it moves up.
  for (size_t i = (hole + 1) & mask; slots_[i].block != kNever; i = (i + 1) & mask) {
    const size_t home = Home(slots_[i].address);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = {};
  --used_;
  return true;
}

void LiveMemory::AddressMap::Clear() {
  slots_.assign(64, {});
  used_ = 0;
}

void LiveMemory::AddressMap::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old) {
    if (slot.block != kNever) Insert(slot.address, slot.block);
  }
}

}  // namespace gpuprof::analysis
