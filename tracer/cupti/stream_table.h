// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that records have told of, each with its track, and the buffers of those that have work
// now. Programs may make a stream for each request: what a stream that rests keeps is its track
// alone, for when it goes on; of very many, those that have rested longest are forgotten, and one
// that goes on all the same has another track from there on.
//
// One thread at a time (the drain's pass).

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "proto/codec/span_buffer.h"
#include "proto/schema.h"
#include "tracer/cupti/device_records.h"
#include "tracer/cupti/place_index.h"
#include "tracer/cupti/rate_budget.h"
#include "tracer/cupti/thread_tracks.h"

namespace gpuprof::tracer::cupti {

struct Stream {
  uint32_t device, context, stream, track;
  // Buffers by table and RateBudget::Class: in one buffer all rows stand for equally many records.
  codec::SpanBuffer* buffers[proto::kCuptiTables][RateBudget::kClasses] = {};

  template <proto::ChunkKind kKind>
  codec::SpanBuffer** BufferOf(RateBudget::Class of) {
    constexpr int kPlace = proto::CuptiPlace(kKind);
    static_assert(kPlace < proto::kCuptiTables);
    return &buffers[kPlace][of];
  }
};

class StreamTable {
 public:
  // With buffers, when rows have been written; and those that are known then.
  static constexpr size_t kManyWithBuffers = 1024;
  static constexpr size_t kMostKnown = 1u << 16;

  explicit StreamTable(ThreadTracks* tracks) : tracks_(tracks) {}
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  // Made where there is none yet. Of a context without a device it is the one that is known of it.
  // Until RowsAreWritten.
  Stream* Of(uint32_t device, uint32_t context, uint32_t stream) {
    if (last_ != nullptr && IsIt(*last_, device, context, stream)) return last_;
    return Find(device, context, stream);
  }
  // There is something new to tell of it.
  void Renew(uint32_t context, uint32_t stream);
  // By what its streams have told; kNoId: not told.
  uint32_t DeviceOf(uint32_t context) const;

  // Appends what is new as a Streams message; returns how many.
  uint32_t Take(const DeviceRecords& devices, std::vector<uint8_t>* out);

  // No buffer holds a row any longer. To `unused` those that no stream needs now.
  void RowsAreWritten(std::vector<const codec::SpanBuffer*>* unused);

  size_t known() const { return known_.size(); }
  uint64_t forgotten() const { return forgotten_; }
  uint64_t memory_bytes() const;

 private:
  // All that is kept of a stream at rest.
  struct Known {
    uint32_t device, context, stream, track;
    uint32_t used;         // times that rows were written by then
    uint32_t buffers = 0;  // its place in streams_ + 1; 0: none
    bool is_taken = false;
  };

  static uint64_t KeyOf(uint32_t context, uint32_t stream) {
    return uint64_t{context} << 32 | stream;
  }
  // A context is of one device, also where it is not told which.
  template <typename Entry>
  static bool IsIt(const Entry& known, uint32_t device, uint32_t context, uint32_t stream) {
    return known.stream == stream && known.context == context &&
           (known.device == device || (device == kNoId && context != kNoId));
  }
  Stream* Find(uint32_t device, uint32_t context, uint32_t stream);
  void NoteDevice(uint32_t device, uint32_t context);
  void GiveUpBuffers(std::vector<const codec::SpanBuffer*>* unused);
  void ForgetOldest();

  ThreadTracks* tracks_;
  std::vector<Known> known_;
  PlaceIndex index_;  // of known_, by KeyOf
  std::vector<std::unique_ptr<Stream>> streams_;
  Stream* last_ = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> devices_;  // context, device
  uint32_t written_ = 0;
  uint64_t forgotten_ = 0;
  bool has_new_ = false;
};

}  // namespace gpuprof::tracer::cupti
