// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See served_folder.h.

#include "launcher/serve/served_folder.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "launcher/base/embedded.h"
#include "launcher/base/json_text.h"
#include "launcher/base/text.h"
#include "launcher/base/version.h"
#include "launcher/reading/reading.h"
#include "launcher/serve/page_files.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostOpened = 4;
constexpr size_t kMostDigits = 9;

// Takes a number and the slash behind it from the beginning of a path. None: something else stands
// there.
std::optional<uint64_t> TakeNumber(std::string_view* path) {
  const size_t slash = path->find('/');
  if (slash == std::string_view::npos || slash == 0 || slash > kMostDigits) return std::nullopt;
  uint64_t number = 0;
  const auto read = std::from_chars(path->data(), path->data() + slash, number);
  if (read.ec != std::errc() || read.ptr != path->data() + slash) return std::nullopt;
  path->remove_prefix(slash + 1);
  return number;
}

const ServedCapture* FindCapture(const Captures& captures, uint64_t id) {
  const auto found = std::find_if(captures.begin(), captures.end(),
                                  [&](const ServedCapture& each) { return each.id == id; });
  return found == captures.end() ? nullptr : &*found;
}

HttpAnswer NoCapture() {
  return Refuse(404, "There is no capture of this number. It may have been removed.");
}

HttpAnswer Json(int status, const nlohmann::ordered_json& json) {
  HttpAnswer answer;
  answer.status = status;
  answer.type = "application/json";
  answer.body = JsonText(json);
  return answer;
}

// A result that cannot be had.
HttpAnswer NoResult(const std::string& reason) { return Json(422, {{"reason", reason}}); }

// Answers while a trace is imported. A page asks again by itself.
HttpAnswer Importing(const ImportState& state) {
  HttpAnswer answer;
  answer.status = 202;
  answer.headers = {{"Retry-After", "1"}};
  answer.type = "text/html; charset=utf-8";
  const std::string part =
      state.progress.has_value()
          ? " " + std::to_string(static_cast<int>(*state.progress * 100)) + " % are done."
          : "";
  answer.body =
      "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
      "<title>gpuprof</title><p>The trace of another tool is being read." +
      part + " This page appears then, and the trace is read only once.\n";
  return answer;
}

analysis::ReportOptions PageOf(const std::string& title) {
  analysis::ReportOptions page;
  page.page = ReportPage();
  page.title = title;
  page.writer_version = kVersion;
  return page;
}

const char* NameOf(ImportState::Kind kind) {
  return kind == ImportState::Kind::kImporting ? "importing"
         : kind == ImportState::Kind::kFailed  ? "failed"
                                               : "ready";
}

}  // namespace

ServedFolder::ServedFolder(const std::string& folder, ImportCache* cache)
    : captures_(folder), processes_(folder), imports_(cache) {}

HttpAnswer ServedFolder::Answer(const std::string& rest, const HttpRequest& request) {
  std::string_view path = rest;
  const auto is_below = [&](std::string_view name) {
    const bool is = path.starts_with(name);
    if (is) path.remove_prefix(name.size());
    return is;
  };
  if (is_below("control/")) return Control(path, request);
  if (request.is_post) return RefusePost();
  if (path.empty()) return ListPage();
  if (path == "captures") return List();
  if (is_below("c/")) return OfCapture(path, request);
  if (is_below("diff/")) return OfComparison(path, request);
  return Refuse(404, "There is nothing of this name.");
}

bool ServedFolder::Stop() {
  bool is_idle = imports_.Stop() && !processes_.IsBusy();
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  for (const std::weak_ptr<ServedPage>& each : pages_) {
    const std::shared_ptr<ServedPage> page = each.lock();
    if (page != nullptr && !page->Stop()) is_idle = false;
  }
  return is_idle;
}

HttpAnswer ServedFolder::ListPage() const {
  analysis::ReportOptions options = PageOf(LastPart(captures_.folder()));
  options.kind = analysis::PageKind::kList;
  HttpAnswer answer;
  if (const analysis::Error error = analysis::MakeServedPage(options, &answer.body))
    return Refuse(500, error.message);
  answer.type = "text/html; charset=utf-8";
  return answer;
}

// Returns why a capture cannot be opened, as far as it was tried; or "".
std::string ServedFolder::FaultOf(const ServedCapture& capture) {
  if (!capture.fault.empty()) return capture.fault;
  const std::lock_guard lock(mutex_);
  const auto found = faults_.find(capture.id);
  return found != faults_.end() && found->second.first == capture.state ? found->second.second : "";
}

