// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of threads; see kineto_importer.h.

#include <algorithm>
#include <limits>

#include "analysis/import/kineto_importer.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

constexpr uint32_t kDriverDomain = 1, kRuntimeDomain = 2;  // CUpti_CallbackDomain
// A process takes kilobytes, and each row of a device is sought in all: a file of a stranger must
// not have more processes than any program.
constexpr size_t kMostHosts = 4096;
Entity FurtherHosts() { return {"(further processes)", 0, false}; }

constexpr std::string_view kOldHost = "CPU functions", kOldDevice = "CUDA functions";

// CUpti_ActivityOverheadKind's upper half plus 1, by Kineto's names.
uint32_t OverheadOf(std::string_view name) {
  if (name.find("Buffer") != std::string_view::npos) return proto::OverheadOperation(1u << 16);
  if (name.find("Instrumentation") != std::string_view::npos)
    return proto::OverheadOperation(2u << 16);
  if (name.find("Resource") != std::string_view::npos) return proto::OverheadOperation(3u << 16);
  return proto::OverheadOperation(0);
}

}  // namespace

KinetoImporter::Host& KinetoImporter::HostOf(const Entity& process) {
  if (last_host_ != nullptr && last_host_->entity == process) return *last_host_;
  const auto known = hosts_.find(process);
  if (known != hosts_.end()) {
    last_host_ = known->second.get();
    return *last_host_;
  }
  if (hosts_.size() >= kMostHosts && process != FurtherHosts()) {
    Host& further = HostOf(FurtherHosts());
    if (!has_further_hosts_)
      further.builder->AddNote("the file has more than " + std::to_string(kMostHosts) +
                               " processes; rows of the other processes are in one");
    has_further_hosts_ = true;
    return further;
  }
  auto host = std::make_unique<Host>();
  host->entity = process;
  host->group = GroupOf(process.prefix);
  host->builder = std::make_unique<ProcessBuilder>(
      static_cast<int32_t>(process.number & 0x7fffffff), process.prefix);
  host_order_.push_back(host.get());
  if (host->group >= hosts_of_group_.size()) hosts_of_group_.resize(host->group + 1);
  GroupHosts& of_group = hosts_of_group_[host->group];
  if (of_group.count++ == 0) of_group.first = host.get();
  last_host_ = host.get();
  hosts_.emplace(process, std::move(host));
  return *last_host_;
}

KinetoImporter::GroupHosts KinetoImporter::HostsOf(uint32_t group) const {
  return group < hosts_of_group_.size() ? hosts_of_group_[group] : GroupHosts();
}

KinetoImporter::Host* KinetoImporter::OnlyHostOf(uint32_t group) const {
  const GroupHosts hosts = HostsOf(group);
  return hosts.count == 1 ? hosts.first : nullptr;
}

uint32_t KinetoImporter::TimelineOf(Host* host, const Entity& thread) {
  if (thread.has_number && thread.prefix.empty()) return host->builder->Thread(thread.number);
  // A thread that has a name only: far from all numbers that threads can have.
  constexpr int64_t kFirstNamed = int64_t{1} << 40;
  const std::string name =
      thread.has_number ? thread.prefix + " " + std::to_string(thread.number) : thread.prefix;
  const uint32_t timeline = host->builder->Thread(kFirstNamed + TextOf(name));
  if (!name.empty()) host->builder->NameThread(timeline, name);
  return timeline;
}

void KinetoImporter::OnHostRow(const ChromeEvent& event, Category category, SpanNs span) {
  HostRow row;
  row.category = category;
  row.span = span;
  row.name = event.name.text;
  row.thread = EntityOf(event.tid);
  const HostArgs args = HostArgsOf(event);
  row.external = static_cast<uint64_t>(std::max<int64_t>(args.external, 0));
  std::string detail;
  if (category == Category::kOp || category == Category::kAnnotation) {
    detail = DetailOf(event);
    row.detail = detail;
    row.is_backward = args.forward_thread > 0;
    if (args.sequence >= 0) row.sequence = static_cast<uint64_t>(args.sequence) + 1;
  } else if (category == Category::kPython) {
    row.python_id = args.python_id;
    row.python_parent = args.python_parent;
  } else {
    row.correlation = std::max<int64_t>(args.correlation, 0);
  }
  const Entity process = EntityOf(event.pid);
  if (process.number > 0 || !process.has_number) return AddHostRow(&HostOf(process), row);
  StrayRow& kept = stray_.emplace_back();
  kept.row = row;
  kept.name = row.name;
  kept.detail = row.detail;
  kept.group = GroupOf(process.prefix);
  Hold(sizeof kept + kept.name.size() + kept.detail.size());
}

void KinetoImporter::GiveStrayRows() {
  for (StrayRow& stray : stray_) {
    stray.row.name = stray.name;
    stray.row.detail = stray.detail;
    Host* only = OnlyHostOf(stray.group);
    if (only == nullptr) only = &HostOf({groups_[stray.group], 0, true});
    AddHostRow(only, stray.row);
  }
  stray_.clear();
}

