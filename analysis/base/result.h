// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A value or an Error, for functions of the analysis library that can fail. Plain data, any thread.

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

inline Error Unreadable(std::string message) {
  return Error{ErrorKind::kUnreadable, std::move(message)};
}
inline Error UsageError(std::string message) {
  return Error{ErrorKind::kUsage, std::move(message)};
}

template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace gpuprof::analysis
