// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words about the job whose ranks a bundle holds. Any thread.

#pragma once

#include <string>

#include "proto/bundle.pb.h"

namespace gpuprof::analysis {

// Returns "Slurm 17.0, 3 of its 4 ranks", or "" without a job.
std::string JobWords(const proto::Bundle& whole);

// Returns the text of a note that ranks are missing, or "": none is, or nothing tells how many
// there were.
std::string MissingRanksNote(const proto::Bundle& whole);

}  // namespace gpuprof::analysis
