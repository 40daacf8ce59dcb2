// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// MakeXProfPage: from an input to the page that XProf would show of it. An XSpace is read as it is.
// Any other input becomes an XSpace in memory first, as `gpuprof export` writes it.

#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/result.h"
#include "analysis/import/xspace_input.h"
#include "analysis/xprof/op_stats.h"
#include "analysis/xprof/pages.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis {
namespace {

using xprof::OpStats;
using xprof::Space;

struct Page {
  PassInfo info;
  std::string (*make)(const OpStats& stats);
  std::string (*remark)(const OpStats& stats) = nullptr;
};

const std::vector<Page>& Pages() {
  static const std::vector<Page> pages = {
      {{"overview", "XProf's overview_page"}, xprof::OverviewPage, xprof::RemarkOnOverview},
      {{"ops", "XProf's framework_op_stats"}, xprof::OpPage, xprof::RemarkOnOps},
      {{"kernels", "XProf's kernel_stats"}, xprof::KernelPage},
      {{"input_pipeline", "XProf's input_pipeline_analyzer"}, xprof::InputPipelinePage},
  };
  return pages;
}

Error AddHost(Result<std::unique_ptr<Space>> space, const std::string& name,
              std::vector<OpStats>* hosts) {
  if (!space.ok()) return space.error();
  Result<OpStats> stats = xprof::StatsOfHost(space->get());
  if (!stats.ok()) return {stats.error().kind, name + ": " + stats.error().message};
  hosts->push_back(std::move(*stats));
  return {};
}

// Exports a trace of any other kind. The files of a run come in the order of their names.
Error AddExported(const InputPath& path, std::vector<OpStats>* hosts) {
  std::shared_ptr<const Trace> trace;
  if (Error error = Open(path, {}, &trace)) return error;
  std::map<std::string, std::string> files;
  ExportReport report;
  const Error error = ExportXSpace(
      *trace, {},
      [](void* context, const std::string& file, std::string_view bytes) {
        (*static_cast<std::map<std::string, std::string>*>(context))[file] += bytes;
        return true;
      },
      &files, &report);
  if (error) return error;
  trace.reset();
  for (auto& [file, bytes] : files)
    if (Error failed = AddHost(xprof::ReadSpace(std::move(bytes), path.path), path.path, hosts))
      return failed;
  return {};
}

Error AddHosts(const InputPath& path, std::vector<OpStats>* hosts) {
  import::XSpaceRun run = import::FindXSpaceRun(path);
  if (run.files.empty()) run = import::FindXSpaceRunBelow(path);
  if (run.files.empty()) return AddExported(path, hosts);
  for (const import::ForeignFile& file : run.files)
    if (Error error = AddHost(xprof::ReadSpaceFile(file), file.Title(), hosts)) return error;
  return {};
}

}  // namespace

const std::vector<PassInfo>& XProfPages() {
  static const std::vector<PassInfo> infos = [] {
    std::vector<PassInfo> found;
    for (const Page& page : Pages()) found.push_back(page.info);
    return found;
  }();
  return infos;
}

Error MakeXProfPage(std::string_view name, const std::string& path, XProfPage* made) {
  for (const Page& page : Pages()) {
    if (page.info.name != name) continue;
    try {
      std::vector<OpStats> hosts;
      if (Error error = AddHosts(path, &hosts)) return error;
      const OpStats stats = xprof::CombineHosts(std::move(hosts));
      made->json = page.make(stats);
      if (page.remark != nullptr) made->remark = page.remark(stats);
    } catch (const std::bad_alloc&) {
      return Unreadable(path +
                        ": not enough memory to make the page; use a machine with more memory");
    }
    return {};
  }
  return UsageError("XProf has no page for the pass '" + std::string(name) + "'");
}

}  // namespace gpuprof::analysis
