// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the ids in the rows of a trace stand for, under numbers that all processes share. Made once
// for a trace, which outlives it; then any thread reads.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/query/text_pool.h"
#include "proto/table_spec.h"

namespace gpuprof::analysis {

// How a kernel is launched.
struct LaunchShape {
  uint32_t name = 0, function = 0;  // in the pool
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;
};

struct CounterText {
  uint32_t name = 0, unit = 0, source = 0;
  double divisor = 1;
};

// The device whose counters a track has.
struct CountedDevice {
  bool is_known = false;
  uint32_t index = 0;  // as NVML counts; of an imported file as the file counts
  uint32_t uuid = 0;   // in the pool; 0: not known
  uint32_t name = 0;   // in the pool
};

// Returns the number of a thread or stream among those of all processes.
inline uint64_t TrackNumber(size_t process, size_t track) {
  return uint64_t{process} << 32 | uint64_t{track};
}

class TraceNames {
 public:
  struct OfProcess {
    IdMap strings, functions;  // to numbers of texts
    IdMap shapes, counters;    // to places below, from 1
    uint32_t host = 0;
    std::optional<uint32_t> rank;
    std::vector<uint32_t> tracks;             // by track: the name of its thread or stream
    std::map<size_t, CountedDevice> counted;  // by track
    bool is_of_program = true;                // no sampler

    CountedDevice Counted(size_t track) const {
      const auto found = counted.find(track);
      return found == counted.end() ? CountedDevice() : found->second;
    }
  };

  explicit TraceNames(const Trace& trace);

  const Trace& trace() const { return trace_; }
  // Places: processes of the trace, then its samplers of hardware counters.
  size_t places() const { return processes_.size(); }
  const Process& process(size_t place) const {
    const size_t processes = trace_.processes.size();
    return place < processes ? trace_.processes[place] : trace_.samplers[place - processes];
  }
  const OfProcess& of(size_t place) const { return processes_[place]; }
  // Returns a shape; that of place 0 is empty.
  const LaunchShape& shape(uint32_t place) const { return shapes_[place]; }
  const CounterText& counter(uint32_t place) const { return counters_[place]; }
  const TextPool& texts() const { return texts_; }
  std::string_view Text(uint32_t number) const { return texts_.At(number); }
  // Returns the word of a code, or its number if it has no word.
  std::string_view Word(proto::Codes codes, uint64_t code) const;
  // Returns the words of the bits that are set, with commas.
  std::string_view Flags(proto::Codes codes, uint64_t bits) const;
  // Returns the name of a device: "cuda:0".
  std::string_view Device(size_t place, uint32_t device) const;

 private:
  enum class Kind : uint8_t { kWord, kFlags, kDevice };
  using Key = std::tuple<Kind, size_t, uint64_t>;

  void Add(const Process& process);
  // Returns the text of a key, which `make` makes the first time.
  template <typename Make>
  std::string_view Made(const Key& key, const Make& make) const;

  const Trace& trace_;
  TextPool texts_;
  std::vector<OfProcess> processes_;
  std::vector<LaunchShape> shapes_{1};
  std::vector<CounterText> counters_{1};
  mutable std::mutex mutex_;
  mutable std::deque<std::string> made_texts_;
  mutable std::map<Key, std::string_view> made_;
};

}  // namespace gpuprof::analysis
