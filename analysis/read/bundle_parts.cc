// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bundle_parts.h.

#include "analysis/read/bundle_parts.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

// Ranks in their order; those without a number come last.
std::tuple<bool, uint32_t, std::string> OrderOf(const proto::Part& part) {
  return {!part.bundle().has_rank(), part.bundle().rank(), part.folder()};
}

void TakeTimes(proto::Bundle* whole) {
  uint64_t started = 0, ended = 0;
  int32_t status = 0;
  bool is_over = true;
  for (const proto::Part& part : whole->part()) {
    const proto::Bundle& rank = part.bundle();
    const uint64_t begin = rank.started_realtime_ns();
    if (begin != 0) started = started == 0 ? begin : std::min(started, begin);
    ended = std::max<uint64_t>(ended, rank.ended_realtime_ns());
    is_over = is_over && rank.ended_realtime_ns() != 0;
    status = std::max(status, rank.exit_status());
  }
  if (started != 0) whole->set_started_realtime_ns(started);
  whole->set_ended_realtime_ns(is_over ? ended : 0);
  whole->set_exit_status(status);
}

}  // namespace

bool IsPartName(std::string_view folder) {
  return folder.starts_with(proto::kRankPrefix) || folder.starts_with(proto::kWorkerPrefix);
}

std::string_view PartOf(std::string_view file) {
  const size_t slash = file.find('/');
  return slash == std::string_view::npos ? std::string_view() : file.substr(0, slash);
}

std::string_view NameInPart(std::string_view file) { return file.substr(file.rfind('/') + 1); }

const proto::Bundle& ManifestOf(const proto::Bundle& whole, std::string_view file) {
  const std::string_view folder = PartOf(file);
  for (const proto::Part& part : whole.part()) {
    if (!folder.empty() && part.folder() == folder) return part.bundle();
  }
  return whole;
}

void MergeParts(proto::Bundle* whole) {
  if (whole->part().empty()) return;
  std::stable_sort(
      whole->mutable_part()->begin(), whole->mutable_part()->end(),
      [](const proto::Part& x, const proto::Part& y) { return OrderOf(x) < OrderOf(y); });
  for (const proto::Part& part : whole->part()) {
    whole->mutable_counter_note()->MergeFrom(part.bundle().counter_note());
    whole->mutable_unrecorded_program()->MergeFrom(part.bundle().unrecorded_program());
  }
  // A folder of ranks that somebody copied into a bundle does not change what its own run was.
  if (whole->command_size() != 0) return;
  const proto::Bundle& first = whole->part(0).bundle();
  *whole->mutable_command() = first.command();
  *whole->mutable_setting() = first.setting();
  whole->set_working_directory(first.working_directory());
  whole->set_host(first.host());
  whole->set_kernel(first.kernel());
  whole->set_cpu_model(first.cpu_model());
  whole->set_gpu_driver(first.gpu_driver());
  if (whole->writer_version().empty()) whole->set_writer_version(first.writer_version());
  if (!whole->has_job() && first.has_job()) *whole->mutable_job() = first.job();
  TakeTimes(whole);
}

}  // namespace gpuprof::analysis
