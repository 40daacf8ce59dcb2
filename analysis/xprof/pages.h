// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XProf's pages as JSON. Each is in the file of its name. Any thread, for a space of its own.

#pragma once

#include <string>

#include "analysis/hlo/program.h"
#include "analysis/xprof/op_stats.h"

namespace gpuprof::analysis::xprof {

// Returns the parts of a page that are not as XProf has them. Empty: all are.
std::string RemarkOnOverview(const OpStats& stats);

std::string OverviewPage(const OpStats& stats);
std::string OpPage(const OpStats& stats);
std::string KernelPage(const OpStats& stats);
std::string InputPipelinePage(const OpStats& stats);
std::string RooflinePage(const OpStats& stats);
std::string HloPage(const OpStats& stats);
std::string OpProfilePage(const OpStats& stats);
// Makes the page of one host, also of one with TPUs. Groups the events of the space.
Result<std::string> MemoryPage(Space* space);
// Makes the page of one program and memory space.
Result<std::string> MemoryViewer(const hlo::Program& program, int64_t space);

}  // namespace gpuprof::analysis::xprof
