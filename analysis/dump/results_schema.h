// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Describes what passes give, and the verbs that show a page of their own: the fields of their
// messages and the columns of their tables. A part of `gpuprof schema`. Any thread.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gpuprof::analysis {

// Returns the passes and pages with their tables, and the messages that they are made of.
nlohmann::ordered_json ResultsSchema();
// Returns the same without the tables, as text.
std::string ResultsSchemaText();

}  // namespace gpuprof::analysis
