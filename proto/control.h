// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The control protocol between `gpuprof ctl`/`ps` and a process with the injected object.
//
// Unix stream socket, owner only (file mode 0600 in a folder of mode 0700, and the peer's uid is
// checked). One request a connection: one line, a verb and a newline. One answer: lines of
// "key=value", ended by the close of the socket. The first line is "result=ok" or "result=error";
// an error is followed by "error=<cause and fix>". Every answer to every verb carries the status
// keys below, as they are after the verb was carried out. start and stop return when the change is
// complete: after stop returns, the data is in the file. Unknown keys are to be skipped, unknown
// verbs answered with an error.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

inline constexpr char kVerbStatus[] = "status";
inline constexpr char kVerbStart[] = "start";
inline constexpr char kVerbStop[] = "stop";
inline constexpr char kVerbToggle[] = "toggle";
inline constexpr char kVerbSnapshot[] = "snapshot";  // may be followed by a space and a name

inline constexpr char kKeyResult[] = "result";
inline constexpr char kKeyError[] = "error";
inline constexpr char kKeyPid[] = "pid";
inline constexpr char kKeyState[] = "state";        // dormant, armed, capturing, draining, failed
inline constexpr char kKeyCaptures[] = "captures";  // captures begun so far
inline constexpr char kKeyProgram[] = "program";    // base name of the executable
inline constexpr char kKeyBundle[] = "bundle";
inline constexpr char kKeyEvents[] = "events";  // records written so far
inline constexpr char kKeyLost[] = "lost";      // records lost so far, all causes
inline constexpr char kKeySignal[] = "signal";  // number, or 0 for none
inline constexpr char kKeyOps[] = "ops";        // none, active, or the reason why not

inline constexpr char kKeySnapshot[] = "snapshot";  // folder that a snapshot was written to
inline constexpr uint32_t kMostSnapshotName = 64;   // letters, digits, dots, dashes, underscores

// A dormant process that was never asked has no socket. sigqueue() with its signal and this value
// has it open its socket, and the program gets no signal.
inline constexpr uintptr_t kWakeUpValue = 0x67707765;

enum class CaptureState : uint32_t {
  kDormant = 0,  // nothing is recorded; before the first capture there is no thread either
  kArmed = 1,    // a capture will start by itself (delay)
  kCapturing = 2,
  kDraining = 3,  // hooks are off; what was recorded is being written
  kFailed = 4,    // capture is impossible here; the reason was said once and is in the status
};

}  // namespace gpuprof::proto
