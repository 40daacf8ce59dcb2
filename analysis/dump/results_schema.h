// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Describes what passes give: the fields of their messages and the columns of their tables. A part
// of `gpuprof schema --json`. Any thread.

#pragma once

#include <nlohmann/json.hpp>

namespace gpuprof::analysis {

// Returns the passes with their tables, and the messages that they are made of.
nlohmann::ordered_json ResultsSchema();

}  // namespace gpuprof::analysis
