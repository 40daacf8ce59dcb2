// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/recorder/buffer_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake_gpu/recorder/pointers.h"

namespace fake_gpu_recorder {
namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t* mutex) : mutex_(mutex) { pthread_mutex_lock(mutex_); }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t* mutex_;
};

// 64-bit FNV-1a: data of one hash is taken for one.
uint64_t HashOf(const char* data, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<uint8_t>(data[i])) * 1099511628211u;
  return hash == 0 ? 1 : hash;
}

}  // namespace

// Of one buffer: what was found in it. A record is four bytes at least.
struct BufferWriter::Scratch {
  explicit Scratch(size_t valid)
      : lengths(static_cast<uint32_t*>(malloc(valid + sizeof(uint32_t)))),
        most_pointers(valid / sizeof(uint64_t)),
        pointers(static_cast<Pointer*>(malloc((most_pointers + 1) * sizeof(Pointer)))) {}
  ~Scratch() {
    free(lengths);
    free(pointers);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  uint32_t* const lengths;
  const size_t most_pointers;
  Pointer* const pointers;
  uint32_t record_count = 0;
  uint32_t pointer_count = 0;
};

bool BufferWriter::Open(const char* path, uint32_t version) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  owner_ = getpid();
  snprintf(path_, sizeof path_, "%s", path);
  descriptor_ = open(path_, kFlags, 0644);
  if (descriptor_ < 0 && errno == EEXIST) {
    snprintf(path_, sizeof path_, "%s.%d", path, owner_);
    descriptor_ = open(path_, kFlags, 0644);
  }
  if (descriptor_ < 0) return false;
  FileHeader header = {};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.version = version;
  end_.version = version;
  Put(&header, sizeof header);
  return true;
}

bool BufferWriter::IsOurs() const { return descriptor_ >= 0 && !ended_ && getpid() == owner_; }

void BufferWriter::Put(const void* bytes, size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count != 0 && !failed_) {
    const ssize_t written = write(descriptor_, at, count);
    if (written < 0 && errno == EINTR) continue;
    failed_ = written <= 0;
    if (failed_) return;
    at += written;
    count -= static_cast<size_t>(written);
  }
}

void BufferWriter::WriteBlock(BlockType type, const Part* parts, size_t count) {
  BlockHeader header = {type, 0, 0};
  header.check = CheckOf(&header.type, sizeof header.type);
  for (size_t i = 0; i < count; ++i) {
    header.check = CheckOf(parts[i].bytes, parts[i].count, header.check);
    header.bytes += parts[i].count;
  }
  Put(&header, sizeof header);
  for (size_t i = 0; i < count; ++i) Put(parts[i].bytes, parts[i].count);
}

template <typename T>
void BufferWriter::WriteWhole(BlockType type, const T& content) {
  const Part part = {&content, sizeof content};
  WriteBlock(type, &part, 1);
}

void BufferWriter::WriteAbout(const char* text) {
  const Lock lock(&mutex_);
  if (!IsOurs()) return;
  const Part part = {text, strlen(text)};
  WriteBlock(kAbout, &part, 1);
}

void BufferWriter::WriteClock(const Clock& clock) {
  const Lock lock(&mutex_);
  if (IsOurs()) WriteWhole(kClock, clock);
}

uint32_t BufferWriter::NumberOf(const char* data, size_t count) {
  constexpr size_t kMostTries = 64;
  const uint64_t hash = HashOf(data, count);
  for (size_t i = 0; i < kMostTries; ++i) {
    Known& known = known_[(hash + i) % kMostKnown];
    if (known.hash == hash) return known.number;
    if (known.hash != 0) continue;
    known = {hash, end_.data};
    break;
  }
  const Part part = {data, count};
  WriteBlock(kData, &part, 1);
  return end_.data++;
}

void BufferWriter::TakePointers(const uint8_t* bytes, uint32_t offset, uint32_t length,
                                Scratch* scratch) {
  Field fields[kMostFields];
  const size_t count = FieldsOf(bytes + offset, length, fields);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = offset + fields[i].offset;
    uint64_t address;
    memcpy(&address, bytes + at, sizeof address);
    const long found = ReadData(address, fields[i].type, text_, sizeof text_);
    if (found < 0) {
      ++end_.unsafe;
    } else if (scratch->pointer_count < scratch->most_pointers) {
      scratch->pointers[scratch->pointer_count++] = {
          at, NumberOf(text_, static_cast<size_t>(found)), fields[i].type};
    }
  }
}

// A record ends where the next one begins, the last one where the buffer does.
bool BufferWriter::Walk(uint8_t* bytes, size_t valid, NextRecord next, Scratch* scratch) {
  if (scratch->lengths == nullptr || scratch->pointers == nullptr) return false;
  uint8_t* record = nullptr;
  if (next(bytes, valid, &record) != 0) return false;
  for (bool more = true; more;) {
    uint8_t* following = record;
    more = next(bytes, valid, &following) == 0;
    const uint8_t* end = more ? following : bytes + valid;
    if (end < record + sizeof(uint32_t) || end > bytes + valid) return false;
    const auto length = static_cast<uint32_t>(end - record);
    scratch->lengths[scratch->record_count++] = length;
    TakePointers(bytes, static_cast<uint32_t>(record - bytes), length, scratch);
    record = following;
  }
  return true;
}

void BufferWriter::WriteBuffer(uint8_t* bytes, size_t room, size_t valid, NextRecord next) {
  const Lock lock(&mutex_);
  if (!IsOurs() || valid == 0) return;
  Scratch scratch(valid);
  if (!Walk(bytes, valid, next, &scratch)) {
    ++end_.unread;
    return;
  }
  const BufferHeader header = {static_cast<uint32_t>(valid), static_cast<uint32_t>(room),
                               scratch.record_count, scratch.pointer_count};
  const Part parts[] = {{&header, sizeof header},
                        {scratch.lengths, scratch.record_count * sizeof(uint32_t)},
                        {scratch.pointers, scratch.pointer_count * sizeof(Pointer)},
                        {bytes, valid}};
  WriteBlock(kBuffer, parts, sizeof parts / sizeof parts[0]);
  ++end_.buffers;
}

bool BufferWriter::WriteEnd(uint64_t dropped, uint32_t flags) {
  const Lock lock(&mutex_);
  if (!IsOurs()) return true;
  end_.dropped = dropped;
  end_.flags = flags;
  WriteWhole(kEnd, end_);
  ended_ = true;
  return close(descriptor_) == 0 && !failed_;
}

}  // namespace fake_gpu_recorder
