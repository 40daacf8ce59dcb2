// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_stats_file.h. The numbers of fields are those of op_stats.proto and what it imports.

#include "analysis/xprof/op_stats_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/import/wire.h"
#include "analysis/import/xspace_input.h"

namespace gpuprof::analysis::xprof {
namespace {

using import::WireField;
using import::WireReader;
using import::WireType;

constexpr std::string_view kAllHosts = "ALL_HOSTS.";

// Hands the fields of a message to `take`. False: the message is broken.
template <typename Take>
bool EachField(std::string_view message, const Take& take) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) take(field);
  return !reader.is_broken();
}

double RealOf(const WireField& field) { return std::bit_cast<double>(field.value); }

// Reads one number, or several that are packed, each of which a varint.
template <typename Take>
void EachNumber(const WireField& field, const Take& take) {
  if (field.type == WireType::kVarint) take(field.value);
  if (field.type != WireType::kBytes) return;
  const char *at = field.bytes.data(), *end = at + field.bytes.size();
  for (uint64_t value = 0; at != end;) {
    at = import::ReadVarint(at, end, &value);
    if (at == nullptr) return;
    take(value);
  }
}

// The costs of compiled operations are those that XLA told XProf: has_program stays false.
void ReadOp(std::string_view message, OpMetrics* op) {
  EachField(message, [&](const WireField& field) {
    switch (field.number) {
      case 13:
        op->program_id = field.value;
        break;
      case 6:
        op->name = Utf8Of(field.bytes);
        break;
      case 11:
        op->category = Utf8Of(field.bytes);
        break;
      case 12:
        op->provenance = Utf8Of(field.bytes);
        break;
      case 18:
        op->is_eager = field.value != 0;
        break;
      case 3:
        op->occurrences = static_cast<uint32_t>(field.value);
        break;
      case 7:
        op->time_ps = field.value;
        break;
      case 1:
        op->self_time_ps = field.value;
        break;
      case 2:
        op->flops = static_cast<double>(field.value);
        break;
      case 24:
        op->model_flops = static_cast<double>(field.value);
        break;
      case 5:
        op->bytes = field.value;
        break;
    }
  });
  // Newer releases write these as floating point, in place of the numbers above.
  EachField(message, [&](const WireField& field) {
    if (field.Is(29, WireType::kFixed64)) op->flops = RealOf(field);
    if (field.Is(30, WireType::kFixed64)) op->model_flops = RealOf(field);
  });
}

void ReadOps(std::string_view message, bool is_device, OpStats* stats) {
  OpMetricsDb* const db = is_device ? &stats->device_ops : &stats->host_ops;
  EachField(message, [&](const WireField& field) {
    if (field.Is(10, WireType::kBytes)) ReadOp(field.bytes, &db->ops.emplace_back());
    if (field.Is(2, WireType::kVarint)) db->enqueue_ps = field.value;
    if (field.Is(3, WireType::kVarint)) db->enqueue_begins_ps = field.value;
    if (field.Is(11, WireType::kVarint)) db->total_time_ps = field.value;
    if (field.Is(12, WireType::kVarint)) db->op_time_ps = field.value;
    if (!field.Is(13, WireType::kBytes) || !is_device) return;
    EachField(field.bytes, [&](const WireField& part) {
      if (part.number == 1) stats->compute_16bit_ps = part.value;
      if (part.number == 2) stats->compute_32bit_ps = part.value;
    });
  });
}

void ReadPeaks(std::string_view message, OpStats* stats) {
  constexpr size_t kMemory = 0, kSharedWrites = 2;
  std::vector<double> rates;
  double older = 0;
  EachField(message, [&](const WireField& field) {
    if (field.Is(1, WireType::kFixed64)) stats->peaks.teraflops = RealOf(field);
    if (field.Is(2, WireType::kFixed64) || field.Is(4, WireType::kFixed64)) older = RealOf(field);
    if (field.Is(5, WireType::kFixed64)) rates.push_back(RealOf(field));
    if (!field.Is(5, WireType::kBytes)) return;
    for (size_t at = 0; at + sizeof(double) <= field.bytes.size(); at += sizeof(double)) {
      double rate = 0;
      std::memcpy(&rate, field.bytes.data() + at, sizeof rate);
      rates.push_back(rate);
    }
  });
  stats->peaks.memory_gigabytes = rates.empty() ? older : rates[kMemory];
  if (rates.size() > kSharedWrites) stats->peaks.shared_gigabytes = rates[kSharedWrites];
  stats->has_peaks = true;
}

