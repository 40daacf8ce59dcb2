// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where CPython keeps what the sampler reads: offsets in bytes, by version. From 3.13 on the
// interpreter tells most of them itself (_Py_DebugOffsets, the head of _PyRuntime). Those of older
// versions were printed by a program that includes CPython's own headers. They are the same in all
// releases of a minor version.
//
// Plain data. Any thread.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// How a code object says which line an instruction is of.
enum class LineFormat : uint8_t {
  kPairs,      // to 3.9: bytes of code, signed lines
  kRanges,     // 3.10: the same with lines that are none
  kLocations,  // from 3.11: entries of several forms
};

struct PythonLayout {
  // _PyRuntime.
  uint32_t interpreters;
  uint32_t gil;  // in _PyRuntime; 0: each interpreter has a pointer to its own
  // PyInterpreterState.
  uint32_t next_interpreter;
  uint32_t threads;
  uint32_t gil_pointer;
  // The global interpreter lock.
  uint32_t gil_holder;  // PyThreadState of the last one that had it
  uint32_t gil_locked;  // int
  // PyThreadState.
  uint32_t next_thread;
  uint32_t pthread;
  uint32_t thread_number;  // the system's; 0: only pthread is known
  uint32_t frame;          // or, with cframe_frame, a pointer to what has the frame
  bool has_cframe;
  uint32_t cframe_frame;
  // The frame.
  uint32_t frame_bytes;
  uint32_t code;
  uint32_t caller;
  uint32_t instruction;
  bool has_index;        // `instruction` is an int: an index, of units of `unit` bytes
  uint8_t unit;          //
  uint32_t owner;        // a byte; 0: there is none
  uint8_t native_owner;  // of frames that stand for native code: this or more
  uint8_t code_tags;     // bits of the pointer to the code object that are none of its address
  // PyCodeObject.
  uint32_t file_name;
  uint32_t name;
  uint32_t lines;
  uint32_t first_line;
  uint32_t code_units;  // where the instructions begin
  LineFormat line_format;
  // str and bytes.
  uint32_t ascii_bytes;
  uint32_t compact_bytes;
};

// The same in all versions with a lock.
inline constexpr uint32_t kPythonType = 8;  // PyObject.ob_type
inline constexpr uint32_t kTextLength = 16;
inline constexpr uint32_t kTextState = 32;
inline constexpr uint32_t kBytesSize = 16;
inline constexpr uint32_t kBytesData = 32;
// What of a code object is read.
inline constexpr uint32_t kCodeBytes = 144;
// Bytes of the head of _PyRuntime, in 3.13; later versions have more.
inline constexpr uint32_t kDebugOffsetsBytes = 632;

// Sets the layout of a version, as in PY_VERSION_HEX >> 16: 0x030b. `offsets`: the first
// kDebugOffsetsBytes of _PyRuntime. Returns null, or why there are no samples.
const char* LayoutOf(uint32_t version, const uint8_t* offsets, PythonLayout* layout);

}  // namespace gpuprof::tracer
