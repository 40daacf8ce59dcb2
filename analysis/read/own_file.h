// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The files of a bundle as their readers accept them. Some go on as bytes: into a page, or to a
// client of `gpuprof serve`. A bundle may be somebody else's, and a page is made to be handed on.
// So what is handed on is opened by OpenOwnFile alone (analysis.h), and the descriptor that was
// looked at is the one that is read. Any thread.

#pragma once

#include "analysis/analysis.h"
#include "proto/bundle.pb.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis {

// The fault of bytes that a reader refuses as a manifest.
inline constexpr char kNoManifest[] = "not a gpuprof manifest, or damaged";

// Reads a manifest. The error's message is the cause alone, without the path.
Error ReadManifestFile(const codec::InputPath& path, proto::Bundle* manifest);

}  // namespace gpuprof::analysis