void ReadStepTimes(std::string_view message, StepInfo* info) {
  // An Any with a GenericStepBreakdown, which has a map from kinds of time to picoseconds.
  EachField(message, [&](const WireField& any) {
    if (!any.Is(2, WireType::kBytes)) return;
    EachField(any.bytes, [&](const WireField& entry) {
      if (!entry.Is(1, WireType::kBytes)) return;
      uint64_t kind = 0, time_ps = 0;
      EachField(entry.bytes, [&](const WireField& part) {
        if (part.number == 1) kind = part.value;
        if (part.number == 2) time_ps = part.value;
      });
      constexpr uint64_t kMost = 255;
      if (kind <= kMost) info->time_ps[static_cast<StepTime>(kind)] += time_ps;
    });
  });
}

void ReadSteps(std::string_view message, StepDb* steps) {
  EachField(message, [&](const WireField& field) {
    if (field.Is(4, WireType::kVarint)) steps->has_no_common_step = field.value != 0;
    if (!field.Is(1, WireType::kBytes)) return;
    Step& step = steps->steps.emplace_back();
    EachField(field.bytes, [&](const WireField& core) {
      if (!core.Is(2, WireType::kBytes)) return;
      uint32_t number = 0;
      StepInfo info;
      EachField(core.bytes, [&](const WireField& part) {
        if (part.Is(1, WireType::kVarint)) number = static_cast<uint32_t>(part.value);
        if (!part.Is(2, WireType::kBytes)) return;
        EachField(part.bytes, [&](const WireField& value) {
          if (value.Is(1, WireType::kVarint)) info.number = static_cast<uint32_t>(value.value);
          if (value.Is(2, WireType::kVarint)) info.duration_ps = value.value;
          if (value.Is(3, WireType::kVarint)) info.begin_ps = value.value;
          if (value.Is(5, WireType::kBytes)) info.name = Utf8Of(value.bytes);
          if (value.Is(4, WireType::kBytes)) ReadStepTimes(value.bytes, &info);
        });
      });
      step.cores[number] = std::move(info);
    });
    if (step.cores.empty()) steps->steps.pop_back();
  });
}

// Returns the number of the hardware: 3 is that of TPUs.
uint64_t ReadEnvironment(std::string_view message, OpStats* stats) {
  uint64_t hardware = 0;
  EachField(message, [&](const WireField& field) {
    if (field.Is(2, WireType::kVarint)) stats->tasks = static_cast<uint32_t>(field.value);
    if (field.Is(4, WireType::kBytes)) stats->device_type = Utf8Of(field.bytes);
    if (field.Is(5, WireType::kVarint)) stats->device_cores = static_cast<uint32_t>(field.value);
    if (field.Is(14, WireType::kVarint)) stats->is_training = field.value != 0;
    if (field.Is(16, WireType::kVarint)) hardware = field.value;
    if (!field.Is(3, WireType::kBytes)) return;
    EachField(field.bytes, [&](const WireField& part) {
      if (part.Is(1, WireType::kBytes)) stats->hostnames.insert(Utf8Of(part.bytes));
    });
  });
  if (hardware == static_cast<uint64_t>(Hardware::kGpu)) stats->hardware = Hardware::kGpu;
  return hardware;
}

void ReadKernelReport(std::string_view message, KernelReport* report) {
  size_t grids = 0, blocks = 0;
  EachField(message, [&](const WireField& field) {
    KernelReport::Key& key = report->key;
    const auto small = static_cast<uint32_t>(field.value);
    switch (field.number) {
      case 1:
        key.name = Utf8Of(field.bytes);
        break;
      case 2:
        key.registers = small;
        break;
      case 3:
        key.static_shared = small;
        break;
      case 4:
        key.dynamic_shared = small;
        break;
      case 5:
        EachNumber(field, [&](uint64_t size) {
          if (blocks < 3) key.block[blocks++] = static_cast<uint32_t>(size);
        });
        break;
      case 6:
        EachNumber(field, [&](uint64_t size) {
          if (grids < 3) key.grid[grids++] = static_cast<uint32_t>(size);
        });
        break;
      case 7:
        report->total_ns = field.value;
        break;
      case 8:
        report->min_ns = field.value;
        break;
      case 9:
        report->max_ns = field.value;
        break;
      case 10:
        key.uses_tensor_cores = field.value != 0;
        break;
      case 11:
        key.is_eligible = field.value != 0;
        break;
      case 12:
        key.op = Utf8Of(field.bytes);
        break;
      case 13:
        report->occurrences = small;
        break;
      case 14:
        report->occupancy = std::bit_cast<float>(small);
        break;
    }
  });
}

