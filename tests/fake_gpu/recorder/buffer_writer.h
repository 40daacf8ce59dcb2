// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a recording (buffer_file.h) while the program runs. Any thread, one after the other by a
// lock; a forked child's copy writes nothing. Whatever was not ended by End is no recording.

#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "tests/fake_gpu/recorder/buffer_file.h"

namespace fake_gpu_recorder {

// As cuptiActivityGetNextRecord.
using NextRecord = int (*)(uint8_t* buffer, size_t valid, uint8_t** record);

class BufferWriter {
 public:
  // The file must not be there: a second process that is told the same name appends its number.
  // False: errno.
  bool Open(const char* path, uint32_t version);
  void WriteAbout(const char* text);
  void WriteClock(const Clock& clock);
  // One that CUPTI has completed, before anything happens to it.
  void WriteBuffer(uint8_t* bytes, size_t room, size_t valid, NextRecord next);
  // What comes later is left out. Returns whether everything could be written.
  bool WriteEnd(uint64_t dropped, uint32_t flags);

  const char* path() const { return path_; }

 private:
  struct Scratch;
  struct Part {
    const void* bytes;
    size_t count;
  };
  struct Known {
    uint64_t hash;
    uint32_t number;
  };

  bool IsOurs() const;
  void Put(const void* bytes, size_t count);
  void WriteBlock(BlockType type, const Part* parts, size_t count);
  template <typename T>
  void WriteWhole(BlockType type, const T& content);
  uint32_t NumberOf(const char* data, size_t count);
  void TakePointers(const uint8_t* bytes, uint32_t offset, uint32_t length, Scratch* scratch);
  bool Walk(uint8_t* bytes, size_t valid, NextRecord next, Scratch* scratch);

  static constexpr size_t kMostText = 256 << 10;
  static constexpr size_t kMostKnown = 1 << 16;  // beyond it data is written each time

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  int descriptor_ = -1;
  pid_t owner_ = 0;
  bool failed_ = false;
  bool ended_ = false;
  End end_ = {};
  char path_[4096] = {};
  char text_[kMostText] = {};
  Known known_[kMostKnown] = {};  // by hash; a hash of 0 is a free place
};

}  // namespace fake_gpu_recorder
