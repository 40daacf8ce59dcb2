// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job: folders in its bundle, each a bundle of its own (proto/bundle.proto). A file
// of a rank is known by its folder and its name: "rank-3/p12-abc.gpt". Pure.

#pragma once

#include <string>
#include <string_view>

#include "proto/bundle.pb.h"

namespace gpuprof::analysis {

// Returns whether a folder in a bundle has the name of a rank's folder.
bool IsPartName(std::string_view folder);

// Returns the rank's folder of a file or stem, or "": the file lies in the bundle itself.
std::string_view PartOf(std::string_view file);
// Returns the name of a file or stem without the rank's folder.
std::string_view NameInPart(std::string_view file);

// Returns the manifest of the run that made this file: its rank's, else that of the whole bundle.
const proto::Bundle& ManifestOf(const proto::Bundle& whole, std::string_view file);

// Fills in what the manifest of a job lacks, from those of its ranks. The command and the machine
// are those of the lowest rank. The exit status is the largest, as launchers report it.
void MergeParts(proto::Bundle* whole);

}  // namespace gpuprof::analysis
