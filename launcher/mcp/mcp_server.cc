// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See mcp_server.h.

#include "launcher/mcp/mcp_server.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "launcher/base/nearest.h"
#include "launcher/base/version.h"
#include "launcher/mcp/bounded_answer.h"

namespace gpuprof::launcher {
namespace {

constexpr char kModern[] = "2026-07-28";
// Those that begin with `initialize`, the newest first.
constexpr const char* kHandshakes[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr char kVersionKey[] = "io.modelcontextprotocol/protocolVersion";

// Codes of JSON-RPC, and of the protocol.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kUnknownMethod = -32601;
constexpr int kInvalidParameters = -32602;
constexpr int kInternalError = -32603;
constexpr int kUnsupportedVersion = -32022;

constexpr size_t kMostIdBytes = 256;
constexpr size_t kMostBatch = 20;  // messages in a list
// The tools of a server stay the same while it runs.
constexpr int kListLifeMs = 3'600'000;

constexpr char kInstructions[] =
    "gpuprof tells why a program on GPUs is slower than it could be. Begin with list_bundles, then "
    "overview and findings of one input. Each finding names a check: a command, and a call of "
    "table. schema names the passes, their lists and columns. Times are nanoseconds of the "
    "recording unless a name says otherwise. skipped says what was not recorded: that is not 0. "
    "truncated says what an answer leaves out: ask with where, order_by or a smaller part. Report "
    "at most three findings with their figures, and a fix for each. add_findings keeps your own "
    "findings with the recording.";

McpJson ErrorOf(int code, const std::string& message) {
  return {{"code", code}, {"message", message}};
}

McpJson Versions() {
  McpJson versions = McpJson::array({kModern});
  for (const char* each : kHandshakes) versions.push_back(each);
  return versions;
}

McpJson ServerInfo() {
  return {{"name", "gpuprof"}, {"title", "gpuprof"}, {"version", std::string(kVersion)}};
}

McpJson Capabilities() { return {{"tools", {{"listChanged", false}}}}; }

// The id is given back, so it must be small. Null: it is not.
McpJson IdOf(const McpJson& message) {
  const auto id = message.find("id");
  if (id == message.end()) return nullptr;
  if (id->is_number_integer() || id->is_number_float()) return *id;
  if (id->is_string() && id->get_ref<const std::string&>().size() <= kMostIdBytes) return *id;
  return nullptr;
}

McpJson Failed(const McpJson& id, McpJson error) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

// Returns the protocol's version that a request names; "": none.
std::string VersionOf(const McpJson& parameters) {
  if (!parameters.is_object()) return "";
  const auto meta = parameters.find("_meta");
  if (meta == parameters.end() || !meta->is_object()) return "";
  const auto version = meta->find(kVersionKey);
  if (version == meta->end()) return "";
  return version->is_string() ? version->get<std::string>() : "?";
}

std::string TextAt(const McpJson& parameters, const char* name) {
  if (!parameters.is_object()) return "";
  const auto found = parameters.find(name);
  return found != parameters.end() && found->is_string() ? found->get<std::string>() : "";
}

McpJson Initialized(const McpJson& parameters) {
  const std::string wanted = TextAt(parameters, "protocolVersion");
  const bool is_known = std::any_of(std::begin(kHandshakes), std::end(kHandshakes),
                                    [&](const char* each) { return wanted == each; });
  return {{"protocolVersion", is_known ? wanted : std::string(kHandshakes[0])},
          {"capabilities", Capabilities()},
          {"serverInfo", ServerInfo()},
          {"instructions", kInstructions}};
}

}  // namespace

std::string McpServer::Answer(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return "";
  const McpJson message =
      McpJson::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded()) {
    return LineOf(Failed(nullptr, ErrorOf(kParseError,
                                          "The line is not JSON. Each message is one line of JSON "
                                          "in UTF-8.")));
  }
  if (!message.is_array()) {
    const McpJson answer = AnswerMessage(message);
    return answer.is_null() ? "" : LineOf(answer);
  }
  if (message.empty() || message.size() > kMostBatch) {
    return LineOf(
        Failed(nullptr, ErrorOf(kInvalidRequest, "A list of messages has 1 to " +
                                                     std::to_string(kMostBatch) + " messages.")));
  }
  McpJson answers = McpJson::array();
  for (const McpJson& each : message) {
    McpJson answer = AnswerMessage(each);
    if (!answer.is_null()) answers.push_back(std::move(answer));
  }
  return answers.empty() ? "" : LineOf(answers);
}

std::string McpServer::AnswerTooLong() {
  return LineOf(Failed(nullptr, ErrorOf(kInvalidRequest, "The line is longer than " +
                                                             std::to_string(kMostLineBytes) +
                                                             " bytes. Send shorter messages.")));
}

McpJson McpServer::AnswerMessage(const McpJson& message) {
  if (!message.is_object())
    return Failed(nullptr, ErrorOf(kInvalidRequest, "A message is an object of JSON."));
  const McpJson id = IdOf(message);
  const std::string method = TextAt(message, "method");
  const bool is_request = message.contains("id");
  // The server asks nothing, so answers of the client are about nothing.
  if (!message.contains("method") && (message.contains("result") || message.contains("error")))
    return nullptr;
  if (TextAt(message, "jsonrpc") != "2.0" || method.empty() || (is_request && id.is_null())) {
    return Failed(id,
                  ErrorOf(kInvalidRequest,
                          "A request has \"jsonrpc\":\"2.0\", the text `method`, and an `id`: a "
                          "number, or a text of at most " +
                              std::to_string(kMostIdBytes) + " bytes."));
  }
  if (!is_request) return nullptr;  // a notification: nothing depends on one
  const auto found = message.find("params");
  const McpJson parameters = found == message.end() ? McpJson() : *found;
  const std::string version = VersionOf(parameters);
  if (!version.empty() && version != kModern) {
    McpJson error = ErrorOf(kUnsupportedVersion,
                            "gpuprof does not speak this version of the protocol "
                            "without a handshake.");
    error["data"] = {{"supported", Versions()}, {"requested", version.substr(0, kMostIdBytes)}};
    return Failed(id, std::move(error));
  }
  McpJson error;
  // The rest of the line has the id and names of members.
  const size_t most = kMostAnswerBytes - LineOf(id).size() - 512;
  McpJson result;
  try {
    result = AnswerRequest(method, parameters, !version.empty(), most, &error);
  } catch (const std::exception& fault) {
    error = ErrorOf(kInternalError, "gpuprof could not answer: " + std::string(fault.what()) +
                                        ". Ask for a part of the recording.");
  }
  if (!error.is_null()) return Failed(id, std::move(error));
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

McpJson McpServer::AnswerRequest(const std::string& method, const McpJson& parameters,
                                 bool is_modern, size_t most, McpJson* error) {
  McpJson result;
  bool is_kept = false;  // the client may keep the answer
  if (method == "initialize") {
    result = Initialized(parameters);
  } else if (method == "ping") {
    result = McpJson::object();
  } else if (method == "server/discover") {
    result = {{"supportedVersions", Versions()},
              {"capabilities", Capabilities()},
              {"serverInfo", ServerInfo()},
              {"instructions", kInstructions}};
    is_kept = is_modern = true;
  } else if (method == "tools/list") {
    result["tools"] = McpJson::array();
    for (const Tool* tool : OfferedTools(*context_)) result["tools"].push_back(DescribeTool(*tool));
    is_kept = true;
  } else if (method == "tools/call") {
    result = Call(parameters, most, error);
  } else {
    *error =
        ErrorOf(kUnknownMethod,
                "gpuprof does not know the method '" + method.substr(0, 100) +
                    "'. It knows initialize, ping, server/discover, tools/list and tools/call.");
  }
  if (!error->is_null() || !is_modern) return result;
  result["resultType"] = "complete";
  if (is_kept) {
    result["ttlMs"] = kListLifeMs;
    result["cacheScope"] = "private";
  }
  return result;
}

McpJson McpServer::Call(const McpJson& parameters, size_t most, McpJson* error) {
  const std::string name = TextAt(parameters, "name");
  std::vector<std::string> names;
  for (const Tool* tool : OfferedTools(*context_)) {
    names.emplace_back(tool->name);
    if (name != tool->name) continue;
    const auto given = parameters.find("arguments");
    const ToolAnswer answer =
        CallTool(*tool, context_, given == parameters.end() ? McpJson() : *given, most);
    const std::string text = answer.fault.empty() ? LineOf(answer.content) : answer.fault;
    return {{"content", McpJson::array({{{"type", "text"}, {"text", text}}})},
            {"structuredContent", answer.content},
            {"isError", !answer.fault.empty()}};
  }
  std::string message = "There is no tool '" + name.substr(0, 100) + "'.";
  const bool is_control = name == "ps" || name == "start" || name == "stop" || name == "snapshot";
  message += is_control && !context_->allows_control
                 ? " Tools that control processes need 'gpuprof mcp --allow-control'."
                 : DidYouMean(name.substr(0, 100), names) + " tools/list names all.";
  *error = ErrorOf(kInvalidParameters, message);
  return nullptr;
}

}  // namespace gpuprof::launcher
