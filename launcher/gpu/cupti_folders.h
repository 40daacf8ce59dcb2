// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the folders where a libcupti may be, seen from outside the program. The folders come in the
// order in which the recorder looks. Missing are those that only a running program has: the folder
// of its own runtime, its search path, its Python packages. For doctor and for the reader of
// hardware counters. Reads no file except the loader's cache; loads nothing.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/base/settings.h"

namespace gpuprof::launcher {

// Names of the library's file, newest first.
inline constexpr const char* kCuptiNames[] = {"libcupti.so.14", "libcupti.so.13", "libcupti.so.12",
                                              "libcupti.so.11.8", "libcupti.so"};

struct CuptiFolder {
  std::string path;       // ends in a slash; empty: what the loader finds by name alone
  bool is_named = false;  // by the environment; else a place of the machine
};

// Calls visit with one folder after the other, best first, until it returns true. In `searched`, if
// given, words for the places that were passed.
bool EachCuptiFolder(const Variables& environment,
                     const std::function<bool(const CuptiFolder&)>& visit,
                     std::vector<std::string>* searched = nullptr);

}  // namespace gpuprof::launcher
