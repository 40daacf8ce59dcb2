// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_results.h. The results of a part are one element: they repeat each other's words, so
// all of them packed together are much smaller than each by itself.

#include "analysis/export/report_results.h"

#include <google/protobuf/message.h>

#include <memory>

#include "analysis/analysis.h"
#include "analysis/export/report_text.h"
#include "analysis/passes/registry.h"

namespace gpuprof::analysis {
namespace {

// Passes run once more for each part. Above so many rows this would take minutes.
constexpr uint64_t kMostRowsOfParts = 20'000'000;

// Returns whether the pass reads rows that a trace with sums does not have.
bool ReadsWork(std::string_view pass, const PassOptions& options) {
  using proto::ChunkKind;
  const TableSet summed = {ChunkKind::kKernel, ChunkKind::kMemcpy, ChunkKind::kMemset,
                           ChunkKind::kGraphLaunch, ChunkKind::kApi};
  return TablesOf(pass, options).Intersects(summed);
}

// Returns whether a page of the pass is of the whole recording, whatever is selected. A verdict
// and a critical path need neighbouring steps, so a single step has none.
bool IsOfWhole(std::string_view pass, const PassOptions& options) {
  if (pass == "health") return true;
  return options.steps &&
         (pass == "overview" || pass == "steps" || pass == "advise" || pass == "critical_path");
}

std::string Element(const std::string& attribute, const std::string& name,
                    const std::string& packed) {
  return "<script type=\"text/plain\" class=\"gpuprof-result\" " + attribute + "=\"" + name +
         "\" data-encoding=\"gzip+base64\">" + Base64(packed) + "</script>\n";
}

// Runs the passes on a part. Returns their results as the members of a JSON object. A result that
// cannot be made is left out: the page then has that of the whole recording.
std::string ResultsOfPart(Session* session, const PagePart& wanted) {
  std::string text;
  for (const PageResult& each : PageResults()) {
    if (IsOfWhole(each.pass, wanted.options)) continue;
    PassOptions options = wanted.options;
    options.by = each.by;
    std::unique_ptr<google::protobuf::Message> result;
    if (Run(each.pass, session, options, &result)) continue;
    text += (text.empty() ? "{\"" : ",\"") + each.Name() + "\":";
    text += Render(*result, Format::kJson, options, 0);
  }
  return text.empty() ? text : text + "}";
}

}  // namespace

void ReportResults::Fail(const std::string& name, const std::string& reason) {
  failed_.push_back({{"pass", name}, {"reason", reason}});
}

void ReportResults::Add(const PageResult& wanted) {
  const auto& [pass, by] = wanted;
  const std::string name = wanted.Name();
  PassOptions options;
  options.by = by;
  if (trace_.has_sums && PageSumsAbove(pass, options) == 0 && ReadsWork(pass, options)) {
    return Fail(name,
                "The recording has too much work of GPUs for a report, which only adds it up. This "
                "command reads every row: " +
                    CommandOf(pass, options));
  }
  std::unique_ptr<google::protobuf::Message> result;
  if (Error error = Run(pass, &session_, options, &result)) return Fail(name, error.message);
  if (name == "steps") steps_.CopyFrom(*result);
  if (name == "advise") advice_.CopyFrom(*result);
  Keep(name, Render(*result, Format::kJson, options, 0));
}

void ReportResults::Keep(const std::string& name, const std::string& json) {
  const std::string packed = Gzip(json);
  if (packed.empty()) return Fail(name, "There was not enough memory.");
  passes_.push_back(name);
  elements_ += Element("data-pass", name, packed);
}

void ReportResults::AddParts(uint64_t room) {
  uint64_t rows = 0;
  for (const Process& process : trace_.processes) rows += process.rows;
  if (trace_.has_sums || rows > kMostRowsOfParts) return;
  const uint64_t end = elements_.size() + room;
  for (const PagePart& part : PagePartsOf(trace_, Steps())) AddPart(part, end);
}

void ReportResults::AddPart(const PagePart& part, uint64_t end) {
  const std::string packed = Gzip(ResultsOfPart(&session_, part));
  if (packed.empty()) return;
  const std::string element = Element("data-part", part.name, packed);
  if (elements_.size() + element.size() > end) {
    ++left_out_parts_;
    return;
  }
  elements_ += element;
  nlohmann::json entry = {{"name", part.name}};
  if (!part.words.empty()) {
    entry["step"] = part.words;
    entry["start_ns"] = part.window.start;
    entry["end_ns"] = part.window.end;
  }
  parts_.push_back(std::move(entry));
}

nlohmann::json ReportResults::Members() const {
  nlohmann::json members = {{"passes", passes_}, {"failed", failed_}};
  if (!parts_.empty()) members["parts"] = parts_;
  return members;
}

}  // namespace gpuprof::analysis
