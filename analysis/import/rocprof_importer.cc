// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rocprof_importer.h.

#include "analysis/import/rocprof_importer.h"

#include <algorithm>
#include <cctype>

#include "analysis/import/kineto_fields.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

// Later moments are damage: sums of two stay in 64 bits.
constexpr int64_t kLimitNs = int64_t{1} << 61;
constexpr uint32_t kDriverDomain = 1, kRuntimeDomain = 2;  // CUpti_CallbackDomain
// A process takes kilobytes, and so do an agent and a kind.
constexpr size_t kMostProcesses = 4096, kMostAgents = 4096;

uint32_t Small(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
}

// Returns CUpti_ActivityMemcpyKind. The names are those of rocprofiler_memory_copy_operation_t,
// with a prefix in newer releases; without names the numbers count.
uint8_t CopyKindOf(std::string_view name, uint64_t operation) {
  constexpr uint8_t kToDevice = 1, kToHost = 2, kOnDevice = 8, kOnHost = 9;
  if (name.ends_with("HOST_TO_DEVICE")) return kToDevice;
  if (name.ends_with("DEVICE_TO_HOST")) return kToHost;
  if (name.ends_with("DEVICE_TO_DEVICE")) return kOnDevice;
  if (name.ends_with("HOST_TO_HOST")) return kOnHost;
  constexpr uint8_t kByNumber[] = {0, kOnHost, kToDevice, kToHost, kOnDevice};
  return name.empty() && operation < std::size(kByNumber) ? kByNumber[operation] : 0;
}

