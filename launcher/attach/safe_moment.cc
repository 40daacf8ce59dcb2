// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/safe_moment.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "launcher/attach/wait_calls.h"

namespace gpuprof::launcher {
namespace {

constexpr const char* kAllocatorFunctions[] = {"malloc",         "free",
                                               "calloc",         "realloc",
                                               "memalign",       "aligned_alloc",
                                               "valloc",         "pvalloc",
                                               "posix_memalign", "malloc_trim",
                                               "mallopt",        "malloc_info",
                                               "malloc_stats",   "malloc_usable_size",
                                               "mallinfo",       "mallinfo2"};

// More than the code at a program's entry has.
constexpr uint64_t kEntryBytes = 128;

bool IsAllocatorFunction(const std::string& name) {
  return std::find(std::begin(kAllocatorFunctions), std::end(kAllocatorFunctions), name) !=
         std::end(kAllocatorFunctions);
}

bool IsLoader(const TargetObject& object) {
  const std::string name = object.name();
  return name.starts_with("ld-linux") || name.starts_with("ld-2.") || name.starts_with("ld.so") ||
         name.starts_with("ld64.so");
}

// glibc is one library since 2.34, and was several before.
bool IsLibrary(const TargetObject& object) {
  const std::string name = object.name();
  for (const char* beginning : {"libc.so.6", "libc-2.", "libpthread.so.0", "libpthread-2.",
                                "libdl.so.2", "libdl-2.", "librt.so.1", "librt-2."})
    if (name.starts_with(beginning)) return true;
  return false;
}

}  // namespace

SafeMoments::SafeMoments(const TargetObjects* objects) : objects_(objects) {
  bool has_malloc = false;
  for (const TargetObject& object : objects_->all()) {
    if (IsLoader(object)) {
      loaders_.push_back({object.begin, object.end});
      continue;
    }
    if (object.is_executable) entry_ = object.entry;
    const std::vector<TargetSymbol> symbols = objects_->SymbolsOf(object);
    const auto is_malloc = [](const TargetSymbol& symbol) { return symbol.name == "malloc"; };
    const bool allocates = std::any_of(symbols.begin(), symbols.end(), is_malloc);
    if (IsLibrary(object)) libraries_.push_back({object.begin, object.end});
    if (!allocates) continue;
    if (object.is_executable) {
      has_own_allocator_ = true;
    } else if (!IsLibrary(object)) {
      allocators_.push_back({object.begin, object.end});
    } else {
      // Its functions lie side by side, exported or not: from the end of the neighbour before them
      // to the neighbour behind them.
      has_malloc = true;
      uint64_t first = UINT64_MAX, last = 0;
      for (const TargetSymbol& symbol : symbols) {
        if (!IsAllocatorFunction(symbol.name)) continue;
        first = std::min(first, symbol.begin);
        last = std::max(last, symbol.end);
      }
      Range range = {object.begin, object.end};
      for (const TargetSymbol& symbol : symbols) {
        if (symbol.end <= first) range.begin = std::max(range.begin, symbol.end);
        if (symbol.begin >= last) range.end = std::min(range.end, symbol.begin);
      }
      allocators_.push_back(range);
    }
  }
  if (loaders_.empty() || libraries_.empty() || !has_malloc)
    missing_ = "its C library is not a glibc that was loaded at the start";
}

SafeMoments::Place SafeMoments::PlaceOf(uint64_t pc) const {
  const auto is_in = [pc](const std::vector<Range>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [pc](const Range& range) { return pc >= range.begin && pc < range.end; });
  };
  if (is_in(allocators_)) return Place::kAllocator;
  if (is_in(loaders_)) return Place::kLoader;
  return is_in(libraries_) ? Place::kLibrary : Place::kProgram;
}

Moment SafeMoments::Judge(const TargetStack& stack, long call) const {
  if (stack.has_handler) return Moment::kInHandler;
  std::vector<Place> places;
  for (const uint64_t pc : stack.pcs) places.push_back(PlaceOf(pc));
  for (const Place place : places) {
    if (place == Place::kAllocator) return Moment::kInAllocator;
    if (place == Place::kLoader) return Moment::kInLoader;
  }
  if (!stack.is_whole || places.empty()) return Moment::kUnknownStack;
  const bool waits = call >= 0 && IsWaitCall(call);
  // An allocator of the program's own cannot be told from the program. It waits in few ways.
  const bool may_be_allocator = call < 0 || call == SYS_futex || call == SYS_nanosleep ||
                                call == SYS_clock_nanosleep || call == SYS_restart_syscall;
  if (has_own_allocator_ && (!waits || may_be_allocator)) return Moment::kInAllocator;
  if (places.front() == Place::kLibrary && !waits) return Moment::kInLibrary;
  // Behind the wait, up to where the thread began.
  auto place = places.begin();
  while (place != places.end() && *place == Place::kLibrary) ++place;
  auto end = places.end();
  // The main thread began in the program itself, which called the C library at once.
  const bool is_main = stack.pcs.back() - entry_ < kEntryBytes;
  if (is_main && end != place) --end;
  while (end != place && *(end - 1) == Place::kLibrary) --end;
  const bool is_called_back =
      std::any_of(place, end, [](Place at) { return at == Place::kLibrary; });
  return is_called_back ? Moment::kInLibrary : Moment::kSafe;
}

}  // namespace gpuprof::launcher
