// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What every answer of a tool goes through before it leaves `gpuprof mcp`: secrets are masked,
// paths are shortened, and lists are cut until the answer fits. What was cut is said. Any thread.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "launcher/mcp/arguments.h"

namespace gpuprof::launcher {

// Most bytes of the line of an answer.
inline constexpr size_t kMostAnswerBytes = 100'000;

// Masks the secrets of all texts, as command lines are masked when they are recorded
// (proto/secret_words.h). Paths below `root` become relative to it.
void MaskAnswer(const std::string& root, McpJson* content);

// Returns JSON in one line.
std::string LineOf(const McpJson& json);

// Returns the bytes of a line that has the content twice: as a value, and as a text.
size_t BytesTwice(const McpJson& content);

// Shortens long texts and cuts lists, the largest first, until BytesTwice is at most `most`.
// content["truncated"] says it: `shown` and `total` are of the list `main`, or of all lists that
// stand in no other list if `main` is "". A `total` that is there already stays: the tool had more
// rows. Returns false if it does not fit.
bool FitAnswer(const std::string& main, size_t most, McpJson* content);

}  // namespace gpuprof::launcher
