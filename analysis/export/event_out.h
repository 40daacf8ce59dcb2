// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Takes the events of a process, whatever file they are for. HostEvents and GpuEvents find the
// events and say them in Kineto's words. EventWriter makes a Chrome trace of them, and Slices keeps
// them for formats that need an order. One thread.
//
// An event is begun, gets arguments, and is ended:
//
//   out->Span("kernel", name, place, start_ns, duration_ns);
//   out->Arg("stream", 7);
//   out->End();

#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace gpuprof::analysis {

// The row in which an event is shown: of a thread or of a stream.
struct Place {
  std::string_view pid;  // JSON: a number, or a text in quotes
  int64_t tid = 0;
};

// Kineto's categories of arrows: from a call to its work, and from the forward pass to the backward
// pass.
inline constexpr std::string_view kLaunchFlow = "ac2g", kBackwardFlow = "fwdbwd";

class EventOut {
 public:
  virtual ~EventOut() = default;

  // Begins a slice. A slice without a category has "".
  virtual void Span(std::string_view category, std::string_view name, const Place& place,
                    int64_t start_ns, int64_t duration_ns) = 0;
  // Begins a moment of a thread.
  virtual void Instant(std::string_view category, std::string_view name, const Place& place,
                       int64_t time_ns) = 0;
  // Begins the begin or the end of a slice that is not of one thread alone.
  virtual void AsyncBegin(std::string_view category, std::string_view name, uint64_t id,
                          const Place& place, int64_t time_ns) = 0;
  virtual void AsyncEnd(std::string_view category, std::string_view name, uint64_t id,
                        const Place& place, int64_t time_ns) = 0;
  // Writes a whole arrow's begin or end, which is at the last slice.
  virtual void FlowStart(std::string_view category, uint64_t id, const Place& place,
                         int64_t time_ns) = 0;
  virtual void FlowEnd(std::string_view category, uint64_t id, const Place& place,
                       int64_t time_ns) = 0;

  // Adds an argument to the event.
  template <std::signed_integral T>
  void Arg(std::string_view key, T value) {
    SignedArg(key, value);
  }
  template <std::unsigned_integral T>
  void Arg(std::string_view key, T value) {
    UnsignedArg(key, value);
  }
  void Arg(std::string_view key, std::string_view text) { TextArg(key, text); }
  void Arg(std::string_view key, double value) { RealArg(key, value); }
  // Adds an argument whose value is JSON already.
  virtual void JsonArg(std::string_view key, std::string_view json) = 0;
  // Adds the members of an object of JSON, without its braces.
  virtual void Members(std::string_view members) = 0;

  // Ends an event. Returns false if no more is wanted.
  virtual bool End() = 0;

 private:
  virtual void SignedArg(std::string_view key, int64_t value) = 0;
  virtual void UnsignedArg(std::string_view key, uint64_t value) = 0;
  virtual void RealArg(std::string_view key, double value) = 0;
  virtual void TextArg(std::string_view key, std::string_view text) = 0;
};

}  // namespace gpuprof::analysis
