// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lines of devices; see xspace_importer.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/import/kineto_fields.h"
#include "analysis/import/later_rows.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_stats.h"
#include "proto/operations.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

// Ids of streams have 32 bits in the model.
uint32_t StreamOf(int64_t id) {
  const auto bits = static_cast<uint64_t>(id);
  return bits < kNoCudaId ? static_cast<uint32_t>(bits)
                          : static_cast<uint32_t>((bits ^ bits >> 32) & 0x7fffffff);
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

// Returns the id under which work without a name is shown. Ids of a file of a stranger must not
// fill the memory.
int64_t XSpaceImporter::NamelessId(int64_t metadata_id) {
  constexpr size_t kMostNameless = 4096;
  if (nameless_work_.size() == kMostNameless)
    return nameless_work_.count(metadata_id) ? metadata_id : -1;
  nameless_work_.insert(metadata_id);
  return metadata_id;
}

// Returns a timeline for a line whose rows are not work: "GPU 0 XLA Modules".
uint32_t XSpaceImporter::DerivedTimeline() {
  const std::string_view line = line_.display_name.empty() ? line_.name : line_.display_name;
  std::string name;
  if (place_.kind == PlaneKind::kOther) {
    name = plane_->plane_name;
  } else {
    name = (place_.kind == PlaneKind::kTpu ? "TPU " : "GPU ") + std::to_string(place_.device);
    if (!place_.part.empty()) name += " " + place_.part;
  }
  if (!line.empty()) name += " " + std::string(line);
  name = Utf8Of(name, &has_bad_text_);
  const auto known = derived_.find(name);
  if (known != derived_.end()) return known->second;
  // Far from all numbers that threads can have.
  constexpr int64_t kFirstNamed = int64_t{1} << 40;
  const uint32_t timeline = builder_.Thread(kFirstNamed + named_threads_++);
  builder_.NameThread(timeline, name);
  constexpr size_t kMostNames = 1 << 16;
  if (derived_.size() < kMostNames) derived_.emplace(name, timeline);
  return timeline;
}

void XSpaceImporter::OnDeviceLine(const XLine& line) {
  device_line_ = DeviceLineOf(place_.kind, line.id, line.name);
  switch (device_line_) {
    case DeviceLine::kWork:
      // Parts of a device have streams of their own.
      timeline_ = builder_.Stream(place_.device, place_.part.empty() ? 0 : NameOf(place_.part),
                                  StreamOf(line.id));
      if (place_.kind == PlaneKind::kGpu) streams_.insert(timeline_);
      return;
    case DeviceLine::kCounters:
    case DeviceLine::kOverhead:
      timeline_ = builder_.Stream(place_.device, 0, kNoCudaId);
      return;
    default:
      timeline_ = DerivedTimeline();
      domain_ = NameOf(line.name);
  }
}

void XSpaceImporter::OnDeviceEvent(const XEvent& event, SpanNs span) {
  switch (device_line_) {
    case DeviceLine::kWork:
      return OnWork(event, span);
    case DeviceLine::kCounters:
      return AddSamples(event, span.start);
    case DeviceLine::kOverhead:
      return builder_.AddOverhead(timeline_, span, proto::OverheadOperation(0));
    default:
      AddDerived(event, span, device_line_ == DeviceLine::kSteps,
                 device_line_ == DeviceLine::kAsync);
  }
}

void XSpaceImporter::OnWork(const XEvent& event, SpanNs span) {
  int64_t correlation = 0;
  const auto event_name = plane_->FindEvent(event.metadata_id);
  const int64_t id = event_name ? event.metadata_id : NamelessId(event.metadata_id);
  key_.assign(reinterpret_cast<const char*>(&id), sizeof id);
  for (const std::string_view message : event.stats) {
    const XStat stat = ReadXStat(message);
    switch (RoleOf(stat.metadata_id)) {
      case StatRole::kCorrelation: {
        uint32_t unknown = 0;
        correlation = WholeNumberOf(stat, TextOf(stat, &unknown)).value_or(0);
        break;
      }
      case StatRole::kDetail:
      case StatRole::kHloOp:
      case StatRole::kKernelDetails:
      case StatRole::kCopyDetails:
      case StatRole::kSetDetails:
      case StatRole::kGraph:
      case StatRole::kGraphNode:
      case StatRole::kScope:
        key_ += message;
        break;
      default:
        break;
    }
  }
  const std::string name = event_name ? std::string() : std::to_string(id);
  if (!event_name) notes_.Add(ImportNoteKind::kUnknownName, "event " + name);
  const std::string_view shown = event_name ? plane_->EventName(*event_name) : name;
  if (const uint32_t* const known = work_numbers_.Find(key_))
    return AddWork(works_[*known], span, correlation, shown);
  const Work work = MakeWork(event, id);
  if (TakePlaneRoom(key_.size() + sizeof work + 80)) {
    work_numbers_.Add(key_, static_cast<uint32_t>(works_.size()));
    works_.push_back(work);
  }
  AddWork(work, span, correlation, shown);
}

void XSpaceImporter::FillWork(const std::vector<XStat>& stats, DetailText* detail, Work* work,
                              KernelShape* shape) {
  for (const XStat& stat : stats) {
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place) continue;
    const StatRole role = roles_[*place];
    if (role == StatRole::kDetail || role == StatRole::kHloOp) {
      AddMember(stat, detail, &work->unknown);
      const std::string_view key = plane_->StatName(*place);
      if (key == "hlo_category") {
        const std::string_view category = TextOf(stat, &work->unknown);
        work->groups_work = category == "while" || category == "conditional" || category == "call";
      }
      continue;
    }
    if (role == StatRole::kIgnored || role == StatRole::kCorrelation) continue;
    const std::string_view text = TextOf(stat, &work->unknown);
    const int64_t number = std::max<int64_t>(WholeNumberOf(stat, text).value_or(0), 0);
    if (role == StatRole::kKernelDetails) *shape = KernelShapeOf(text);
    if (role == StatRole::kGraph)
      work->row.graph = number < kNoCudaId ? static_cast<uint32_t>(number) : 0;
    if (role == StatRole::kGraphNode) work->row.graph_node = static_cast<uint64_t>(number);
    if (role == StatRole::kScope) {
      if (const std::string path = scopes_.PathOf(number); !path.empty())
        detail->AddText("scope", path);
    }
    if (role == StatRole::kCopyDetails || role == StatRole::kSetDetails) {
      const CopyFacts facts = CopyFactsOf(text);
      work->kind.is_copy = role == StatRole::kCopyDetails;
      work->kind.is_set = !work->kind.is_copy;
      if (facts.kind != 0 && work->kind.is_copy) work->kind.kind = facts.kind;
      if (facts.bytes) work->row.bytes = *facts.bytes;
      const bool tells_memory = work->kind.is_set && facts.memory != 0;
      work->row.operation =
          proto::CopyOperation(0, facts.source, tells_memory ? facts.memory : facts.destination, 0);
    }
  }
}

