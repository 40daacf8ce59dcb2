// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See nsys_importer.h.

#include "analysis/import/nsys_importer.h"

#include <algorithm>
#include <charconv>

#include "analysis/base/utf8.h"
#include "analysis/model/cuda_versions.h"

namespace gpuprof::analysis::import {
namespace {

// Later and earlier moments than these are damage: sums of two stay in 64 bits.
constexpr int64_t kLimitNs = int64_t{1} << 61;
// A time in the year 2001: no trace is older, and no machine counts so far from its start.
constexpr int64_t kLongAgoNs = 1'000'000'000'000'000'000;
// A process takes kilobytes: a file of a stranger must not have more of them than any program.
constexpr size_t kMostHosts = 4096;
constexpr uint64_t kFurtherHosts = UINT64_MAX;
// Texts that are files have an id, too: names of code are shorter.
constexpr size_t kMostTextBytes = 64 << 10;

constexpr std::string_view kRowTables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                           "CUPTI_ACTIVITY_KIND_MEMCPY",
                                           "CUPTI_ACTIVITY_KIND_MEMSET",
                                           "CUPTI_ACTIVITY_KIND_RUNTIME",
                                           "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                           "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                           "NVTX_EVENTS",
                                           "OSRT_API"};

// Tables with rows in time that have no place here.
constexpr std::string_view kOtherTables[] = {"COMPOSITE_EVENTS",
                                             "SCHED_EVENTS",
                                             "GENERIC_EVENTS",
                                             "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                             "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                             "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                             "CUDNN_EVENTS",
                                             "CUBLAS_EVENTS",
                                             "MPI_P2P_EVENTS",
                                             "MPI_COLLECTIVES_EVENTS",
                                             "MPI_OTHER_EVENTS",
                                             "UCP_EVENTS",
                                             "NVSHMEM_EVENTS",
                                             "OPENACC_LAUNCH_EVENTS",
                                             "OPENMP_EVENT_KIND_PARALLEL",
                                             "GPU_CONTEXT_SWITCH_EVENTS",
                                             "NET_NIC_METRIC",
                                             "IB_SWITCH_METRIC",
                                             "PYTHON_GC_EVENTS",
                                             "SAMPLING_CALLCHAINS",
                                             "VULKAN_API",
                                             "OPENGL_API"};

std::string Kept(std::string_view text, NoteCounts* notes) {
  bool is_repaired = false;
  std::string kept = Utf8Of(text.substr(0, kMostTextBytes), &is_repaired);
  if (is_repaired) notes->Add(ImportNoteKind::kBadText, "");
  return kept;
}

}  // namespace

bool IsNsysExport(const SqliteFile& file) {
  if (!file.HasTable("StringIds")) return false;
  return std::any_of(std::begin(kRowTables), std::end(kRowTables),
                     [&](std::string_view table) { return file.HasTable(table); });
}

bool NsysImporter::Next(SqliteRows* rows) {
  constexpr uint64_t kRowsAtOnce = 1024;
  if (is_full_) return false;
  if (rows_++ % kRowsAtOnce == 0) {
    uint64_t bytes = held_bytes_;
    for (const Host* host : host_order_) bytes += host->builder.held_bytes();
    if (const Error error = meter_->Check(bytes)) {
      is_full_ = true;
      faults_.push_back(error.message);
      return false;
    }
  }
  if (rows->Next()) return true;
  if (rows->error())
    faults_.push_back(rows->error().message + ": later rows of the table are lost");
  return false;
}

bool NsysImporter::SpanOf(const SqliteRows& rows, SpanNs* span) {
  const std::optional<int64_t> start = rows.Number(0), end = rows.Number(1);
  const bool is_valid = start && *start<kLimitNs&& * start> - kLimitNs;
  if (!is_valid || !end || *end < *start || *end > kLimitNs) {
    notes_.Add(ImportNoteKind::kBadTime, "");
    if (!is_valid) return false;
  }
  span->start = *start;
  span->end = end ? std::clamp(*end, *start, kLimitNs) : *start;
  Cover(*span);
  return true;
}

void NsysImporter::Cover(SpanNs span) {
  first_ns_ = std::min(first_ns_, span.start);
  last_ns_ = std::max(last_ns_, span.end);
}

