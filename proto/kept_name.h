// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a long name is kept: its beginning, and in place of the rest a mark and a hash of the whole,
// so that two names that begin alike stay two. Any thread, hooks; no allocation.

#pragma once

#include <string.h>

#include <cstdint>

namespace gpuprof::proto {

inline constexpr uint32_t kMostNameBytes = 1024;
// Of the name that the hash looks at.
inline constexpr uint32_t kMostHashedBytes = 64 * 1024;

// `name` itself where it is short enough, else `room` with the name as it is kept. No zero behind
// it.
inline const char* KeptName(const char* name, uint32_t* bytes,
                            char (&room)[kMostNameBytes]) noexcept {
  *bytes = static_cast<uint32_t>(strnlen(name, kMostNameBytes));
  if (*bytes < kMostNameBytes || name[kMostNameBytes] == 0) return name;
  // "...#" in one character and its sign, and 16 digits.
  constexpr char kMark[] = "\xe2\x80\xa6#";
  constexpr uint32_t kMarkBytes = sizeof(kMark) - 1, kDigits = 16;
  uint32_t kept = kMostNameBytes - kMarkBytes - kDigits;
  constexpr uint8_t kContinues = 0x80, kContinuesMask = 0xc0;
  for (int i = 0; i < 3 && (static_cast<uint8_t>(name[kept]) & kContinuesMask) == kContinues; ++i)
    --kept;
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < kMostHashedBytes && name[i] != 0; ++i)
    hash = (hash ^ static_cast<uint8_t>(name[i])) * 0x100000001b3u;
  memcpy(room, name, kept);
  memcpy(room + kept, kMark, kMarkBytes);
  for (uint32_t i = 0; i < kDigits; ++i)
    room[kept + kMarkBytes + i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
  *bytes = kept + kMarkBytes + kDigits;
  return room;
}

}  // namespace gpuprof::proto
