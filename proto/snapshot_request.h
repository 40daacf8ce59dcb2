// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the injected object asks the tracer for a snapshot (tracer::Api::snapshot), and how a
// snapshot tells its reason. Pure; any thread.
//
// The request is a text of two lines. The first is the snapshot's name. Empty: the snapshot is
// named by its cause, or by the time. The second has SnapshotNumber's numbers, decimal, with a
// space between. Numbers that are missing are 0.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

// What took a snapshot.
enum class SnapshotCause : uint64_t {
  kAsked = 0,  // a signal or a request
  kSlowStep = 1,
  kStall = 2,
};

enum SnapshotNumber : int {
  kKeepSnapshots,     // the process keeps so many; 0: all
  kSnapshotCause,     // SnapshotCause
  kSnapshotStep,      // the slow one, or the last one that ended
  kSnapshotNs,        // how long it took, or how long no step has ended
  kSnapshotMedianNs,  // of the steps before
  kMissedTriggers,    // since the last snapshot: those that took none
  kSnapshotNumbers
};
using SnapshotNumbers = uint64_t[kSnapshotNumbers];

// The trigger of the mark that ends a snapshot's last capture (trace.proto's CaptureMark). With a
// reason: kSnapshotMark, kReasonMark and the reason in words.
inline constexpr char kSnapshotMark[] = "snapshot";
inline constexpr char kReasonMark[] = ": ";

// How snapshots of triggers are named.
inline constexpr char kSlowStepName[] = "step-";
inline constexpr char kStallName[] = "stall-after-step-";
inline constexpr char kFailedExitName[] = "exit-";

}  // namespace gpuprof::proto