XSpaceImporter::Work XSpaceImporter::MakeWork(const XEvent& event, int64_t id) {
  Work work;
  DetailText detail;
  KernelShape shape;
  std::string name = "unknown " + std::to_string(id);
  if (const auto metadata = plane_->FindEvent(event.metadata_id)) {
    const std::string_view full = plane_->EventName(*metadata);
    if (place_.kind == PlaneKind::kTpu) {
      constexpr size_t kMostText = 4096;
      const std::string_view shown = plane_->DisplayName(*metadata);
      name = shown.empty() ? HloNameOf(full) : shown;
      if (full != name) detail.AddText("hlo", full.substr(0, kMostText));
    } else {
      name = full;
      work.kind = WorkNameOf(full);
    }
    FillWork(plane_->EventStats(*metadata), &detail, &work, &shape);
  }
  std::vector<XStat> stats;
  for (const std::string_view message : event.stats) stats.push_back(ReadXStat(message));
  FillWork(stats, &detail, &work, &shape);
  work.row.operation |= proto::CopyOperation(work.kind.kind, 0, 0, 0);
  work.row.detail = Detail(&detail);
  work.name = NewName(name);
  if (work.kind.graph && work.row.graph == 0) work.row.graph = *work.kind.graph;
  if (work.kind.is_copy || work.kind.is_set || work.kind.graph || work.groups_work) return work;
  proto::Signature signature;
  signature.set_name(work.name);
  signature.set_device(place_.device);
  constexpr uint64_t kSignatureBytes = 600;
  if (name_room_ < kSignatureBytes) {
    notes_.Add(ImportNoteKind::kDetail, "");
    signature.set_name(builder_.Intern("(further names)"));
    work.row.signature = builder_.Signature(signature);
    return work;
  }
  if (shape.grid != std::array<uint32_t, 3>{}) {
    for (const uint32_t size : shape.grid) signature.add_grid(size);
    for (const uint32_t size : shape.block) signature.add_block(size);
  }
  signature.set_registers(shape.registers);
  signature.set_static_shared_bytes(shape.static_shared);
  signature.set_dynamic_shared_bytes(shape.dynamic_shared);
  signature.set_local_bytes_per_thread(shape.local_bytes);
  const size_t before = builder_.process().signatures.size();
  work.row.signature = builder_.Signature(signature);
  if (builder_.process().signatures.size() != before) name_room_ -= kSignatureBytes;
  return work;
}

