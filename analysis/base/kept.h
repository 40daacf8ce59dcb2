// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values that are made on first use and kept, one of each type. The owner decides when they go.
// One thread.

#pragma once

#include <map>
#include <memory>

namespace gpuprof::analysis {

class Kept {
 public:
  // Returns the value of type T. make() makes it if it is not there. It stays where it is.
  template <typename T, typename Make>
  T& Get(Make&& make) {
    std::shared_ptr<void>& value = values_[&kOfType<T>];
    if (value == nullptr) value = std::shared_ptr<T>(new T(make()));
    return *static_cast<T*>(value.get());
  }

 private:
  template <typename T>
  static constexpr char kOfType = 0;  // its address stands for the type

  std::map<const void*, std::shared_ptr<void>> values_;
};

}  // namespace gpuprof::analysis
