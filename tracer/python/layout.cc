// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/layout.h"

#include <cstddef>
#include <cstring>

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kOldest = 0x0308, kNewest = 0x030e;

PythonLayout Of38() {
  PythonLayout at = {};
  at.interpreters = 32;
  at.gil = 1152;
  at.threads = 8;
  at.gil_holder = 8;
  at.gil_locked = 16;
  at.next_thread = 8;
  at.pthread = 176;
  at.frame = 24;
  at.frame_bytes = 120;
  at.code = 32;
  at.caller = 24;
  at.instruction = 104;
  at.has_index = true;
  at.unit = 1;
  at.file_name = 104;
  at.name = 112;
  at.lines = 120;
  at.first_line = 40;
  at.line_format = LineFormat::kPairs;
  at.ascii_bytes = 48;
  at.compact_bytes = 72;
  return at;
}

PythonLayout Of39() {
  PythonLayout at = Of38();
  at.gil = 352;
  return at;
}

PythonLayout Of310() {
  PythonLayout at = Of39();
  at.instruction = 96;
  at.unit = 2;
  at.line_format = LineFormat::kRanges;
  return at;
}

PythonLayout Of311() {
  PythonLayout at = Of39();
  at.interpreters = 40;
  at.gil = 360;
  at.threads = 16;
  at.pthread = 152;
  at.thread_number = 160;
  at.frame = 56;
  at.has_cframe = true;
  at.cframe_frame = 8;
  at.frame_bytes = 72;
  at.code = 32;
  at.caller = 48;
  at.instruction = 56;
  at.has_index = false;
  at.file_name = 112;
  at.name = 128;
  at.lines = 136;
  at.first_line = 72;
  at.code_units = 184;
  at.line_format = LineFormat::kLocations;
  return at;
}

PythonLayout Of312() {
  PythonLayout at = Of311();
  at.gil = 0;
  at.gil_pointer = 384;
  at.threads = 72;
  at.pthread = 136;
  at.thread_number = 144;
  at.cframe_frame = 0;
  at.code = 0;
  at.caller = 8;
  at.owner = 70;
  at.native_owner = 3;
  at.first_line = 68;
  at.code_units = 192;
  at.ascii_bytes = 40;
  at.compact_bytes = 56;
  return at;
}

PythonLayout Of313() {
  PythonLayout at = Of312();
  at.interpreters = 632;
  at.next_interpreter = 7264;
  at.threads = 7344;
  at.gil_pointer = 16;
  at.pthread = 152;
  at.thread_number = 160;
  at.frame = 72;
  at.has_cframe = false;
  at.code_units = 200;
  return at;
}

PythonLayout Of314() {
  PythonLayout at = Of313();
  at.interpreters = 808;
  at.next_interpreter = 7272;
  at.frame_bytes = 80;
  at.owner = 74;
  at.code_tags = 3;  // how the frame counts its reference
  at.code_units = 208;
  return at;
}

struct Word {
  uint32_t place;  // in words
  uint32_t PythonLayout::*value;
};

// What an interpreter says of itself: words of _Py_DebugOffsets.
constexpr Word kWords313[] = {
    {5, &PythonLayout::interpreters}, {8, &PythonLayout::next_interpreter},
    {9, &PythonLayout::threads},      {14, &PythonLayout::gil_pointer},
    {21, &PythonLayout::next_thread}, {23, &PythonLayout::frame},
    {24, &PythonLayout::pthread},     {25, &PythonLayout::thread_number},
    {29, &PythonLayout::caller},      {30, &PythonLayout::code},
    {31, &PythonLayout::instruction}, {33, &PythonLayout::owner},
    {35, &PythonLayout::file_name},   {37, &PythonLayout::name},
    {38, &PythonLayout::lines},       {39, &PythonLayout::first_line},
    {43, &PythonLayout::code_units}};
constexpr Word kWords314[] = {
    {5, &PythonLayout::interpreters}, {8, &PythonLayout::next_interpreter},
    {9, &PythonLayout::threads},      {15, &PythonLayout::gil_pointer},
    {24, &PythonLayout::next_thread}, {26, &PythonLayout::frame},
    {27, &PythonLayout::pthread},     {28, &PythonLayout::thread_number},
    {32, &PythonLayout::caller},      {33, &PythonLayout::code},
    {34, &PythonLayout::instruction}, {36, &PythonLayout::owner},
    {40, &PythonLayout::file_name},   {42, &PythonLayout::name},
    {43, &PythonLayout::lines},       {44, &PythonLayout::first_line},
    {48, &PythonLayout::code_units}};

template <size_t kCount>
void TakeOffsets(const Word (&words)[kCount], const uint8_t* offsets, PythonLayout* at) {
  for (const Word& word : words) {
    uint64_t value = 0;
    std::memcpy(&value, offsets + word.place * sizeof(value), sizeof(value));
    at->*word.value = static_cast<uint32_t>(value);
  }
}

// Returns whether the offsets are those of this version, and of no early release: their order
// changed until the first candidate.
bool HasKnownOffsets(uint32_t version, const uint8_t* offsets) {
  uint64_t release = 0;
  std::memcpy(&release, offsets + 8, sizeof(release));
  constexpr uint32_t kCandidate = 0xc;
  return std::memcmp(offsets, "xdebugpy", 8) == 0 && release >> 16 == version &&
         (release >> 4 & 0xf) >= kCandidate;
}

// Returns whether what is read of a frame and of a code object lies in its first bytes.
bool Fits(const PythonLayout& at) {
  constexpr uint32_t kMost = kCodeBytes - 8;
  return at.file_name <= kMost && at.name <= kMost && at.lines <= kMost && at.first_line <= kMost &&
         at.owner < at.frame_bytes && at.instruction + 8 <= at.frame_bytes;
}

}  // namespace

const char* LayoutOf(uint32_t version, const uint8_t* offsets, PythonLayout* layout) {
  constexpr const char* kUnknown = "no Python samples: this version of Python is not known";
  if (version < kOldest || version > kNewest) return kUnknown;
  constexpr PythonLayout (*kLayouts[])() = {Of38, Of39, Of310, Of311, Of312, Of313, Of314};
  *layout = kLayouts[version - kOldest]();
  if (version < 0x030d) return nullptr;
  if (!HasKnownOffsets(version, offsets)) return kUnknown;
  if (offsets[16] != 0) return "no Python samples: this Python has no global interpreter lock";
  if (version == 0x030d) {
    TakeOffsets(kWords313, offsets, layout);
  } else {
    TakeOffsets(kWords314, offsets, layout);
  }
  return Fits(*layout) ? nullptr : kUnknown;
}

}  // namespace gpuprof::tracer