// Returns "RCCL" for "rccl_api".
std::string LibraryOf(std::string_view section) {
  std::string name(section.substr(0, section.rfind('_')));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

void RocprofImporter::OnProcess() {
  // Records of further processes join the last one, which is told by its note.
  if (all_.size() == kMostProcesses) {
    all_.back()->unread["further processes"] += 1;
    return;
  }
  all_.push_back(std::make_unique<One>());
  Hold(sizeof(One) + sizeof(Parts));
}

void RocprofImporter::OnFacts(const RocprofProcess& process) {
  all_.back()->facts = process;
  if (machine_.empty() && !(process.machine + process.host).empty())
    machine_ = process.machine + "/" + process.host;
}

void RocprofImporter::OnAgent(const RocprofAgent& agent) {
  if (all_.back()->agents.size() < kMostAgents) all_.back()->agents.push_back(agent);
  Hold(sizeof agent);
}

void RocprofImporter::OnKernel(const RocprofKernel& kernel) {
  Hold(kTextBytes + sizeof kernel + kernel.name.size());
  all_.back()->kernels.insert_or_assign(kernel.id, kernel);
}

void RocprofImporter::OnKind(uint64_t kind, std::string_view name,
                             const std::vector<std::string>& operations) {
  for (const std::string& operation : operations) Hold(sizeof operation + operation.size());
  all_.back()->kinds.insert_or_assign(kind, Kind{std::string(name), operations});
}

void RocprofImporter::OnMessage(uint64_t correlation, std::string_view text) {
  Hold(kTextBytes + text.size());
  all_.back()->messages.emplace(correlation, text);
}

void RocprofImporter::OnUnread(std::string_view section, uint64_t records) {
  auto& unread = all_.back()->unread;
  constexpr size_t kMostSections = 64;
  unread[unread.size() < kMostSections ? std::string(section) : "others"] += records;
}

Error RocprofImporter::Refusal() { return meter_->Check(held_bytes_); }

bool RocprofImporter::SpanOf(const RocprofRecord& record, SpanNs* span) {
  if (record.start_ns == 0 && record.end_ns == 0) {
    notes_.Add(ImportNoteKind::kNoTime, "");
    return false;
  }
  const bool is_valid = record.start_ns && *record.start_ns < kLimitNs;
  if (!is_valid || !record.end_ns || *record.end_ns < *record.start_ns || *record.end_ns > kLimitNs)
    notes_.Add(ImportNoteKind::kBadTime, "");
  if (!is_valid) return false;
  span->start = *record.start_ns;
  span->end = std::clamp(record.end_ns.value_or(span->start), span->start, kLimitNs);
  first_ns_ = std::min(first_ns_, span->start);
  return true;
}

bool RocprofImporter::OnRecord(std::string_view section, const RocprofRecord& record) {
  constexpr uint64_t kRowBytes = 192;  // of a row in the builder, and then in columns
  One& one = *all_.back();
  const bool is_counted = section == "counter_collection";
  const bool is_dispatch = section == "kernel_dispatch" || is_counted;
  if (is_dispatch || section == "memory_copy") {
    Work work;
    if (!SpanOf(record, &work.span)) return true;
    work.correlation = record.correlation;
    work.queue = record.queue;
    work.stream = record.stream;
    if (is_dispatch) {
      Launch launch{record.kernel,    record.agent,      record.scratch_bytes,
                    record.lds_bytes, record.work_items, record.group};
      const auto [at, is_new] = one.launches.try_emplace(launch, 0);
      if (is_new) Hold(2 * sizeof launch + kTextBytes);
      work.launch = &at->first;
    }
    work.from = record.from_agent;
    work.to = record.to_agent;
    work.bytes = record.bytes.value_or(kUnknownBytes);
    // The kind of the record names the operation.
    work.operation = record.kind << 32 | (record.operation & UINT32_MAX);
    if (is_dispatch && !is_counted) one.has_dispatches = true;
    (is_counted ? one.counted : one.work).push_back(work);
    Hold(2 * sizeof work + kRowBytes);
    return true;
  }
  if (!section.ends_with("_api")) return false;
  Call call;
  if (!SpanOf(record, &call.span)) return true;
  call.thread = record.thread;
  call.correlation = record.correlation;
  call.kind = Small(record.kind);
  call.operation = Small(record.operation);
  call.of = section == "hip_api"      ? CallKind::kHip
            : section == "hsa_api"    ? CallKind::kHsa
            : section == "marker_api" ? CallKind::kMarker
                                      : CallKind::kLibrary;
  if (call.of == CallKind::kLibrary) {
    const auto known = std::find(sections_.begin(), sections_.end(), section);
    constexpr size_t kMostSections = 64;
    if (known == sections_.end() && sections_.size() == kMostSections) return false;
    call.domain = static_cast<uint32_t>(known - sections_.begin());
    if (known == sections_.end()) sections_.emplace_back(section);
  }
  one.calls.push_back(call);
  Hold(2 * sizeof call + kRowBytes);
  return true;
}

// Returns the name of an operation. Empty: the file does not tell it.
const std::string& RocprofImporter::NameOf(const One& one, uint32_t kind, uint32_t operation) {
  static const std::string kNone;
  const auto known = one.kinds.find(kind);
  if (known == one.kinds.end() || operation >= known->second.operations.size()) return kNone;
  return known->second.operations[operation];
}

uint32_t RocprofImporter::ThreadOf(uint64_t thread, Parts* parts) {
  const auto [at, is_new] = parts->threads.try_emplace(thread, 0);
  if (is_new) at->second = parts->builder.Thread(static_cast<int64_t>(thread & INT64_MAX));
  return at->second;
}

// GPUs have the numbers that HIP gives them: those of their order among the agents.
void RocprofImporter::AddDevices(Parts* parts) {
  constexpr uint64_t kKhz = 1000, kKib = 1024, kMost = UINT32_MAX / kKib;
  std::vector<const RocprofAgent*> gpus;
  for (const RocprofAgent& agent : parts->one->agents)
    if (agent.is_gpu) gpus.push_back(&agent);
  std::stable_sort(gpus.begin(), gpus.end(), [](const RocprofAgent* x, const RocprofAgent* y) {
    return x->order < y->order;
  });
  for (const RocprofAgent* gpu : gpus) {
    const auto number = static_cast<uint32_t>(parts->devices.size());
    if (!parts->devices.try_emplace(gpu->handle, number).second) continue;
    proto::Device device;
    device.set_id(number);
    device.set_name(gpu->product.empty() ? gpu->name : gpu->product);
    device.set_compute_major(Small(gpu->target / 10'000 % 100));
    device.set_compute_minor(Small(gpu->target / 100 % 100));
    device.set_multiprocessors(Small(gpu->units));
    device.set_core_clock_khz(Small(std::min(gpu->clock_mhz, kMost) * kKhz));
    device.set_threads_per_warp(Small(gpu->wave_lanes));
    device.set_warps_per_multiprocessor(Small(gpu->waves_per_unit));
    device.set_shared_bytes_per_multiprocessor(Small(std::min(gpu->lds_kib, kMost) * kKib));
    device.set_threads_per_block(Small(gpu->workgroup_most));
    device.set_memory_bytes(gpu->memory_bytes);
    parts->builder.process().devices.push_back(std::move(device));
  }
}

void RocprofImporter::AddRange(const Call& call, Parts* parts) {
  RangeRow range;
  range.span = call.span;
  const std::string& operation = NameOf(*parts->one, call.kind, call.operation);
  if (call.of == CallKind::kLibrary) {
    range.name = parts->builder.Intern(
        operation.empty() ? "operation " + std::to_string(call.operation) : operation);
    range.domain = parts->builder.Intern(LibraryOf(sections_[call.domain]));
  } else {
    const auto message = parts->one->messages.find(call.correlation);
    const bool is_told = message != parts->one->messages.end();
    if (!is_told && operation.empty())
      notes_.Add(ImportNoteKind::kUnknownName, std::to_string(call.correlation));
    range.name = parts->builder.Intern(is_told             ? message->second
                                       : operation.empty() ? "marker"
                                                           : operation);
    if (operation.find("Mark") != std::string::npos) {
      range.kind = proto::RangeKind::kMark;
      range.span.end = range.span.start;
    } else if (operation.find("RangeStart") != std::string::npos) {
      range.kind = proto::RangeKind::kStartEnd;
    }
  }
  parts->builder.Add(ThreadOf(call.thread, parts), range);
}

void RocprofImporter::AddCalls(Parts* parts) {
  for (const Call& call : parts->one->calls) {
    if (call.of == CallKind::kMarker || call.of == CallKind::kLibrary) {
      AddRange(call, parts);
      continue;
    }
    const bool is_hip = call.of == CallKind::kHip;
    const std::string& name = NameOf(*parts->one, call.kind, call.operation);
    const auto [function, is_first] =
        parts->functions.try_emplace(uint64_t{call.kind} << 32 | call.operation, 0);
    if (is_first) {
      if (name.empty()) notes_.Add(ImportNoteKind::kUnknownName, std::to_string(call.operation));
      function->second = parts->builder.Function(
          is_hip ? kRuntimeDomain : kDriverDomain,
          name.empty() ? "operation " + std::to_string(call.operation) : name);
    }
    CallRow row;
    row.span = call.span;
    row.function = function->second;
    const auto correlation = static_cast<int64_t>(call.correlation & INT64_MAX);
    row.correlation = Correlation32(correlation);
    row.launches = is_hip && IsLaunchingCall(name);
    parts->builder.Add(ThreadOf(call.thread, parts), row);
    if (correlation == 0) continue;
    bool is_new = false;
    LaunchCall& known = parts->calls.Add(correlation, &is_new);
    if (!is_new) continue;
    known.span = call.span;
    known.name = parts->builder.Intern(name);
    known.launches = row.launches;
  }
}

// Streams of HIP are told by newer releases. Stream 0 is told of work without a stream, too: it is
// told apart by its queue.
uint32_t RocprofImporter::StreamOf(uint32_t device, const Work& work, Parts* parts) {
  const bool is_stream = work.stream != 0;
  const uint64_t handle = is_stream ? work.stream : work.queue;
  constexpr uint32_t kStreams = 1, kQueues = 0;
  if (handle == 0) return parts->builder.Stream(device, kQueues, kNoCudaId);
  const auto [at, is_new] = parts->lanes.try_emplace({is_stream, handle}, 0);
  // Handles of some releases are addresses.
  if (is_new) {
    constexpr uint64_t kSmall = 1 << 20;
    at->second = handle < kSmall ? Small(handle) : Small(kSmall + parts->lanes.size());
  }
  return parts->builder.Stream(device, is_stream ? kStreams : kQueues, at->second);
}

void RocprofImporter::JoinCall(const Work& work, std::string_view what, Parts* parts) {
  // A recording without calls has none that could be missed.
  if (parts->calls.calls().empty()) return;
  const auto correlation = static_cast<int64_t>(work.correlation & INT64_MAX);
  LaunchCall* const call = correlation != 0 ? parts->calls.Find(correlation) : nullptr;
  if (call != nullptr) call->has_work = true;
  if (call != nullptr && work.span.start >= call->span.start) return;
  notes_.Add(call == nullptr ? ImportNoteKind::kNoLaunch : ImportNoteKind::kImpossibleOrder, what);
}

uint32_t RocprofImporter::SignatureOf(const Launch& launch, uint32_t device, Parts* parts) {
  const auto [at, is_new] = parts->signatures.try_emplace(&launch, 0);
  if (!is_new) return at->second;
  proto::Signature signature;
  const auto kernel = parts->one->kernels.find(launch.kernel);
  const bool is_told = kernel != parts->one->kernels.end() && !kernel->second.name.empty();
  if (!is_told) notes_.Add(ImportNoteKind::kUnknownName, std::to_string(launch.kernel));
  signature.set_name(parts->builder.Intern(is_told ? kernel->second.name
                                                   : "kernel " + std::to_string(launch.kernel)));
  signature.set_device(device);
  if (launch.group[0] != 0) {
    for (size_t i = 0; i < 3; ++i) {
      // The grid of HSA counts work-items, that of HIP counts groups.
      const uint64_t group = std::max<uint64_t>(launch.group[i], 1);
      const uint64_t items = std::max<uint64_t>(launch.work_items[i], 1);
      signature.add_grid(Small(items / group + (items % group != 0 ? 1 : 0)));
      signature.add_block(Small(group));
    }
  }
  if (is_told) signature.set_registers(Small(kernel->second.vector_registers));
  const uint64_t fixed = is_told ? std::min(kernel->second.lds_bytes, launch.lds_bytes) : 0;
  signature.set_static_shared_bytes(Small(fixed));
  signature.set_dynamic_shared_bytes(Small(launch.lds_bytes - fixed));
  signature.set_shared_executed_bytes(Small(launch.lds_bytes));
  signature.set_local_bytes_per_thread(Small(launch.scratch_bytes));
  at->second = parts->builder.Signature(signature);
  return at->second;
}

void RocprofImporter::AddCopy(const Work& work, WorkRow row, Parts* parts) {
  constexpr uint8_t kDeviceMemory = 3, kUnknownMemory = 0, kBetweenDevices = 10, kOnDevice = 8;
  const auto from = parts->devices.find(work.from), to = parts->devices.find(work.to);
  const bool is_from = from != parts->devices.end(), is_to = to != parts->devices.end();
  uint8_t kind = CopyKindOf(NameOf(*parts->one, static_cast<uint32_t>(work.operation >> 32),
                                   static_cast<uint32_t>(work.operation)),
                            work.operation & UINT32_MAX);
  const bool is_between = is_from && is_to && from->second != to->second;
  if (kind == kOnDevice && is_between) kind = kBetweenDevices;
  row.bytes = work.bytes;
  row.operation = proto::CopyOperation(kind, is_from ? kDeviceMemory : kUnknownMemory,
                                       is_to ? kDeviceMemory : kUnknownMemory, 0);
  if (is_between) row.peer = (from->second + uint64_t{1}) | (to->second + uint64_t{1}) << 32;
  const uint32_t device = is_from ? from->second : is_to ? to->second : 0;
  JoinCall(work, "a copy", parts);
  parts->builder.AddCopy(StreamOf(device, work, parts), row);
}

void RocprofImporter::AddWork(Parts* parts) {
  for (const Work& work : parts->one->work) {
    WorkRow row;
    row.span = work.span;
    row.correlation = Correlation32(static_cast<int64_t>(work.correlation & INT64_MAX));
    if (work.launch == nullptr) {
      AddCopy(work, row, parts);
      continue;
    }
    const auto known = parts->devices.find(work.launch->agent);
    if (known == parts->devices.end())
      notes_.Add(ImportNoteKind::kUnknownName, "agent " + std::to_string(work.launch->agent));
    const uint32_t device = known == parts->devices.end() ? 0 : known->second;
    row.signature = SignatureOf(*work.launch, device, parts);
    JoinCall(work, "a kernel", parts);
    parts->builder.AddKernel(StreamOf(device, work, parts), row);
  }
}

void RocprofImporter::TellIdleCalls(const Parts& parts) {
  if (parts.one->work.empty()) return;
  const auto& strings = parts.builder.process().strings;
  for (const LaunchCall& call : parts.calls.calls()) {
    if (!call.launches || call.has_work) continue;
    const auto name = strings.find(call.name);
    notes_.Add(ImportNoteKind::kNoKernel,
               name == strings.end() ? std::string_view() : std::string_view(name->second));
  }
}

std::vector<Process> RocprofImporter::Build(const std::string& file, int64_t origin_ns) {
  std::vector<Process> processes;
  for (std::unique_ptr<One>& one : all_) {
    Parts parts;
    parts.one = one.get();
    parts.builder = ProcessBuilder(
        static_cast<int32_t>(std::min<int64_t>(one->facts.pid, INT32_MAX)), one->facts.host);
    // A recording of counters alone has its dispatches there.
    if (!one->has_dispatches)
      one->work.insert(one->work.end(), one->counted.begin(), one->counted.end());
    if (!one->counted.empty()) {
      parts.builder.AddNote(
          "counters of " + std::to_string(one->counted.size()) + " kernels are not read" +
          (one->has_dispatches ? "" : ". Kernels ran one by one while they were counted"));
    }
    AddDevices(&parts);
    AddCalls(&parts);
    AddWork(&parts);
    TellIdleCalls(parts);
    std::string unread;
    for (const auto& [section, records] : one->unread)
      unread += (unread.empty() ? "" : ", ") + section + " (" + std::to_string(records) + ")";
    if (!unread.empty()) parts.builder.AddNote("parts of the file that are not read: " + unread);
    Process& process = parts.builder.process();
    process.file = file;
    process.argv = one->facts.command;
    if (!process.argv.empty()) process.executable = process.argv.front();
    processes.push_back(parts.builder.Finish(origin_ns));
    one.reset();
  }
  return processes;
}

}  // namespace gpuprof::analysis::import
