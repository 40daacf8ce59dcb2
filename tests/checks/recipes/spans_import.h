// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The importer of docs/extending.md: files of lines "START END NAME", in nanoseconds. Any thread.

#pragma once

#include "analysis/import/importers.h"

namespace gpuprof::analysis::import {

inline constexpr char kSpansImporter[] = "spans";

// Finds a file whose name ends in ".spans".
Recording FindSpans(const codec::InputPath& path);
// Finds nothing: a file of spans is named itself.
Recording FindSpansBelow(const codec::InputPath& path);

}  // namespace gpuprof::analysis::import
