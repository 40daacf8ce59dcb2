// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The messages of TensorFlow's ProfilerService, as far as both ends here need them, under the
// numbers of the public format. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/agent/body.h"

namespace gpuprof::launcher {

inline constexpr char kProfileMethod[] = "/tensorflow.ProfilerService/Profile";
inline constexpr char kMonitorMethod[] = "/tensorflow.ProfilerService/Monitor";
inline constexpr char kStartContinuousMethod[] =
    "/tensorflow.ProfilerService/StartContinuousProfiling";
inline constexpr char kStopContinuousMethod[] =
    "/tensorflow.ProfilerService/StopContinuousProfiling";
inline constexpr char kGetSnapshotMethod[] = "/tensorflow.ProfilerService/GetSnapshot";

// The name of a trace among the data of an answer. TensorBoard finds files by it.
inline constexpr char kXPlaneName[] = "xplane.pb";

struct ProfileRequest {
  uint64_t duration_ms = 0;
  uint64_t start_timestamp_ns = 0;  // by CLOCK_REALTIME; 0: at once
  std::string session_id;
  std::string host_name;        // as the client calls the server
  std::string repository_root;  // where the client writes runs
};
// Reads a request. Returns empty, or what is wrong.
std::string ReadProfileRequest(std::string_view message, ProfileRequest* request);
// Writes a request as TensorFlow's client does, which also asks for the trace in the answer.
std::string WriteProfileRequest(const ProfileRequest& request);

struct MonitorRequest {
  uint64_t duration_ms = 0;
  uint64_t level = 0;
  bool has_timestamp = false;
};
std::string ReadMonitorRequest(std::string_view message, MonitorRequest* request);
std::string WriteMonitorAnswer(std::string_view words);

// A trace in an answer: the name behind the host's, and the bytes.
using NamedTrace = std::pair<std::string, Body>;
// Makes the answer of Profile of traces. They go as data of tools: clients drop the field that is
// called xspace.
Body MakeProfileAnswer(std::vector<NamedTrace> traces);
// Makes the answer of GetSnapshot, whose clients take the field xspace.
Body MakeSnapshotAnswer(Body trace);

// Fields of an answer that hold a trace, for the other end.
inline constexpr uint32_t kToolDataField = 6, kEmptyTraceField = 7, kXSpaceField = 8;
inline constexpr uint32_t kToolNameField = 1, kToolBytesField = 2;

// Makes a small XSpace that tells people why there is no trace, or what is missing in one. It shows
// the words where XProf shows errors and warnings, and as a row of the host's timeline.
struct SpaceWords {
  std::vector<std::string> errors, warnings;
};
std::string MakeSpaceOfWords(const SpaceWords& words, std::string_view host, int64_t now_ns);
// Makes the fields that add words to an XSpace that follows.
std::string MakeSpaceNotes(const SpaceWords& words);

}  // namespace gpuprof::launcher
