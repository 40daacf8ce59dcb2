// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decides whether gpuprof.toml of the working directory may be obeyed, and which values it may set.
// The directory may be another user's, such as /tmp. Called by Options. Never prints.

#pragma once

#include <string>

namespace gpuprof::launcher {

struct SettingsText {
  std::string text;         // empty: there is no file, or it was passed over
  std::string passed_over;  // why a file that another user wrote is not obeyed, with the fix
  std::string fault;        // cause and fix: the user's own file cannot be obeyed
};

// Reads a file that this user or root owns and that no other user can write: a regular file of at
// most 64 KiB. Never waits, and follows no link.
SettingsText ReadTrustedSettings(const std::string& path);

// Returns why a value may not come from the file, with the fix. Empty: the value may.
std::string FaultOfFileValue(const std::string& key, const std::string& value);

}  // namespace gpuprof::launcher
