// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The messages of the Model Context Protocol, for `gpuprof mcp`. It speaks the protocol of
// 2026-07-28, in which each request stands alone, and the older ones, which begin with
// `initialize`. A message is a line of JSON. One thread; pings may be answered on another.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "launcher/mcp/tool.h"

namespace gpuprof::launcher {

class McpServer {
 public:
  static constexpr size_t kMostLineBytes = size_t{1} << 20;  // of a request

  // `context` outlives this object.
  explicit McpServer(ToolContext* context) : context_(context) {}

  // Returns the answer to a line, without a line's end. "": it needs none. Any thread for pings.
  std::string Answer(std::string_view line);
  // Returns the answer to a line that was too long.
  static std::string AnswerTooLong();

 private:
  // What a message gets: nothing, a result or an error.
  McpJson AnswerMessage(const McpJson& message);
  McpJson AnswerRequest(const std::string& method, const McpJson& parameters, bool is_modern,
                        size_t most, McpJson* error);
  McpJson Call(const McpJson& parameters, size_t most, McpJson* error);

  ToolContext* context_;
};

}  // namespace gpuprof::launcher