bool HasOpStatsName(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  return name.ends_with(".op_stats.pb") || name.ends_with(".op_stats_v2.pb");
}

}  // namespace

std::vector<import::ForeignFile> FindOpStats(const codec::InputPath& path) {
  namespace fs = std::filesystem;
  constexpr size_t kMostEntries = 10'000;
  struct stat status {};
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISREG(status.st_mode) && HasOpStatsName(path.path)) return {import::FileAt(path)};
  if (!S_ISDIR(status.st_mode) || !import::FindXSpaceRun(path).files.empty()) return {};
  std::vector<std::string> names;
  std::error_code error;
  size_t entries = 0;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (HasOpStatsName(name)) names.push_back(name);
  }
  // Those of all hosts have the others in them, and a newer release writes a second file.
  std::sort(names.begin(), names.end(), std::greater<>());
  std::vector<import::ForeignFile> files;
  std::string last_host;
  for (const std::string& name : names) {
    if (name.starts_with(kAllHosts)) return {import::FileAt(path.Below(name))};
    const std::string host = name.substr(0, name.find(".op_stats"));
    if (host != last_host) files.push_back(import::FileAt(path.Below(name)));
    last_host = host;
  }
  std::reverse(files.begin(), files.end());
  return files;
}

Result<OpStats> ParseOpStats(std::string_view bytes) {
  OpStats stats;
  bool has_environment = false;
  uint64_t hardware = 0;
  const bool is_whole = EachField(bytes, [&](const WireField& field) {
    if (field.type != WireType::kBytes) return;
    switch (field.number) {
      case 1:
      case 2:
        ReadOps(field.bytes, field.number == 2, &stats);
        break;
      case 3:
        ReadPeaks(field.bytes, &stats);
        break;
      case 4:
        ReadSteps(field.bytes, &stats.steps);
        break;
      case 5:
        has_environment = true;
        hardware = ReadEnvironment(field.bytes, &stats);
        break;
      case 6:
        EachField(field.bytes, [&](const WireField& kernel) {
          if (kernel.Is(1, WireType::kBytes))
            ReadKernelReport(kernel.bytes, &stats.kernels.emplace_back());
        });
        break;
      case 9:
        EachField(field.bytes, [&](const WireField& said) {
          if (said.Is(2, WireType::kBytes)) stats.warnings.push_back(Utf8Of(said.bytes));
          if (said.Is(3, WireType::kBytes)) stats.errors.push_back(Utf8Of(said.bytes));
        });
        break;
      case 13:
        EachField(field.bytes, [&](const WireField& part) {
          if (part.Is(1, WireType::kFixed64)) stats.mxu_percent = RealOf(part);
          if (part.Is(2, WireType::kFixed64)) stats.hbm_percent = RealOf(part);
        });
        break;
    }
  });
  if (!is_whole || !has_environment) {
    return Unreadable(
        "the file is damaged, or has no statistics of XProf; name the HOST.xplane.pb of the run");
  }
  constexpr uint64_t kTpu = 3;
  if (hardware == kTpu) {
    return Unreadable(
        "the statistics are of TPUs. XProf's pages of TPUs are not covered, only those of GPUs and "
        "CPUs; open the folder with xprof itself");
  }
  return stats;
}

Result<OpStats> ReadOpStatsFile(const import::ForeignFile& file) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  bool is_damaged = false;
  const Result<std::unique_ptr<import::RandomBytes>> bytes =
      import::OpenRandomBytes(file, kMostBytes, &is_damaged);
  if (!bytes.ok()) return bytes.error();
  if ((*bytes)->size() > kMostBytes)
    return Unreadable("the statistics of XProf are larger than 1 GiB");
  std::string text(static_cast<size_t>((*bytes)->size()), '\0');
  size_t at = 0;
  while (at < text.size()) {
    const Result<size_t> got = (*bytes)->ReadAt(at, text.data() + at, text.size() - at);
    if (!got.ok()) return got.error();
    if (*got == 0) break;
    at += *got;
  }
  if (is_damaged || at < text.size()) return Unreadable("the bytes are cut or damaged");
  return ParseOpStats(text);
}

}  // namespace gpuprof::analysis::xprof