void NsysImporter::ReadTexts() {
  constexpr std::string_view kColumns[] = {"id", "value"};
  SqliteRows rows = file_->Read("StringIds", kColumns);
  while (Next(&rows)) {
    const std::optional<int64_t> id = rows.Number(0);
    const std::optional<std::string_view> text = rows.Text(1);
    if (!id || !text) continue;
    Hold(kTextBytes + std::min(text->size(), kMostTextBytes));
    texts_.emplace(*id, Kept(*text, &notes_));
  }
}

std::string_view NsysImporter::TextOf(int64_t id) const {
  const auto known = texts_.find(id);
  return known == texts_.end() ? std::string_view() : known->second;
}

uint32_t NsysImporter::NameIn(Host* host, int64_t id) {
  const auto [at, is_new] = host->names.try_emplace(id, 0);
  if (!is_new) return at->second;
  Hold(kTextBytes);
  const auto known = texts_.find(id);
  if (known == texts_.end()) notes_.Add(ImportNoteKind::kUnknownName, std::to_string(id));
  at->second = host->builder.Intern(known == texts_.end() ? std::to_string(id) : known->second);
  return at->second;
}

NsysImporter::Host& NsysImporter::HostOf(uint64_t key) {
  if (last_host_ != nullptr && last_host_->key == key) return *last_host_;
  const auto known = hosts_.find(key);
  if (known != hosts_.end()) {
    last_host_ = known->second.get();
    return *last_host_;
  }
  if (hosts_.size() >= kMostHosts && key != kFurtherHosts) {
    Host& further = HostOf(kFurtherHosts);
    if (!has_further_hosts_)
      further.builder.AddNote("the file has more than " + std::to_string(kMostHosts) +
                              " processes; rows of the other processes are in one");
    has_further_hosts_ = true;
    return further;
  }
  auto host = std::make_unique<Host>();
  host->key = key;
  host->builder = ProcessBuilder(static_cast<int32_t>(key & 0xffffff), machine_);
  host_order_.push_back(host.get());
  last_host_ = host.get();
  hosts_.emplace(key, std::move(host));
  return *last_host_;
}

// Old exports do not name the process of work on a device.
NsysImporter::Host& NsysImporter::HostOfProcess(std::optional<int64_t> global_pid) {
  constexpr int kThreadBits = 24;
  if (global_pid) return HostOf(static_cast<uint64_t>(*global_pid) >> kThreadBits);
  return host_order_.size() == 1 ? *host_order_.front() : HostOf(0);
}

std::pair<NsysImporter::Host*, uint32_t> NsysImporter::ThreadOf(std::optional<int64_t> global_tid) {
  Host& host = HostOfProcess(global_tid);
  const auto id = static_cast<uint64_t>(global_tid.value_or(0));
  const auto [at, is_new] = host.threads.try_emplace(id, 0);
  if (is_new) {
    at->second = host.builder.Thread(static_cast<int64_t>(id & 0xffffff));
    Hold(kTextBytes);
  }
  return {&host, at->second};
}

// Times of rows count from the start of the session, or they are those of a clock of the machine.
// An export may also have been asked to write times of the wall clock.
void NsysImporter::ReadClock() {
  constexpr std::string_view kStart[] = {"utcEpochNs", "systemClockNs"};
  constexpr std::string_view kDetails[] = {"startTime"};
  SqliteRows rows = file_->Read("TARGET_INFO_SESSION_START_TIME", kStart);
  if (!Next(&rows)) return;
  const std::optional<int64_t> wall = rows.Number(0);
  std::optional<int64_t> start = rows.Number(1);
  SqliteRows details = file_->Read("ANALYSIS_DETAILS", kDetails);
  if (Next(&details) && details.Number(0)) start = details.Number(0);
  if (!wall || *wall < kLongAgoNs || *wall > 2 * kLongAgoNs + kLimitNs) return;
  is_wall_clock_ = true;
  const int64_t from = start.value_or(0);
  if (from > -kLimitNs && from < kLimitNs) base_ns_ = *wall - from;
}

void NsysImporter::ReadProcesses() {
  constexpr std::string_view kColumns[] = {"globalPid", "name"};
  SqliteRows rows = file_->Read("PROCESSES", kColumns);
  while (Next(&rows)) {
    const std::optional<int64_t> id = rows.Number(0);
    const std::optional<std::string_view> name = rows.Text(1);
    if (!id || !name) continue;
    Hold(kTextBytes + std::min(name->size(), kMostTextBytes));
    process_names_.emplace(static_cast<uint64_t>(*id) >> 24, Kept(*name, &notes_));
  }
}

