// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The array that event columns live in: a std::vector whose resize leaves new elements unset.
// Filling hundreds of megabytes is bound by memory traffic, and zeroing what the reader overwrites
// at once would nearly double it. Otherwise use it like any vector.
//
// No huge pages on purpose: measured in a virtual machine with fragmented memory, the first load of
// a trace took three times as long with them (the kernel compacts memory first).

#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

template <typename T>
class ColumnAllocator : public std::allocator<T> {
 public:
  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) noexcept {}
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = ColumnAllocator<U>;
  };

  // Without arguments: leave the element unset.
  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace gpuprof::analysis