HttpAnswer ServedFolder::List() {
  nlohmann::ordered_json captures = nlohmann::ordered_json::array();
  for (const ServedCapture& capture : *captures_.Look()) {
    ImportState state;
    if (!capture.foreign.importer.empty()) state = imports_.Look(capture);
    std::string fault = FaultOf(capture);
    if (state.kind == ImportState::Kind::kFailed) fault = state.fault;
    if (!fault.empty()) state.kind = ImportState::Kind::kFailed;
    nlohmann::ordered_json progress;
    if (state.progress.has_value()) progress = *state.progress;
    captures.push_back({{"id", std::to_string(capture.id)},
                        {"title", capture.title},
                        {"kind", capture.is_folder ? "bundle" : "file"},
                        {"importer", capture.foreign.importer},
                        {"bytes", capture.bytes},
                        {"modified_ns", capture.modified_ns},
                        {"state", NameOf(state.kind)},
                        {"progress", std::move(progress)},
                        {"reason", std::move(fault)}});
  }
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const FolderProcess& process : *processes_.Look()) {
    processes.push_back({{"pid", process.pid},
                         {"command", process.command},
                         {"state", process.state},
                         {"title", process.title}});
  }
  return Json(200, {{"captures", std::move(captures)}, {"processes", std::move(processes)}});
}

HttpAnswer ServedFolder::OfCapture(std::string_view rest, const HttpRequest& request) {
  const std::optional<uint64_t> id = TakeNumber(&rest);
  if (!id.has_value()) return NoCapture();
  const std::shared_ptr<const Captures> captures = captures_.Look();
  const ServedCapture* capture = FindCapture(*captures, *id);
  if (capture == nullptr) return NoCapture();
  const Page opened = Open(*capture, rest.empty());
  if (opened.page == nullptr) return opened.answer;
  return opened.page->Answer(std::string(rest), request);
}

HttpAnswer ServedFolder::OfComparison(std::string_view rest, const HttpRequest& request) {
  const std::optional<uint64_t> before_id = TakeNumber(&rest);
  const std::optional<uint64_t> after_id = before_id ? TakeNumber(&rest) : std::nullopt;
  if (!after_id.has_value()) return NoCapture();
  const std::shared_ptr<const Captures> captures = captures_.Look();
  const ServedCapture* before = FindCapture(*captures, *before_id);
  const ServedCapture* after = FindCapture(*captures, *after_id);
  if (before == nullptr || after == nullptr) return NoCapture();
  const Page opened = OpenComparison(*before, *after);
  if (opened.page == nullptr) return opened.answer;
  return opened.page->Answer(std::string(rest), request);
}

HttpAnswer ServedFolder::Control(std::string_view rest, const HttpRequest& request) {
  if (!request.is_post) {
    HttpAnswer answer = Refuse(405, "Processes are controlled by POST.");
    answer.headers = {{"Allow", "POST"}};
    return answer;
  }
  if (request.mark != "1")
    return Json(403, {{"ok", false}, {"message", "the header 'X-Gpuprof: 1' is missing"}});
  const std::optional<uint64_t> pid = TakeNumber(&rest);
  const bool is_action =
      rest == proto::kVerbStart || rest == proto::kVerbStop || rest == proto::kVerbSnapshot;
  if (!pid.has_value() || *pid == 0 || !is_action)
    return Json(404, {{"ok", false}, {"message", "the actions are start, stop and snapshot"}});
  const Change change = processes_.Do(std::string(rest), static_cast<int32_t>(*pid));
  const int status = change.kind == Change::Kind::kNoProcess ? 404
                     : change.kind == Change::Kind::kBusy    ? 503
                                                             : 200;
  return Json(status, {{"ok", change.kind == Change::Kind::kDone}, {"message", change.message}});
}

// Opens a capture, unless it is open and its files are as they were. A page does not wait for an
// import, but everything else of the capture does.
ServedFolder::Page ServedFolder::Open(const ServedCapture& capture, bool is_page) {
  const auto refuse = [&](const std::string& reason) {
    return Page{nullptr, is_page ? Refuse(422, reason) : NoResult(reason)};
  };
  if (!capture.fault.empty()) return refuse(capture.fault);
  if (auto page = FindOpened(std::to_string(capture.id), capture.state)) return {page, {}};
  ImportState import;
  if (!capture.foreign.importer.empty()) {
    import = is_page ? imports_.Ask(capture) : imports_.Await(capture);
    if (import.kind == ImportState::Kind::kFailed) return refuse(import.fault);
    if (import.kind == ImportState::Kind::kImporting) return {nullptr, Importing(import)};
  }
  Page opened = OpenBundle(capture, import.trace);
  return opened.page != nullptr ? opened : refuse(FaultOf(capture));
}

