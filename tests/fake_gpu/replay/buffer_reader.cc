// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/replay/buffer_reader.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include "tests/fake_gpu/recorder/buffer_file.h"

namespace fake_gpu_replay {
namespace {

using fake_gpu::Playback;
using fake_gpu::PlayedBuffer;
using fake_gpu_recorder::BlockHeader;
using fake_gpu_recorder::BufferHeader;
using fake_gpu_recorder::Clock;
using fake_gpu_recorder::End;
using fake_gpu_recorder::FileHeader;
using fake_gpu_recorder::Pointer;

constexpr uint64_t kMostBlockBytes = uint64_t{256} << 20;

struct Closer {
  void operator()(FILE* file) const { fclose(file); }
};

bool ReadBytes(FILE* file, void* to, size_t bytes) { return fread(to, 1, bytes, file) == bytes; }

// Takes from the front; false: there is less.
class Content {
 public:
  explicit Content(const std::vector<uint8_t>& bytes) : at_(bytes.data()), left_(bytes.size()) {}

  bool Take(void* to, size_t bytes) {
    if (bytes > left_) return false;
    if (bytes != 0) memcpy(to, at_, bytes);
    at_ += bytes;
    left_ -= bytes;
    return true;
  }
  template <typename T>
  bool Take(T* to) {
    static_assert(std::is_trivially_copyable_v<T>);
    return Take(to, sizeof *to);
  }
  template <typename T>
  bool Take(std::vector<T>* to, size_t count) {
    if (count > left_ / sizeof(T)) return false;
    to->resize(count);
    return Take(to->data(), count * sizeof(T));
  }
  bool is_empty() const { return left_ == 0; }

 private:
  const uint8_t* at_;
  size_t left_;
};

// Records fill the buffer; an address lies inside of one record, behind the one before.
bool IsSound(const PlayedBuffer& buffer, const std::vector<Pointer>& pointers, size_t data) {
  uint64_t end = 0;
  size_t next = 0;
  for (const uint32_t length : buffer.lengths) {
    if (length < sizeof(uint32_t)) return false;
    uint64_t least = end;
    end += length;
    for (; next < pointers.size() && pointers[next].offset < end; ++next) {
      const Pointer& pointer = pointers[next];
      if (pointer.offset < least || pointer.offset + sizeof(uint64_t) > end ||
          pointer.data >= data ||
          (pointer.type != fake_gpu_recorder::kText && pointer.type != fake_gpu_recorder::kOwned)) {
        return false;
      }
      least = pointer.offset + sizeof(uint64_t);
    }
  }
  return next == pointers.size() && end == buffer.bytes.size();
}

const char* TakeBuffer(Content* content, Playback* playback) {
  BufferHeader header;
  PlayedBuffer& buffer = playback->buffers.emplace_back();
  std::vector<Pointer> pointers;
  if (!content->Take(&header) || !content->Take(&buffer.lengths, header.records) ||
      !content->Take(&pointers, header.pointers) || !content->Take(&buffer.bytes, header.valid) ||
      !content->is_empty() || !IsSound(buffer, pointers, playback->data.size())) {
    return "has a buffer that means nothing";
  }
  for (const Pointer& pointer : pointers)
    buffer.pointers.push_back(
        {pointer.offset, pointer.data, pointer.type == fake_gpu_recorder::kOwned});
  return nullptr;
}

const char* TakeEnd(Content* content, Playback* playback) {
  End end;
  if (!content->Take(&end) || !content->is_empty()) return "has an end that means nothing";
  if (end.version != playback->version) return "tells two versions of CUPTI";
  if (end.buffers != playback->buffers.size() || end.data != playback->data.size())
    return "lacks something of its middle";
  playback->dropped = end.dropped;
  return playback->end_time != 0 ? nullptr : "does not tell CUPTI's time";
}

const char* TakeBlock(uint32_t type, const std::vector<uint8_t>& bytes, Playback* playback) {
  Content content(bytes);
  Clock clock;
  switch (type) {
    case fake_gpu_recorder::kAbout:
      return nullptr;
    case fake_gpu_recorder::kData:
      playback->data.emplace_back(bytes.begin(), bytes.end());
      return nullptr;
    case fake_gpu_recorder::kBuffer:
      return TakeBuffer(&content, playback);
    case fake_gpu_recorder::kClock:
      if (!content.Take(&clock) || !content.is_empty()) return "has a clock that means nothing";
      playback->end_time = clock.cupti;
      return nullptr;
    case fake_gpu_recorder::kEnd:
      return TakeEnd(&content, playback);
    default:
      return "has a block of an unknown type";
  }
}

const char* ReadHeader(FILE* file, Playback* playback) {
  FileHeader header;
  if (!ReadBytes(file, &header, sizeof header) ||
      memcmp(header.magic, fake_gpu_recorder::kMagic, sizeof fake_gpu_recorder::kMagic) != 0) {
    return "is no recording of CUPTI's buffers";
  }
  if (header.format != fake_gpu_recorder::kFormat)
    return "is of another format than this program reads";
  playback->version = header.version;
  return nullptr;
}

}  // namespace

const char* ReadBuffers(const char* path, Playback* playback) {
  const std::unique_ptr<FILE, Closer> file(fopen(path, "rb"));
  if (file == nullptr) return "cannot be opened";
  if (const char* wrong = ReadHeader(file.get(), playback)) return wrong;
  BlockHeader header = {};
  while (header.type != fake_gpu_recorder::kEnd) {
    if (!ReadBytes(file.get(), &header, sizeof header))
      return "has no end: its program was killed, or it was cut";
    if (header.bytes > kMostBlockBytes) return "is damaged: a block is too large";
    std::vector<uint8_t> bytes(header.bytes);
    if (!ReadBytes(file.get(), bytes.data(), bytes.size()))
      return "has no end: its program was killed, or it was cut";
    const uint32_t check = fake_gpu_recorder::CheckOf(&header.type, sizeof header.type);
    if (fake_gpu_recorder::CheckOf(bytes.data(), bytes.size(), check) != header.check)
      return "is damaged: a block is not what was written";
    if (const char* wrong = TakeBlock(header.type, bytes, playback)) return wrong;
  }
  return fgetc(file.get()) == EOF ? nullptr : "goes on behind its end";
}

}  // namespace fake_gpu_replay