void XSpaceImporter::AddWork(const Work& work, SpanNs span, int64_t correlation,
                             std::string_view name) {
  if (work.unknown != 0) notes_.Add(ImportNoteKind::kUnknownName, "references", work.unknown);
  if (work.groups_work) {
    // Loops and calls of XLA: the operations in them are the work.
    RangeRow range;
    range.span = span;
    range.name = work.name;
    range.domain = NameOf(line_.name);
    return builder_.Add(DerivedTimeline(), range);
  }
  uint8_t copy_kind = 0;
  if (place_.kind == PlaneKind::kGpu) {
    LaunchCall* const call = correlation > 0 ? calls_.Find(correlation) : nullptr;
    if (call == nullptr) {
      Note(ImportNoteKind::kNoLaunch, name);
    } else {
      call->has_work = true;
      if (span.start < call->span.start) Note(ImportNoteKind::kImpossibleOrder, name);
      // ROCm's runtime copies by a kernel of one name; the call tells the direction.
      if (work.kind.is_copy && work.kind.kind == 0) {
        copy_kind = WorkNameOf("Memcpy" + call_names_[call->name]).kind;
      }
    }
  }
  WorkRow row = work.row;
  row.operation |= proto::CopyOperation(copy_kind, 0, 0, 0);
  row.span = span;
  row.correlation = Correlation32(correlation);
  if (work.kind.is_copy) return builder_.AddCopy(timeline_, row);
  if (work.kind.is_set) return builder_.AddSet(timeline_, row);
  if (work.kind.graph) return builder_.AddGraphLaunch(timeline_, row);
  builder_.AddKernel(timeline_, row);
}

// Rows that group or repeat work are ranges: counted as work, they would count twice. Steps of a
// device are steps of the program only if no thread marks steps.
void XSpaceImporter::AddDerived(const XEvent& event, SpanNs span, bool is_step, bool may_overlap) {
  const auto metadata = plane_->FindEvent(event.metadata_id);
  RangeRow range;
  range.span = span;
  range.domain = domain_;
  if (may_overlap) range.kind = proto::RangeKind::kStartEnd;
  if (!metadata) {
    range.name = Unknown("unknown", NamelessId(event.metadata_id));
  } else {
    Meaning& meaning = meanings_[*metadata];
    if (!meaning.is_known) {
      meaning.is_known = true;
      const std::string_view shown = plane_->DisplayName(*metadata);
      const std::string_view name = shown.empty() ? HloNameOf(plane_->EventName(*metadata)) : shown;
      const bool names_step = is_step && IsNumber(name) && !has_step_ranges_;
      meaning.name = names_step ? NewName("step " + std::string(name)) : NewName(name);
    }
    range.name = meaning.name;
  }
  builder_.Add(timeline_, range);
}

// Cuts impossible ends. Kernels of one graph may lie in each other.
void XSpaceImporter::ClipWork(uint32_t timeline) {
  std::vector<WorkRow*> rows;
  for (std::vector<WorkRow>* table :
       {&builder_.kernels(timeline), &builder_.copies(timeline), &builder_.sets(timeline)})
    for (WorkRow& row : *table) rows.push_back(&row);
  const auto is_before = [](const WorkRow* x, const WorkRow* y) {
    return x->span.start < y->span.start;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), is_before))
    std::stable_sort(rows.begin(), rows.end(), is_before);
  LaterRows later;
  for (size_t i = rows.size(); i-- > 0;) {
    WorkRow& row = *rows[i];
    const bool is_of_graph = row.graph != 0 || row.graph_node != 0;
    if (!is_of_graph && CutImpossibleEnd(later.OfOthers(row.correlation), &row.span)) {
      const auto signature = builder_.process().signatures.find(row.signature);
      Note(ImportNoteKind::kClipped, signature == builder_.process().signatures.end()
                                         ? std::string()
                                         : builder_.process().String(signature->second.name()));
    }
    later.Add(row.correlation, row.span);
  }
}

void XSpaceImporter::AddSamples(const XEvent& event, int64_t time) {
  constexpr uint32_t kRealDivisor = 1000;
  constexpr size_t kMostSeries = 4096;
  constexpr double kMostValue = 9e18;
  for (const std::string_view message : event.stats) {
    const XStat stat = ReadXStat(message);
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place) {
      RoleOf(stat.metadata_id);  // counts it
      continue;
    }
    const auto known = series_.find(stat.metadata_id);
    const bool is_real = stat.kind == XStat::Kind::kDouble;
    const double divisor = known != series_.end() ? known->second.divisor
                           : is_real              ? kRealDivisor
                                                  : 1;
    const std::optional<int64_t> whole = WholeNumberOf(stat, "");
    const double scaled = divisor * (is_real ? std::bit_cast<double>(stat.bits)
                                             : static_cast<double>(whole.value_or(0)));
    const bool is_possible = whole && std::abs(scaled) < kMostValue;
    if (!is_possible || (known == series_.end() && series_.size() == kMostSeries)) {
      Note(ImportNoteKind::kCounter, plane_->StatName(*place));
      continue;
    }
    const auto [at, is_new] = series_.try_emplace(stat.metadata_id);
    if (is_new) {
      proto::Counter counter;
      counter.set_name(Utf8Of(plane_->StatName(*place), &has_bad_text_));
      counter.set_source("XSpace");
      at->second.divisor = static_cast<uint32_t>(divisor);
      if (is_real) counter.set_divisor(kRealDivisor);
      at->second.counter = builder_.AddCounter(std::move(counter));
    }
    const int64_t value = divisor == 1 && !is_real ? *whole : std::llround(scaled);
    builder_.AddCounterValue(timeline_, time, at->second.counter, value);
  }
}

}  // namespace gpuprof::analysis::import
