// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of threads; see nsys_importer.h.

#include <algorithm>

#include "analysis/base/utf8.h"
#include "analysis/import/kineto_fields.h"
#include "analysis/import/nsys_importer.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

constexpr uint32_t kDriverDomain = 1, kRuntimeDomain = 2;  // CUpti_CallbackDomain
// Of ENUM_NSYS_EVENT_CLASS.
constexpr int64_t kDriverClass = 1;
// Of ENUM_NSYS_EVENT_TYPE. Text files of NVTX have numbers of their own.
enum NvtxEvent : int64_t {
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kTextMark = 65,
  kTextPushPop = 70,
  kTextStartEnd = 71,
  kDomain = 75,
};

// Calls of the C library that wait.
struct WaitName {
  std::string_view name;
  proto::WaitKind kind;
};
constexpr WaitName kWaits[] = {
    {"accept", proto::WaitKind::kInput},
    {"accept4", proto::WaitKind::kInput},
    {"clock_nanosleep", proto::WaitKind::kSleep},
    {"epoll_pwait", proto::WaitKind::kEvents},
    {"epoll_wait", proto::WaitKind::kEvents},
    {"fgets", proto::WaitKind::kInput},
    {"fread", proto::WaitKind::kInput},
    {"nanosleep", proto::WaitKind::kSleep},
    {"poll", proto::WaitKind::kEvents},
    {"ppoll", proto::WaitKind::kEvents},
    {"pread", proto::WaitKind::kInput},
    {"pread64", proto::WaitKind::kInput},
    {"preadv", proto::WaitKind::kInput},
    {"pselect", proto::WaitKind::kEvents},
    {"pthread_barrier_wait", proto::WaitKind::kBarrier},
    {"pthread_cond_clockwait", proto::WaitKind::kCondition},
    {"pthread_cond_timedwait", proto::WaitKind::kCondition},
    {"pthread_cond_wait", proto::WaitKind::kCondition},
    {"pthread_join", proto::WaitKind::kJoin},
    {"pthread_mutex_lock", proto::WaitKind::kMutex},
    {"pthread_mutex_timedlock", proto::WaitKind::kMutex},
    {"pthread_rwlock_rdlock", proto::WaitKind::kRwlockRead},
    {"pthread_rwlock_timedrdlock", proto::WaitKind::kRwlockRead},
    {"pthread_rwlock_timedwrlock", proto::WaitKind::kRwlockWrite},
    {"pthread_rwlock_wrlock", proto::WaitKind::kRwlockWrite},
    {"pthread_timedjoin_np", proto::WaitKind::kJoin},
    {"read", proto::WaitKind::kInput},
    {"readv", proto::WaitKind::kInput},
    {"recv", proto::WaitKind::kInput},
    {"recvfrom", proto::WaitKind::kInput},
    {"recvmsg", proto::WaitKind::kInput},
    {"select", proto::WaitKind::kEvents},
    {"sem_clockwait", proto::WaitKind::kSemaphore},
    {"sem_timedwait", proto::WaitKind::kSemaphore},
    {"sem_wait", proto::WaitKind::kSemaphore},
    {"sleep", proto::WaitKind::kSleep},
    {"usleep", proto::WaitKind::kSleep},
    {"wait", proto::WaitKind::kChild},
    {"wait3", proto::WaitKind::kChild},
    {"wait4", proto::WaitKind::kChild},
    {"waitid", proto::WaitKind::kChild},
    {"waitpid", proto::WaitKind::kChild},
};

std::optional<proto::WaitKind> WaitKindNamed(std::string_view name) {
  const auto* const at =
      std::lower_bound(std::begin(kWaits), std::end(kWaits), name,
                       [](const WaitName& x, std::string_view y) { return x.name < y; });
  if (at == std::end(kWaits) || at->name != name) return std::nullopt;
  return at->kind;
}

// Returns CUpti_ActivityOverheadKind for a value of ENUM_CUPTI_OVERHEAD_TYPE.
uint32_t OverheadKind(int64_t type) {
  constexpr int64_t kCompiler = 2, kFirst = 3, kLast = 10;
  if (type == kCompiler) return 1;
  return type >= kFirst && type <= kLast ? static_cast<uint32_t>(type - kFirst + 1) << 16 : 0;
}

}  // namespace

