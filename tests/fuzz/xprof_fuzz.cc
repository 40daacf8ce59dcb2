// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XProf's pages: any bytes are read as the XSpaces of one host and of two, and every page is made.
// What must hold besides not crashing: the same bytes make the same pages.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analysis/xprof/op_stats.h"
#include "analysis/xprof/pages.h"
#include "analysis/xprof/space.h"

using gpuprof::analysis::xprof::CombineHosts;
using gpuprof::analysis::xprof::HloPage;
using gpuprof::analysis::xprof::InputPipelinePage;
using gpuprof::analysis::xprof::KernelPage;
using gpuprof::analysis::xprof::MemoryPage;
using gpuprof::analysis::xprof::MemoryViewer;
using gpuprof::analysis::xprof::OpPage;
using gpuprof::analysis::xprof::OpProfilePage;
using gpuprof::analysis::xprof::OpStats;
using gpuprof::analysis::xprof::OverviewPage;
using gpuprof::analysis::xprof::ReadSpace;
using gpuprof::analysis::xprof::RemarkOnOverview;
using gpuprof::analysis::xprof::RooflinePage;
using gpuprof::analysis::xprof::StatsOfHost;

namespace {

// Returns all pages of `hosts` hosts that each have `bytes`. Empty: they are no XSpace.
std::string PagesOf(const std::string& bytes, int hosts) {
  std::vector<OpStats> all;
  for (int i = 0; i < hosts; ++i) {
    auto space = ReadSpace(bytes, "x");
    if (!space.ok()) return {};
    auto stats = StatsOfHost(space->get());
    if (!stats.ok()) return {};
    all.push_back(std::move(*stats));
  }
  const OpStats stats = CombineHosts(std::move(all));
  return OverviewPage(stats) + OpPage(stats) + KernelPage(stats) + InputPipelinePage(stats) +
         RooflinePage(stats) + HloPage(stats) + OpProfilePage(stats) + RemarkOnOverview(stats);
}

std::string MemoryPageOf(const std::string& bytes) {
  auto space = ReadSpace(bytes, "x");
  if (!space.ok()) return {};
  const auto page = MemoryPage(space->get());
  return page.ok() ? *page : std::string();
}

std::string ProgramPagesOf(const std::string& bytes) {
  auto space = ReadSpace(bytes, "x");
  if (!space.ok()) return {};
  std::string pages;
  for (const auto& program : (*space)->programs) {
    for (const int64_t number : {0, 1}) {
      const auto page = MemoryViewer(gpuprof::analysis::hlo::Program(program.bytes), number);
      if (page.ok()) pages += *page;
    }
  }
  return pages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string pages = PagesOf(bytes, 1);
  if (PagesOf(bytes, 1) != pages) std::abort();
  if (MemoryPageOf(bytes) != MemoryPageOf(bytes)) std::abort();
  if (ProgramPagesOf(bytes) != ProgramPagesOf(bytes)) std::abort();
  if (PagesOf(bytes, 2).empty() != pages.empty()) std::abort();
  return 0;
}
