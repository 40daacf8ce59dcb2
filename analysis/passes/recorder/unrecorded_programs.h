// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that recorded processes started, and that cannot load gpuprof: of another C library, for
// another processor, or where gpuprof's file does not exist. For notes of the overview.

#pragma once

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Adds a note for each of these programs and each reason.
void AddUnrecordedNotes(const PassContext& context, results::Meta* meta);

}  // namespace gpuprof::analysis