ServedFolder::Page ServedFolder::OpenBundle(const ServedCapture& capture,
                                            const std::shared_ptr<const ImportedTrace>& import) {
  PlacedInput input = import == nullptr ? PlacedInput{capture.path} : import->bundle;
  PageFiles files;
  files.Find(input.path);
  input.path = files.place();
  analysis::OpenOptions open;
  open.headers_only = true;
  open.origin = input.origin;
  open.kernel_rules = GivenKernelRules();
  std::shared_ptr<const analysis::Trace> trace;
  if (const analysis::Error error = analysis::Open(input.path, open, &trace)) {
    const std::lock_guard lock(mutex_);
    faults_[capture.id] = {capture.state, AsSentence(error.message)};
    return {};
  }
  analysis::ReportOptions page = PageOf(capture.title);
  page.left_out = files.left_out();
  page.list = "../../";
  page.files = files.ForPage();
  page.bundle = input.path;
  PageResults::Ways ways = WaysOf(input, &large_, &turn_);
  // The import stays as long as the page.
  ways.compute = [import, compute = std::move(ways.compute)](const std::string& name) {
    return compute(name);
  };
  auto opened = std::make_shared<ServedPage>(std::move(page), std::move(ways));
  return {Keep(std::to_string(capture.id), capture.state, std::move(opened)), {}};
}

ServedFolder::Page ServedFolder::OpenComparison(const ServedCapture& before,
                                                const ServedCapture& after) {
  const std::string key = std::to_string(before.id) + "/" + std::to_string(after.id);
  const uint64_t state = before.state * 3 + after.state;
  if (auto page = FindOpened(key, state)) return {page, {}};
  analysis::ReportOptions page = PageOf(before.title + " and " + after.title);
  page.kind = analysis::PageKind::kComparison;
  page.list = "../../../";
  PageResults::Ways ways;
  ways.compute = [this, before, after](const std::string&) {
    return PageComputed{Compare(before, after)};
  };
  auto opened = std::make_shared<ServedPage>(std::move(page), std::move(ways));
  return {Keep(key, state, std::move(opened)), {}};
}

PageAnswer ServedFolder::Compare(const ServedCapture& before, const ServedCapture& after) {
  PageAnswer answer;
  PlacedInput inputs[2];
  std::shared_ptr<const ImportedTrace> imports[2];
  for (const ServedCapture* capture : {&before, &after}) {
    const size_t side = capture == &before ? 0 : 1;
    inputs[side].path = capture->path;
    if (!capture->fault.empty()) {
      answer.fault = capture->title + ": " + capture->fault;
      return answer;
    }
    if (capture->foreign.importer.empty()) continue;
    const ImportState import = imports_.Await(*capture);
    if (import.trace == nullptr) {
      answer.fault = import.fault.empty() ? "The server is about to end." : import.fault;
      return answer;
    }
    imports[side] = import.trace;
    inputs[side] = import.trace->bundle;
  }
  const std::lock_guard turn(turn_);
  std::string json;
  if (const analysis::Error error = CompareAsJson(inputs[0], inputs[1], &json)) {
    answer.fault = AsSentence(error.message);
    return answer;
  }
  return KeepResult(json);
}

std::shared_ptr<ServedPage> ServedFolder::FindOpened(const std::string& key, uint64_t state) {
  const std::lock_guard lock(mutex_);
  for (Opened& each : opened_) {
    if (each.key != key || each.state != state) continue;
    each.used_at = ++uses_;
    return each.page;
  }
  return nullptr;
}

// Keeps a page open. Another thread may have opened the same: then that one is returned.
std::shared_ptr<ServedPage> ServedFolder::Keep(const std::string& key, uint64_t state,
                                               std::shared_ptr<ServedPage> page) {
  // These go when the lock is gone: their threads end.
  std::vector<Opened> closed;
  const std::lock_guard lock(mutex_);
  const auto close = [&](std::vector<Opened>::iterator at) {
    closed.push_back(std::move(*at));
    opened_.erase(at);
  };
  for (auto at = opened_.begin(); at != opened_.end(); ++at) {
    if (at->key != key) continue;
    if (at->state == state) return at->page;
    close(at);
    break;
  }
  if (opened_.size() >= kMostOpened) {
    close(std::min_element(opened_.begin(), opened_.end(),
                           [](const Opened& x, const Opened& y) { return x.used_at < y.used_at; }));
  }
  std::erase_if(pages_, [](const auto& each) { return each.expired(); });
  pages_.push_back(page);
  if (is_stopping_) page->Stop();
  opened_.push_back({key, state, ++uses_, page});
  return page;
}

}  // namespace gpuprof::launcher
