// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See request_queue.h.

#include "launcher/mcp/request_queue.h"

#include <algorithm>
#include <utility>

#include "launcher/mcp/bounded_answer.h"

namespace gpuprof::launcher {
namespace {

// Returns a member of an object as JSON. "": it has none, or one that is no id.
std::string IdAt(const McpJson& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  if (found == object.end() || !(found->is_number() || found->is_string())) return "";
  return LineOf(*found);
}

}  // namespace

RequestQueue::Facts RequestQueue::FactsOf(const std::string& line) {
  const McpJson message =
      McpJson::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  Facts facts;
  if (!message.is_object()) return facts;
  const auto method = message.find("method");
  if (method == message.end() || !method->is_string()) return facts;
  facts.id = IdAt(message, "id");
  facts.is_ping = !facts.id.empty() && *method == "ping";
  const auto parameters = message.find("params");
  if (facts.id.empty() && *method == "notifications/cancelled" && parameters != message.end())
    facts.cancels = IdAt(*parameters, "requestId");
  return facts;
}

void RequestQueue::Push(Line line, std::string id) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return lines_.size() < kMostLines && bytes_ < kMostBytes; });
  bytes_ += line.text.size();
  lines_.push_back({std::move(line), std::move(id)});
  changed_.notify_all();
}

void RequestQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

void RequestQueue::Cancel(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_answering_ && answered_id_ == id) is_cancelled_ = true;
  const auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [&](const Waiting& each) { return each.id == id; });
  if (found == lines_.end()) return;
  bytes_ -= found->line.text.size();
  lines_.erase(found);
  changed_.notify_all();
}

bool RequestQueue::AwaitIdle(std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return lines_.empty() && !is_answering_; });
}

bool RequestQueue::Pop(Line* line) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !lines_.empty() || is_closed_; });
  if (lines_.empty()) return false;
  *line = std::move(lines_.front().line);
  answered_id_ = std::move(lines_.front().id);
  lines_.pop_front();
  bytes_ -= line->text.size();
  is_answering_ = true;
  is_cancelled_ = false;
  changed_.notify_all();
  return true;
}

bool RequestQueue::FinishAnswer() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool is_wanted = !is_cancelled_;
  is_answering_ = false;
  changed_.notify_all();
  return is_wanted;
}

}  // namespace gpuprof::launcher
