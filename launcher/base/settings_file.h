// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decides whether gpuprof.toml of the working directory may be obeyed, and which values it may set.
// The directory may be another user's, such as /tmp. Never prints.

#pragma once

#include <map>
#include <string>

namespace gpuprof::launcher {

// Values by section and key, as the command line would have them; elements of an array are joined
// with commas. Keys before the first section are run's. A key of [advice] holds a dot:
// "LA-001.min_share".
using FileSections = std::map<std::string, std::map<std::string, std::string>>;
inline constexpr char kAdviceSection[] = "advice";

// Reads a file that this user or root owns and that no other user can write: a regular file of at
// most 64 KiB. Never waits, and follows no link. A missing file is an empty one, and so is a file
// of another user's: `passed_over` then says why, with the fix. Returns empty, or the fault.
std::string ReadSettingsFile(const std::string& path, FileSections* sections,
                             std::string* passed_over);

// Returns why a value may not come from the file, with the fix. Empty: the value may.
std::string FaultOfFileValue(const std::string& key, const std::string& value);

}  // namespace gpuprof::launcher
