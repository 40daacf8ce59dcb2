// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The slices of one process in memory, by the rows of threads and streams in which they are shown.
// For formats whose slices must be in order, or must nest. Memory: about 50 bytes a slice, and its
// arguments. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/export/event_out.h"

namespace gpuprof::analysis {

// Texts under numbers from 1, in the order in which they came. All are UTF-8.
class SliceTexts {
 public:
  uint32_t Of(std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

class Slices : public EventOut {
 public:
  struct Slice {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    uint32_t name = 0, category = 0;  // numbers of texts; category 0: none
    uint32_t stack = 0;               // of the process; 0: none
    bool is_instant = false;
    size_t args = 0, args_end = 0;  // in args()
  };
  // An arrow's begin or end at a slice.
  struct Arrow {
    uint32_t slice = 0;
    bool is_end = false;
    uint64_t id = 0;
  };
  // A thread or stream as Place names it. Ranges between threads have rows of their own.
  using RowKey = std::pair<std::string, int64_t>;
  static constexpr int64_t kBetweenThreads = INT64_MIN;

  void Span(std::string_view category, std::string_view name, const Place& place, int64_t start_ns,
            int64_t duration_ns) override;
  void Instant(std::string_view category, std::string_view name, const Place& place,
               int64_t time_ns) override;
  void AsyncBegin(std::string_view category, std::string_view name, uint64_t id, const Place& place,
                  int64_t time_ns) override;
  void AsyncEnd(std::string_view category, std::string_view name, uint64_t id, const Place& place,
                int64_t time_ns) override;
  void FlowStart(std::string_view category, uint64_t id, const Place&, int64_t) override {
    AddArrow(category, id, false);
  }
  void FlowEnd(std::string_view category, uint64_t id, const Place&, int64_t) override {
    AddArrow(category, id, true);
  }
  void JsonArg(std::string_view, std::string_view) override {}
  void Members(std::string_view) override {}
  bool End() override;
  // Gives the last slice the stack from which it was called.
  void SetStack(uint32_t stack) { slices_.back().stack = stack; }

  const std::map<RowKey, std::vector<uint32_t>>& rows() const { return rows_; }
  const Slice& At(uint32_t slice) const { return slices_[slice]; }
  size_t size() const { return slices_.size(); }
  const std::vector<Arrow>& arrows() const { return arrows_; }  // in the order of slices
  const std::vector<std::string>& names() const { return names_.texts(); }
  const std::vector<std::string>& categories() const { return categories_.texts(); }
  const std::string& args() const { return args_; }

 protected:
  // The arguments of all events, as a format writes them.
  std::string args_;
  bool is_call() const;  // the open event is a call of CUDA

 private:
  void SignedArg(std::string_view, int64_t) override {}
  void UnsignedArg(std::string_view, uint64_t) override {}
  void RealArg(std::string_view, double) override {}
  void TextArg(std::string_view, std::string_view) override {}
  void Begin(std::string_view category, std::string_view name, std::string_view pid, int64_t tid,
             int64_t start_ns, int64_t end_ns);
  void AddArrow(std::string_view category, uint64_t id, bool is_end);

  SliceTexts names_, categories_;
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
  std::map<RowKey, std::vector<uint32_t>> rows_;
  RowKey last_key_;
  std::vector<uint32_t>* last_row_ = nullptr;
};

// Slices of one row that nest, a caller before its callees.
using Lane = std::vector<uint32_t>;

// Returns the slices of a row as lanes. A slice that crosses the end of another one gets a further
// lane. So no slice is lost, or cut. Moments are in the first lane.
std::vector<Lane> LanesOf(const Slices& slices, std::vector<uint32_t> row);

// Calls begin(slice), and end(slice), in the order of time. Callees end before their callers. A
// moment is only begun.
template <typename Begin, typename End>
void WalkLane(const Slices& slices, const Lane& lane, const Begin& begin, const End& end) {
  std::vector<uint32_t> open;
  for (const uint32_t each : lane) {
    const Slices::Slice& slice = slices.At(each);
    while (!open.empty() && slices.At(open.back()).end_ns <= slice.start_ns) {
      end(open.back());
      open.pop_back();
    }
    begin(each);
    if (!slice.is_instant) open.push_back(each);
  }
  for (; !open.empty(); open.pop_back()) end(open.back());
}

}  // namespace gpuprof::analysis
