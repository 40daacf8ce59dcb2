// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Segments of a flight recorder: while a process lives, its events go into a row of trace files
// <stem>.<number>.seg of which only the newest are kept; what events refer to (strings, stacks,
// modules, the process's identity) goes into <stem>.gpt and stays. To finish the trace, the blocks
// of the segments are moved behind those of the .gpt, oldest first.
//
// Used by the tracer inside a foreign process and by recovery: no exceptions, one thread at a time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {

// "<stem>.<8 hex digits>.seg" into `path`, which has room for `capacity` bytes. False: too long.
bool SegmentPath(const char* stem, uint32_t number, char* path, uint64_t capacity);

inline constexpr uint64_t kWholeFile = ~uint64_t{0} >> 1;

// How far CopyBlocks came: to the end; to a block that is torn, damaged or cannot be read, or to an
// end before `limit`; to one that could not be written.
enum class CopyResult { kWhole, kCutShort, kNotWritten };

// Appends the whole blocks among the first `limit` bytes of the trace file open as `fd` to `to`,
// but for the first `skip` of them. Stops at the first that is torn.
CopyResult CopyBlocks(int fd, uint64_t limit, uint64_t skip, TraceWriter* to);

// The latest time of any event in the trace file, on each of the two clocks; 0: there is none.
struct LastTimes {
  uint64_t ticks = 0;
  uint64_t cupti_ns = 0;
};
LastTimes LastEventTimes(int fd);

// A Meta message that says that events up to `ticks` were let go: what is later is complete. Each
// segment begins with one once there is something to tell.
void AppendKeptFrom(uint64_t ticks, std::vector<uint8_t>* message);

// For the files of a dead process: moves the segments at `stem` into its trace and removes them.
// Killed at any point, it goes on where it was when called again. `blocks`: so many the trace had
// itself; where it has fewer now there is a hole. True if there are no segments; false: `error`
// says why, and nothing is lost.
bool JoinSegments(const std::string& stem, uint64_t blocks, std::string* error);
// Their paths, oldest first.
std::vector<std::string> ListSegments(const std::string& stem);
inline bool HasSegments(const std::string& stem) { return !ListSegments(stem).empty(); }
// What is wrong with the segments of a dead process, in words; empty: nothing, or there are none.
// Changes nothing.
std::string CheckSegments(const std::string& stem);

}  // namespace gpuprof::codec
