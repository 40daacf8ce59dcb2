// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The array that event columns live in: a std::vector whose resize leaves new elements unset, and
// whose large blocks ask the kernel for huge pages. Filling hundreds of megabytes is bound by page
// faults and memory traffic; zeroing what the reader overwrites at once would nearly double both.
// Otherwise use it like any vector.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

template <typename T>
class ColumnAllocator {
 public:
  using value_type = T;
  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) noexcept {}

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    const size_t bytes = count * sizeof(T);
    if (bytes < kHugeFrom) return static_cast<T*>(::operator new(bytes));
    const size_t rounded = (bytes + kHugePage - 1) & ~(kHugePage - 1);
    void* memory = std::aligned_alloc(kHugePage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    // A refusal costs speed alone.
    madvise(memory, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) noexcept {
    if (count * sizeof(T) < kHugeFrom) {
      ::operator delete(memory);
    } else {
      std::free(memory);
    }
  }

  // Without arguments: leave the element unset.
  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const ColumnAllocator&, const ColumnAllocator&) { return true; }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kHugeFrom = size_t{8} << 20;
};

template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace gpuprof::analysis