void KinetoImporter::AddHostRow(Host* host, const HostRow& row) {
  const uint32_t timeline = TimelineOf(host, row.thread);
  ProcessBuilder& builder = *host->builder;
  switch (row.category) {
    case Category::kPython:
      builder.Add(timeline,
                  PythonRow{row.span, builder.Intern(row.name), row.python_id, row.python_parent});
      return;
    case Category::kRuntime:
    case Category::kDriver:
      return AddCall(host, timeline, row);
    case Category::kOverhead:
      return builder.AddOverhead(timeline, row.span, OverheadOf(row.name));
    default:
      return AddOp(host, timeline, row);
  }
}

void KinetoImporter::AddOp(Host* host, uint32_t timeline, const HostRow& row) {
  OpRow op;
  op.span = row.span;
  op.name = host->builder->Intern(row.name);
  op.external = row.external;
  op.detail = host->builder->Intern(row.detail);
  op.sequence = row.sequence;
  // Old files of torch.profiler have their steps among the operators.
  if (row.category == Category::kAnnotation || row.name.starts_with("ProfilerStep#")) {
    op.scope = proto::OpScope::kUser;
  } else if (row.is_backward) {
    op.scope = proto::OpScope::kBackward;
  }
  if (stop_ns_ != INT64_MIN && row.span.end >= stop_ns_) op.flags = proto::kFlagIncomplete;
  host->builder->Add(timeline, op);
}

void KinetoImporter::AddCall(Host* host, uint32_t timeline, const HostRow& row) {
  CallRow call;
  call.span = row.span;
  call.function = host->builder->Function(
      row.category == Category::kDriver ? kDriverDomain : kRuntimeDomain, row.name);
  call.correlation = Correlation32(row.correlation);
  call.external = row.external;
  const bool launches = IsLaunchingCall(row.name);
  call.launches = launches;
  host->builder->Add(timeline, call);
  if (row.correlation <= 0) return;
  bool is_new = false;
  LaunchCall& known = host->calls.Add(row.correlation, &is_new);
  // Its places are twice as many as calls, and more while they grow.
  if (is_new) Hold(2 * sizeof known);
  if (!is_new && !(launches && !known.launches)) return;
  known.span = row.span;
  known.name = TextOf(row.name);
  known.launches = launches;
}

void KinetoImporter::OnPlainSpan(const ChromeEvent& event, SpanNs span) {
  if (event.pid.text == kOldHost) {
    if (notes_.count(ImportNoteKind::kOtherDialect) == 0)
      notes_.Add(ImportNoteKind::kOtherDialect, "the autograd profiler");
    return OnHostRow(event, Category::kOp, span);
  }
  RangeRow row;
  row.span = span;
  if (event.pid.text == kOldDevice) {
    Host& host = HostOf({std::string(kOldHost), 0, false});
    row.name = host.builder->Intern(event.name.text);
    row.domain = host.builder->Intern(kOldDevice);
    const auto device = static_cast<uint32_t>(WholeNumber(event.tid).value_or(0));
    host.builder->Add(host.builder->Stream(device, 0, 0), row);
    return;
  }
  Host& host = HostOf(EntityOf(event.pid));
  row.name = host.builder->Intern(event.name.text);
  row.domain = host.builder->Intern(event.category.text);
  host.builder->Add(TimelineOf(&host, EntityOf(event.tid)), row);
}

void KinetoImporter::OnMemory(const ChromeEvent& event, int64_t time) {
  const auto number = [&](std::string_view key) { return WholeNumber(event.Arg(key)); };
  const auto unsigned_of = [&](std::string_view key) {
    return static_cast<uint64_t>(std::max<int64_t>(number(key).value_or(0), 0));
  };
  TensorRow row;
  row.time = time;
  row.device = static_cast<uint32_t>(number("Device Type").value_or(0) & 0xff) << 8 |
               static_cast<uint32_t>(number("Device Id").value_or(-1) & 0xff);
  row.address = static_cast<uint64_t>(number("Addr").value_or(0));
  row.bytes = number("Bytes").value_or(0);
  row.total_allocated = unsigned_of("Total Allocated");
  row.total_reserved = unsigned_of("Total Reserved");
  Host& host = HostOf(EntityOf(event.pid));
  host.builder->Add(TimelineOf(&host, EntityOf(event.tid)), row);
}

void KinetoImporter::AddPairs() {
  int64_t last = std::max(pairs_.last(), stop_ns_);
  for (Host* host : host_order_) {
    SpanNs bounds;
    if (host->builder->Bounds(&bounds)) last = std::max(last, bounds.end);
  }
  uint64_t lone_ends = 0;
  for (const PairedSpan& pair : pairs_.Take(last, &lone_ends)) {
    if (!pair.has_end) notes_.Add(ImportNoteKind::kUnmatched, pair.name);
    Host& host = HostOf(pair.process);
    RangeRow row;
    row.span = pair.span;
    row.name = host.builder->Intern(pair.name);
    row.domain = host.builder->Intern(pair.category);
    row.kind = pair.is_async ? proto::RangeKind::kStartEnd : proto::RangeKind::kPushPop;
    row.flags = pair.has_end ? uint8_t{0} : proto::kFlagIncomplete;
    host.builder->Add(TimelineOf(&host, pair.thread), row);
  }
  if (lone_ends != 0) notes_.Add(ImportNoteKind::kUnmatched, "an end without a begin", lone_ends);
}

}  // namespace gpuprof::analysis::import
