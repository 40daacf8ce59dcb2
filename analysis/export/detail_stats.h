// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The members of a row's detail as values of an event of an XSpace. Pure.

#pragma once

#include <string>

#include "analysis/export/xplane_writer.h"

namespace gpuprof::analysis {

// Adds the members of an object of JSON to the open event. A text that is not an object adds
// nothing: files can be damaged. Returns whether a member is called `key`.
bool AddDetailStats(const std::string& detail, std::string_view key, XPlaneWriter* plane);

}  // namespace gpuprof::analysis
