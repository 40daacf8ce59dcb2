// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names files that gpuprof does not read, and what to do. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/import/foreign_file.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

// Returns what a file is and what to do, by its first bytes (inflated) and its name: "this is …;
// …". Empty: it is not known.
std::string WhatFileIs(std::string_view beginning, std::string_view name);

// Returns an error that says what the file is, if that is known; else `error`. The file could not
// be read.
Error NamedError(const ForeignFile& file, const Error& error);
// Does the same for a path at which no trace was found: a file, an archive or a folder.
Error NamedError(const codec::InputPath& path, const Error& error);

}  // namespace gpuprof::analysis::import