void NsysImporter::ReadMachine() {
  constexpr std::string_view kColumns[] = {"name", "value"};
  SqliteRows rows = file_->Read("TARGET_INFO_SYSTEM_ENV", kColumns);
  while (Next(&rows)) {
    const std::string_view name = rows.Text(0).value_or("");
    const std::string_view value = rows.Text(1).value_or("");
    if (name == "Hostname" && machine_.empty()) machine_ = Kept(value, &notes_);
    int64_t number = 0;
    if (name != "CudaDriverVersion" || !versions_.empty() ||
        std::from_chars(value.data(), value.data() + value.size(), number).ec != std::errc())
      continue;
    const std::string text = CudaVersionText(kCudaVersions[0], number);
    if (!text.empty()) versions_.push_back(text);
  }
}

// Tells what Nsight Systems itself says of its recording: it lost rows, or could not record.
void NsysImporter::TellDiagnostics() {
  constexpr int64_t kWarning = 2, kError = 3;
  constexpr std::string_view kColumns[] = {"severity", "text"};
  SqliteRows rows = file_->Read("DIAGNOSTIC_EVENT", kColumns);
  while (Next(&rows)) {
    const int64_t severity = rows.NumberOr(0, 0);
    if (severity != kWarning && severity != kError) continue;
    notes_.Add(ImportNoteKind::kSaidByFile, Kept(rows.Text(1).value_or(""), &notes_));
  }
}

// Names tables that have rows and are not read.
void NsysImporter::TellOtherTables() {
  std::string names;
  for (const std::string_view table : kOtherTables) {
    constexpr std::string_view kAny[] = {"start",     "timestamp", "rawTimestamp",
                                         "globalTid", "id",        "typeId"};
    SqliteRows rows = file_->Read(table, kAny);
    if (Next(&rows)) names.append(names.empty() ? "" : ", ").append(table);
  }
  if (names.empty() || host_order_.empty()) return;
  host_order_.front()->builder.AddNote("tables of the file that are not read: " + names);
}

void NsysImporter::Read() {
  ReadMachine();
  ReadClock();
  ReadTexts();
  ReadProcesses();
  ReadCalls();
  ReadKernels();
  ReadCopies();
  ReadSets();
  ReadGraphLaunches();
  ReadEvents();
  ReadSyncs();
  TellIdleCalls();
  ReadRanges();
  ReadSystemCalls();
  ReadOverheads("CUPTI_ACTIVITY_KIND_OVERHEAD");
  ReadOverheads("PROFILER_OVERHEAD");
  ReadThreadNames();
  // Rows come in any order.
  std::sort(host_order_.begin(), host_order_.end(),
            [](const Host* x, const Host* y) { return x->key < y->key; });
  ReadDevices();
  ReadMetrics();
  TellDiagnostics();
  TellOtherTables();
  if (first_ns_ > kLongAgoNs && has_rows()) {
    is_wall_clock_ = true;
    base_ns_ = 0;
  }
}

std::vector<Process> NsysImporter::Build(const std::string& file, int64_t origin_ns) {
  std::vector<Process> processes;
  const int64_t shift = origin_ns - base_ns_;
  for (Host* host : host_order_) {
    for (const Wait& wait : host->waits) {
      // The call's name is all that is known of who waits.
      const uint64_t caller = NamedFrame(wait.name);
      host->builder.Append<proto::ChunkKind::kWait>(
          wait.timeline, {}, wait.span.end - shift, wait.span.end - wait.span.start, wait.operation,
          0, caller, host->builder.process().stacks.Child(0, caller), 0);
    }
    Process& process = host->builder.process();
    process.file = file;
    const auto name = process_names_.find(host->key);
    if (name != process_names_.end() && !name->second.empty()) {
      process.executable = name->second;
      process.argv = {name->second};
    }
    for (const std::string& version : versions_) {
      proto::Note* note = process.health.add_note();
      note->set_source(kVersionSource);
      note->set_text(version);
    }
    processes.push_back(host->builder.Finish(shift));
  }
  return processes;
}

}  // namespace gpuprof::analysis::import
