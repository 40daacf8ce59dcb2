// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values by stack, for passes that look one up for each of millions of events. One thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace gpuprof::analysis {

template <typename Value>
class ByStack {
 public:
  // Returns the value of a stack; a new one is Value().
  Value& operator[](uint32_t stack) {
    Recent& recent = recent_[stack % kRecent];
    if (recent.value == nullptr || recent.stack != stack) recent = {stack, &values_[stack]};
    return *recent.value;
  }
  const std::unordered_map<uint32_t, Value>& values() const { return values_; }

 private:
  static constexpr size_t kRecent = 1024;
  struct Recent {
    uint32_t stack = 0;
    Value* value = nullptr;  // a map never moves its values
  };

  std::unordered_map<uint32_t, Value> values_;
  std::array<Recent, kRecent> recent_{};
};

}  // namespace gpuprof::analysis
