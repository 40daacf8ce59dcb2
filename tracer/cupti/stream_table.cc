// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See stream_table.h.

#include "tracer/cupti/stream_table.h"

#include "proto/codec/tables.h"

namespace gpuprof::tracer::cupti {
namespace {

// Those that there are.
template <typename Visit>
void EachBuffer(const Stream& stream, Visit visit) {
  for (const auto& of_table : stream.buffers) {
    for (const codec::SpanBuffer* buffer : of_table) {
      if (buffer != nullptr) visit(buffer);
    }
  }
}

}  // namespace

Stream* StreamTable::Find(uint32_t device, uint32_t context, uint32_t stream) {
  const uint64_t key = KeyOf(context, stream);
  uint32_t at = index_.Find(
      key, [&](uint32_t place) { return IsIt(known_[place], device, context, stream); });
  if (at == PlaceIndex::kNone) {
    at = static_cast<uint32_t>(known_.size());
    known_.push_back({.device = device,
                      .context = context,
                      .stream = stream,
                      .track = tracks_->NewTrack(),
                      .used = written_});
    index_.Add(key, at);
    NoteDevice(device, context);
    has_new_ = true;
  }
  Known& known = known_[at];
  known.used = written_;
  if (known.buffers == 0) {
    streams_.push_back(std::make_unique<Stream>(Stream{.device = known.device,
                                                       .context = known.context,
                                                       .stream = known.stream,
                                                       .track = known.track}));
    known.buffers = static_cast<uint32_t>(streams_.size());
  }
  return last_ = streams_[known.buffers - 1].get();
}

void StreamTable::NoteDevice(uint32_t device, uint32_t context) {
  if (device == kNoId || context == kNoId || DeviceOf(context) != kNoId) return;
  if (devices_.size() < DeviceRecords::kMostContexts) devices_.emplace_back(context, device);
}

uint32_t StreamTable::DeviceOf(uint32_t context) const {
  for (const auto& [known, device] : devices_) {
    if (known == context) return device;
  }
  return kNoId;
}

// A stream of which there are no rows is not worth a track.
void StreamTable::Renew(uint32_t context, uint32_t stream) {
  index_.Find(KeyOf(context, stream), [&](uint32_t place) {
    Known& known = known_[place];
    if (known.context == context && known.stream == stream) {
      known.is_taken = false;
      has_new_ = true;
    }
    return false;  // there may be another, of a device that was not told
  });
}

uint32_t StreamTable::Take(const DeviceRecords& devices, std::vector<uint8_t>* out) {
  if (!has_new_) return 0;
  has_new_ = false;
  codec::PbWriter writer(out);
  uint32_t count = 0;
  for (Known& stream : known_) {
    if (stream.is_taken) continue;
    stream.is_taken = true;
    ++count;
    const uint64_t mark = writer.Begin(1);
    writer.Varint(1, stream.track);
    writer.Varint(2, stream.device);
    writer.Varint(3, stream.context);
    writer.Varint(4, stream.stream);
    if (const auto* told = devices.Find(stream.context, stream.stream)) {
      if (told->is_described) {
        writer.Signed(5, told->priority);
        writer.Varint(6, told->flag);
        writer.Varint(7, 1);
      }
      if (told->handle != 0) {
        writer.Varint(8, told->handle);
        writer.Fixed64(9, told->handle_since);
      }
    }
    writer.End(mark);
  }
  return count;
}

void StreamTable::RowsAreWritten(std::vector<const codec::SpanBuffer*>* unused) {
  last_ = nullptr;  // the next use is noted
  if (streams_.size() > kManyWithBuffers) GiveUpBuffers(unused);
  if (known_.size() > kMostKnown) ForgetOldest();
  ++written_;
}

// Of all, also those that have work soon: with so many, a few records each, to make buffers anew is
// the smaller part of what they cost.
void StreamTable::GiveUpBuffers(std::vector<const codec::SpanBuffer*>* unused) {
  for (const auto& stream : streams_) {
    EachBuffer(*stream, [unused](const codec::SpanBuffer* buffer) { unused->push_back(buffer); });
  }
  std::vector<std::unique_ptr<Stream>>().swap(streams_);
  for (Known& known : known_) known.buffers = 0;
}

// Not those with work since rows were written the last time before this.
void StreamTable::ForgetOldest() {
  const uint32_t old = MedianUse(known_);
  const size_t before = known_.size();
  std::erase_if(known_, [&](const Known& known) {
    return known.used <= old && known.used != written_ && known.is_taken && known.buffers == 0;
  });
  forgotten_ += before - known_.size();
  index_.Clear();
  for (uint32_t i = 0; i < known_.size(); ++i)
    index_.Add(KeyOf(known_[i].context, known_[i].stream), i);
}

uint64_t StreamTable::memory_bytes() const {
  return known_.capacity() * sizeof(Known) + index_.memory_bytes() +
         streams_.size() * sizeof(Stream) + streams_.capacity() * sizeof(streams_[0]);
}

}  // namespace gpuprof::tracer::cupti