uint32_t NsysImporter::FunctionIn(Host* host, int64_t name, bool is_driver) {
  const auto key = static_cast<int64_t>(static_cast<uint64_t>(name) << 1 | (is_driver ? 1 : 0));
  const auto [at, is_new] = host->functions.try_emplace(key, 0);
  if (!is_new) return at->second;
  Hold(kTextBytes);
  const std::string_view text = TextOf(name);
  if (text.empty()) notes_.Add(ImportNoteKind::kUnknownName, std::to_string(name));
  at->second = host->builder.Function(is_driver ? kDriverDomain : kRuntimeDomain,
                                      text.empty() ? std::to_string(name) : std::string(text));
  return at->second;
}

void NsysImporter::ReadCalls() {
  enum Column { kStart, kEnd, kClass, kThread, kCorrelation, kName, kResult };
  constexpr std::string_view kColumns[] = {"start",         "end",    "eventClass", "globalTid",
                                           "correlationId", "nameId", "returnValue"};
  SqliteRows rows = file_->Read("CUPTI_ACTIVITY_KIND_RUNTIME", kColumns);
  std::unordered_map<int64_t, bool> launching;
  while (Next(&rows)) {
    CallRow call;
    if (!SpanOf(rows, &call.span)) continue;
    const auto [host, timeline] = ThreadOf(rows.Number(kThread));
    const int64_t name = rows.NumberOr(kName, -1);
    const auto [launches, is_first] = launching.try_emplace(name, false);
    if (is_first) launches->second = IsLaunchingCall(TextOf(name));
    const int64_t correlation = rows.NumberOr(kCorrelation, 0);
    call.function = FunctionIn(host, name, rows.NumberOr(kClass, 0) == kDriverClass);
    call.correlation = Correlation32(correlation);
    call.result = static_cast<uint32_t>(rows.NumberOr(kResult, 0));
    call.launches = launches->second;
    host->builder.Add(timeline, call);
    if (correlation <= 0) continue;
    bool is_new = false;
    LaunchCall& known = host->calls.Add(correlation, &is_new);
    if (is_new) Hold(2 * sizeof known);
    if (!is_new && !(call.launches && !known.launches)) continue;
    known.span = call.span;
    known.name = NameIn(host, name);
    known.launches = call.launches;
  }
}

void NsysImporter::ReadSystemCalls() {
  enum Column { kStart, kEnd, kThread, kName };
  constexpr std::string_view kColumns[] = {"start", "end", "globalTid", "nameId"};
  SqliteRows rows = file_->Read("OSRT_API", kColumns);
  std::unordered_map<int64_t, std::optional<proto::WaitKind>> kinds;
  uint64_t others = 0;
  std::string other;
  while (Next(&rows)) {
    const int64_t name = rows.NumberOr(kName, -1);
    const auto [kind, is_new] = kinds.try_emplace(name, std::nullopt);
    if (is_new) {
      kind->second = WaitKindNamed(TextOf(name));
      Hold(kTextBytes);
    }
    if (!kind->second) {
      if (others++ == 0) other = TextOf(name);
      continue;
    }
    SpanNs span;
    if (!SpanOf(rows, &span)) continue;
    const auto [host, timeline] = ThreadOf(rows.Number(kThread));
    host->waits.push_back(
        {timeline, static_cast<uint32_t>(*kind->second), NameIn(host, name), span});
    constexpr uint64_t kColumnBytes = 64;
    Hold(2 * sizeof(Wait) + kColumnBytes);
  }
  if (others == 0 || host_order_.empty()) return;
  host_order_.front()->builder.AddNote(std::to_string(others) +
                                       " calls of the C library do not wait and are not shown (" +
                                       other + ")");
}

std::string_view NsysImporter::NvtxText(const SqliteRows& rows, std::string* room) const {
  constexpr size_t kText = 5, kTextId = 6, kMostBytes = 64 << 10;
  if (const std::optional<std::string_view> text = rows.Text(kText); text && !text->empty())
    return Utf8In(text->substr(0, kMostBytes), room);
  const std::optional<int64_t> id = rows.Number(kTextId);
  return id ? TextOf(*id) : std::string_view();
}

namespace {

constexpr std::string_view kRangeColumns[] = {"start",    "end",  "eventType", "globalTid",
                                              "domainId", "text", "textId"};
enum RangeColumn { kRangeStart, kRangeEnd, kRangeType, kRangeThread, kRangeDomain };

}  // namespace

