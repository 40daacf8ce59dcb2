// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why a snapshot is taken (proto/snapshot_request.h): the request read, and the reason in words.
// Pure; any thread.

#pragma once

#include <cstdint>

#include "proto/control.h"
#include "proto/snapshot_request.h"

namespace gpuprof::tracer {

struct NamedRequest {
  char name[proto::kMostSnapshotName + 1];
  proto::SnapshotNumbers numbers;
};

// Reads the text of a request of process `pid`. A name that is too long is cut. What a trigger
// takes gets a name by it.
NamedRequest ReadSnapshotRequest(const char* text, int pid);

// Writes the reason, for example "step 412 took 1.90 s, 4.1 times the median of 463 ms". Empty:
// somebody asked for the snapshot.
void ReasonWords(const proto::SnapshotNumbers& numbers, char* words, uint32_t bytes);

}  // namespace gpuprof::tracer
