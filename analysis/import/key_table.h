// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A map from keys of bytes to numbers that is asked for the same few thousand keys millions of
// times. The last keys are found without hashing all their bytes. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "analysis/base/text_map.h"

namespace gpuprof::analysis::import {

class KeyTable {
 public:
  // Finds the number of a key. Null: the key is not there. Valid until the next Clear().
  const uint32_t* Find(const std::string& key) {
    const Entry*& recent = recent_[PlaceOf(key)];
    if (recent != nullptr && recent->first == key) return &recent->second;
    const auto known = numbers_.find(key);
    if (known == numbers_.end()) return nullptr;
    recent = &*known;
    return &known->second;
  }
  void Add(const std::string& key, uint32_t number) { numbers_.emplace(key, number); }
  void Clear() {
    numbers_.clear();
    recent_.fill(nullptr);
  }

 private:
  using Entry = TextMap::value_type;  // entries of the map stay where they are
  static constexpr size_t kPlaces = 4096;

  // Keys differ at their beginning, their end or in their length. Others share a place.
  static size_t PlaceOf(std::string_view key) {
    uint64_t first = 0, last = 0;
    if (key.size() >= sizeof first) {
      std::memcpy(&first, key.data(), sizeof first);
      std::memcpy(&last, key.data() + key.size() - sizeof last, sizeof last);
    }
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
    constexpr int kBits = 12;
    static_assert(size_t{1} << kBits == kPlaces);
    return static_cast<size_t>(((first * kSpread) ^ last ^ key.size()) * kSpread >> (64 - kBits));
  }

  TextMap numbers_;
  std::array<const Entry*, kPlaces> recent_ = {};
};

}  // namespace gpuprof::analysis::import
