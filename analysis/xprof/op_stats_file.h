// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Statistics that XProf keeps next to the XSpaces of a run: HOST.op_stats.pb, or op_stats_v2.pb, as
// ALL_HOSTS.op_stats_v2.pb. They have figures and no events: XProf's pages are made of them.
// Source: plugin/xprof/protobuf/op_stats.proto of XProf 2.24.0. Any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/import/foreign_file.h"
#include "analysis/xprof/op_stats.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::xprof {

// Returns the statistics at a path: a file, or those of all hosts in a folder. Empty: the path has
// no statistics, or the folder has XSpaces, which have the same and more.
std::vector<import::ForeignFile> FindOpStats(const codec::InputPath& path);

// Reads the bytes of a file. Error: they are not statistics, or are those of TPUs.
Result<OpStats> ParseOpStats(std::string_view bytes);
// Reads a file, which may be compressed.
Result<OpStats> ReadOpStatsFile(const import::ForeignFile& file);

}  // namespace gpuprof::analysis::xprof
