// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_manifest.h.

#include "analysis/export/page_manifest.h"

#include <nlohmann/json.hpp>

#include "analysis/export/report_text.h"

namespace gpuprof::analysis {
namespace {

// Results by another key than the pass's own that pages show.
constexpr PageResult kKeyed[] = {
    {"ops", "module"},        {"kernels", "signature"}, {"kernels", "op"},
    {"stacks", "kernel"},     {"stacks", "python"},     {"stacks", "wait"},
    {"stacks", "heap_alloc"}, {"stacks", "heap_live"},  {"stacks", "heap_peak"},
    {"memcpy", "size"},       {"memcpy", "stream"},     {"api", "thread"},
    {"sync", "thread"},       {"sync", "stream"},       {"graphs", "node"},
    {"files", "thread"},      {"stacks", "cpu"},        {"stacks", "gil"},
};

}  // namespace

Error PageWithoutPlace() {
  return {ErrorKind::kUsage, "The page inside gpuprof has no place for data; build it again."};
}

std::string PageResult::Name() const {
  return std::string(pass) + (by.empty() ? "" : ":" + std::string(by));
}

std::vector<PageResult> PageResults() {
  std::vector<PageResult> results;
  for (const PassInfo& pass : Passes()) results.push_back({pass.name, ""});
  results.insert(results.end(), std::begin(kKeyed), std::end(kKeyed));
  return results;
}

std::string ManifestBlock(const ReportOptions& options, std::string_view left_out,
                          const nlohmann::json& more) {
  nlohmann::json manifest = {
      {"version", 1}, {"title", options.title}, {"gpuprof", options.writer_version}};
  manifest.update(more);
  if (!left_out.empty()) manifest["left_out"] = left_out;
  return "<script type=\"application/json\" id=\"gpuprof-manifest\">" +
         ScriptJson(manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) +
         "</script>\n";
}

}  // namespace gpuprof::analysis