// Gives ranges the names of their domains, which the file may tell behind the ranges.
void NsysImporter::GiveDomains(const std::vector<DomainRange>& ranges) {
  for (DomainRange each : ranges) {
    const auto known = domains_.find({each.host->key, each.domain});
    each.range.domain = each.host->builder.Intern(known != domains_.end() && !known->second.empty()
                                                      ? known->second
                                                      : "domain " + std::to_string(each.domain));
    each.host->builder.Add(each.timeline, each.range);
  }
}

void NsysImporter::ReadRanges() {
  SqliteRows rows = file_->Read("NVTX_EVENTS", kRangeColumns);
  const bool has_types = rows.Has(kRangeType);
  std::vector<DomainRange> of_domains;
  std::string room;
  while (Next(&rows)) {
    const int64_t type = has_types ? rows.NumberOr(kRangeType, 0) : kPushPop;
    RangeRow range;
    const bool is_mark = type == kMark || type == kTextMark;
    const bool is_push = type == kPushPop || type == kTextPushPop;
    const bool is_range = is_push || type == kStartEnd || type == kTextStartEnd;
    if (type == kDomain) {
      std::string name(NvtxText(rows, &room));
      Hold(kTextBytes + name.size());
      const auto process = static_cast<uint64_t>(rows.NumberOr(kRangeThread, 0)) >> 24;
      domains_.insert_or_assign({process, rows.NumberOr(kRangeDomain, 0)}, std::move(name));
    } else if (type == kThreadName) {
      const auto [host, timeline] = ThreadOf(rows.Number(kRangeThread));
      host->builder.NameThread(timeline, NvtxText(rows, &room));
    }
    if (!is_mark && !is_range) continue;
    const std::optional<int64_t> start = rows.Number(kRangeStart);
    if (start && !rows.Number(kRangeEnd)) {
      // It had not ended when the recording did.
      constexpr int64_t kFarNs = int64_t{1} << 61;
      if (*start < -kFarNs || *start > kFarNs) {
        notes_.Add(ImportNoteKind::kBadTime, "");
        continue;
      }
      range.span = {*start, is_mark ? *start : std::max(*start, last_ns_)};
      if (!is_mark) range.flags = proto::kFlagIncomplete;
      Cover({*start, *start});
    } else if (!SpanOf(rows, &range.span)) {
      continue;
    }
    if (is_mark) range.span.end = range.span.start;
    range.kind = is_mark   ? proto::RangeKind::kMark
                 : is_push ? proto::RangeKind::kPushPop
                           : proto::RangeKind::kStartEnd;
    const auto [host, timeline] = ThreadOf(rows.Number(kRangeThread));
    const std::string_view text = NvtxText(rows, &room);
    range.name = host->builder.Intern(text);
    if (range.flags != 0) notes_.Add(ImportNoteKind::kUnmatched, text);
    if (const int64_t domain = rows.NumberOr(kRangeDomain, 0); domain != 0) {
      of_domains.push_back({host, timeline, range, domain});
      Hold(2 * sizeof(DomainRange));
      continue;
    }
    host->builder.Add(timeline, range);
  }
  GiveDomains(of_domains);
}

void NsysImporter::ReadOverheads(std::string_view table) {
  enum Column { kStart, kEnd, kThread, kType };
  constexpr std::string_view kColumns[] = {"start", "end", "globalTid", "overheadType"};
  SqliteRows rows = file_->Read(table, kColumns);
  while (Next(&rows)) {
    SpanNs span;
    if (!SpanOf(rows, &span)) continue;
    const auto [host, timeline] = ThreadOf(rows.Number(kThread));
    host->builder.AddOverhead(timeline, span,
                              proto::OverheadOperation(OverheadKind(rows.NumberOr(kType, 0))));
  }
}

// Names the threads that have rows.
void NsysImporter::ReadThreadNames() {
  enum Column { kName, kThread };
  constexpr std::string_view kColumns[] = {"nameId", "globalTid"};
  SqliteRows rows = file_->Read("ThreadNames", kColumns);
  while (Next(&rows)) {
    const std::optional<int64_t> thread = rows.Number(kThread);
    if (!thread) continue;
    const auto host = hosts_.find(static_cast<uint64_t>(*thread) >> 24);
    if (host == hosts_.end()) continue;
    const auto timeline = host->second->builder.FindThread(*thread & 0xffffff);
    if (timeline) host->second->builder.NameThread(*timeline, TextOf(rows.NumberOr(kName, -1)));
  }
}

}  // namespace gpuprof::analysis::import
