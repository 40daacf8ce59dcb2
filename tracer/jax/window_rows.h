// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes rows of windows: each mark is an op on its thread's track, with its values before it.
// The time between two windows is a range.
//
// The drain thread, or whoever holds its pass.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/tables.h"
#include "tracer/cupti/block_sink.h"
#include "tracer/jax/windows.h"
#include "tracer/jax/xspace.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::jax {

// Says which track a thread is on.
class TrackSource {
 public:
  virtual ~TrackSource() = default;
  virtual uint32_t TrackOf(uint32_t tid, uint64_t ticks) = 0;
  // Writes down whose the new tracks are.
  virtual void WriteTracks() = 0;
};

class WindowRows {
 public:
  WindowRows(const Host* host, codec::InternTables* strings) : host_(host), strings_(strings) {}
  WindowRows(const WindowRows&) = delete;
  WindowRows& operator=(const WindowRows&) = delete;

  // Takes the windows that wait, and writes their rows. Those of other captures are dropped.
  void Pass(uint32_t capture, uint32_t time_shift, TrackSource* tracks, cupti::BlockSink* sink);

  // Time between windows, of which JAX's marks are missing; and how often.
  uint64_t gap_ns() const { return gap_ns_; }
  uint64_t gaps() const { return gaps_; }
  // Bytes of compiled programs that had no room.
  uint64_t programs_lost() const { return programs_lost_; }

 private:
  using Text = std::string_view;
  // A text that marks refer to by its number.
  struct Name {
    uint64_t number = 0;
    Text text;
    uint32_t id = 0;  // string id, once it is used
    bool is_left_out = false;
  };
  struct Mark {
    uint64_t start = 0, end = 0;  // ticks
    uint32_t name = 0;            // place in events_
    uint32_t values = 0;          // place of its first value
    uint16_t count = 0;           // of values
    uint16_t depth = 0;
  };
  struct Value {
    uint32_t name = 0, text = 0;  // string ids
    int64_t number = 0;
  };
  // Times of a window.
  struct Scale {
    uint64_t ticks = 0, realtime_ns = 0;
    double ticks_per_ns = 1;
    uint64_t TicksOf(uint64_t realtime) const {
      const auto since = static_cast<double>(static_cast<int64_t>(realtime - realtime_ns));
      return ticks + static_cast<uint64_t>(static_cast<int64_t>(since * ticks_per_ns));
    }
  };

  void Write(const Window& window);
  void WriteGap(const Window& window);
  bool ReadEnvironment(Text space);
  void ReadNames(Text plane);
  void WriteLine(Text line);
  void ReadMark(Text event, uint64_t line_ns);
  void ReadValue(Text stat, Text event_name, Mark* mark);
  void WriteMarks(uint32_t track);
  void SetDepths();
  void AppendMark(const Mark& mark);
  void WritePrograms(Text plane);
  void WriteProgram(uint64_t number, Text name, Text proto);
  uint32_t TrackOfLine(uint64_t line, Text name, uint64_t ticks);
  Name* Find(std::vector<Name>* names, uint64_t number);
  uint32_t IdOf(Name* name);
  uint32_t IdOf(Text text);
  codec::ChunkBuilder* Rows(proto::ChunkKind kind, uint32_t track);
  void Flush();

  const Host* host_;
  codec::InternTables* strings_;
  uint64_t gap_ns_ = 0, gaps_ = 0;
  uint64_t programs_lost_ = 0, program_bytes_ = 0;
  uint32_t last_capture_ = 0;
  uint64_t last_end_ns_ = 0;  // CLOCK_REALTIME, of the window before
  std::vector<std::pair<uint64_t, uint32_t>> nameless_tracks_;  // by line
  std::vector<uint64_t> programs_;                              // hashes of those that are written

  // The state of one window.
  uint32_t time_shift_ = 0;
  TrackSource* tracks_ = nullptr;
  cupti::BlockSink* sink_ = nullptr;
  Scale scale_;
  uint64_t start_ns_ = 0, stop_ns_ = 0;  // CLOCK_REALTIME, as JAX says
  std::vector<Name> events_, stats_;
  // The state of one line.
  std::vector<Mark> marks_;
  std::vector<Value> values_;
  std::vector<uint32_t> order_;
  std::vector<std::unique_ptr<codec::ChunkBuilder>> builders_;
  std::vector<uint8_t> message_;
};

}  // namespace gpuprof::tracer::jax
