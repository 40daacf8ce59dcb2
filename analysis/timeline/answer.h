// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A question to the timeline as a text, and its answer as bytes: for HTTP, and for a worker that
// has the engine.
//
// A question is an object of JSON. `ask` names it:
//   {"ask":"info"}
//   {"ask":"spans","tracks":[0,3],"start_ns":0,"end_ns":1e9,"ns_per_px":1000}
//   {"ask":"counter","track":1,"start_ns":0,"end_ns":1e9,"ns_per_px":1000}
//   {"ask":"event","track":0,"row":17}
//   {"ask":"search","text":"gemm","limit":100}
//   {"ask":"at","track":0,"time_ns":12345}
//   {"ask":"range","kind":"stream","start_ns":0,"end_ns":1e9}
//   {"ask":"calls","start_ns":0,"end_ns":1e9}
//   {"ask":"gaps","start_ns":0,"end_ns":1e9}
// The last three may have lists: "processes", "devices", "tracks". Any of them may have
// "rough":true: it is a question to the timeline of blocks (page_timeline.h). Other members are
// ignored.
//
// An answer is JSON, or it has arrays. Then it begins with the four bytes "GTA1" and the length of
// a JSON header as 32 bits. The header is filled up with blanks to a multiple of 8 bytes. Behind it
// the arrays follow, each at a multiple of 8 bytes from the begin of the answer, with blanks of
// zero between them. In the header {"type":"f64","at":64,"length":7} stands for an array of seven
// doubles, 64 bytes behind the header. Types are f64, u32 and u8. All numbers are little-endian.
// Members have the names of viewer/src/trace/api.ts.
//
// One thread at a time for one timeline.

#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/timeline/timeline.h"

namespace gpuprof::analysis::timeline {

// Answers a question. A text that does not ask a question is an error, and so is a question that
// cannot be answered. Then `answer` is untouched.
Error Answer(Timeline* timeline, std::string_view question, std::string* answer);

// Returns whether a text asks which tracks there are.
bool AsksForInfo(std::string_view question);

// Returns whether a text asks the timeline of blocks.
bool AsksRoughly(std::string_view question);

}  // namespace gpuprof::analysis::timeline
