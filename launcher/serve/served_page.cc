// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See served_page.h.

#include "launcher/serve/served_page.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "launcher/base/json_text.h"
#include "launcher/base/text.h"
#include "launcher/reading/kept_findings.h"
#include "proto/codec/input_path.h"

namespace gpuprof::launcher {
namespace {

// A client that wants more asks several times.
constexpr uint64_t kLargestRange = 64 << 20;

struct Part {
  uint64_t offset = 0, length = 0;
};

// Reads "bytes=FIRST-LAST", "bytes=FIRST-" or "bytes=-LENGTH". Nothing: no part of the file is
// meant, or several are.
std::optional<Part> ReadRange(std::string_view text, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits, uint64_t* value) {
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
    return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  };
  uint64_t first = 0, last = 0;
  const std::string_view before = text.substr(0, dash), after = text.substr(dash + 1);
  if (before.empty()) {
    if (!number(after, &last) || last == 0 || size == 0) return std::nullopt;
    const uint64_t length = std::min(last, size);
    return Part{size - length, length};
  }
  if (!number(before, &first) || first >= size) return std::nullopt;
  if (after.empty()) return Part{first, size - first};
  if (!number(after, &last) || last < first) return std::nullopt;
  return Part{first, std::min(last, size - 1) - first + 1};
}

std::string TagOf(const struct stat& status) { return "\"" + codec::FileState(status) + "\""; }

}  // namespace

ServedPage::ServedPage(analysis::ReportOptions page, PageResults::Ways ways)
    : page_(std::move(page)),
      results_(std::move(ways)),
      timeline_(page_.bundle),
      queries_(page_.bundle) {}

HttpAnswer ServedPage::Answer(const std::string& rest, const HttpRequest& request) {
  constexpr std::string_view kResults = "results/", kFiles = "files/", kTimeline = "timeline/",
                             kWaits = "waits/", kQuery = "query/";
  if (request.is_post) return RefusePost();
  if (rest.empty()) return Page();
  if (rest.starts_with(kResults)) return Result(rest.substr(kResults.size()), request);
  if (rest.starts_with(kWaits)) return Wait(rest.substr(kWaits.size()));
  if (rest.starts_with(kTimeline)) return Timeline(rest.substr(kTimeline.size()));
  if (rest.starts_with(kQuery)) return Query(rest.substr(kQuery.size()), request);
  if (rest.starts_with(kFiles)) return File(rest.substr(kFiles.size()), request);
  return Refuse(404, "There is nothing of this name.");
}

HttpAnswer ServedPage::Page() const {
  HttpAnswer answer;
  if (const analysis::Error error = analysis::MakeServedPage(page_, &answer.body))
    return Refuse(500, error.message);
  if (page_.kind == analysis::PageKind::kRecording) PutFindingsIntoPage(page_.bundle, &answer.body);
  answer.type = "text/html; charset=utf-8";
  return answer;
}

// Answers what a page says while it waits for a result.
HttpAnswer ServedPage::Wait(const std::string& name) {
  const PageWait wait = results_.WaitOf(name);
  HttpAnswer answer;
  answer.type = "application/json";
  answer.body =
      JsonText({{"words", wait.words}, {"is_large", wait.is_large}, {"has_large", wait.has_large}});
  return answer;
}

HttpAnswer ServedPage::Result(const std::string& name, const HttpRequest& request) {
  if (page_.kind == analysis::PageKind::kComparison && name != analysis::kComparisonResult)
    return Refuse(404, "The page of two recordings has the result 'diff' alone.");
  const std::string fault =
      page_.kind == analysis::PageKind::kRecording ? CheckResultName(name) : "";
  if (!fault.empty()) return Refuse(404, fault);
  const std::shared_ptr<const PageAnswer> result = results_.Get(name, request.is_gone);
  // Or the client is gone, and sees no answer.
  if (result == nullptr) return Refuse(503, "The server is about to end.");
  HttpAnswer answer;
  answer.type = "application/json";
  if (result->file == nullptr) {
    answer.status = 422;
    answer.body = JsonText({{"reason", result->fault}});
    return answer;
  }
  answer.file = result->file;
  answer.length = result->size;
  return answer;
}

HttpAnswer ServedPage::Timeline(const std::string& question) {
  if (page_.kind != analysis::PageKind::kRecording || page_.files.empty())
    return Refuse(404, "Only the page of a recording has a timeline.");
  return timeline_.Get(question);
}

HttpAnswer ServedPage::Query(const std::string& sql, const HttpRequest& request) {
  if (page_.kind != analysis::PageKind::kRecording || page_.files.empty())
    return Refuse(404, "Only the page of a recording answers queries.");
  return queries_.Get(sql, request);
}

HttpAnswer ServedPage::File(const std::string& name, const HttpRequest& request) const {
  const auto found = std::find_if(page_.files.begin(), page_.files.end(),
                                  [&](const auto& each) { return each.name == name; });
  if (found == page_.files.end()) return Refuse(404, "The bundle has no file of this name.");
  analysis::OwnFile own;
  if (const analysis::Error error = analysis::OpenOwnFile(found->path, &own))
    return Refuse(404, AsSentence(analysis::OneLine(error.message)));
  const struct stat& status = own.status;
  const auto size = static_cast<uint64_t>(status.st_size);
  HttpAnswer answer;
  answer.type = "application/octet-stream";
  answer.headers = {{"ETag", TagOf(status)}, {"Accept-Ranges", "bytes"}};
  Part part{0, size};
  if (!request.range.empty() && (request.if_range.empty() || request.if_range == TagOf(status))) {
    const std::optional<Part> asked = ReadRange(request.range, size);
    const bool is_large = asked.has_value() && asked->length > kLargestRange;
    if (!asked.has_value() || is_large) {
      answer = Refuse(
          416, is_large ? "A range may have 64 MiB." : "The range is not one part of the file.");
      answer.headers = {{"Content-Range", "bytes */" + std::to_string(size)}};
      return answer;
    }
    part = *asked;
    answer.status = 206;
    answer.headers.emplace_back("Content-Range", "bytes " + std::to_string(part.offset) + "-" +
                                                     std::to_string(part.offset + part.length - 1) +
                                                     "/" + std::to_string(size));
  }
  answer.file = std::make_shared<const codec::OwnedFile>(std::move(own.file));
  answer.offset = part.offset;
  answer.length = part.length;
  return answer;
}

}  // namespace gpuprof::launcher
