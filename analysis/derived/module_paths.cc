// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See module_paths.h.

#include "analysis/derived/module_paths.h"

#include <algorithm>

#include "analysis/derived/op_names.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

struct NamedSpan {
  Interval span;
  std::string_view name;
};

constexpr std::string_view kForward = ".forward";

bool IsModule(std::string_view name) { return name.substr(0, kModule.size()) == kModule; }

// Built-in functions are parts of the function that calls them. Some names contain an address.
bool IsBuiltin(std::string_view name) { return name.substr(0, 9) == "<built-in"; }

// What a recording with --python=trace names a call of a module, from CPython 3.11 on:
// "/app/net.py(12): Net.forward".
bool IsForward(std::string_view name) {
  return name.size() > kForward.size() && name.ends_with(kForward);
}

// "Net" of "/app/net.py(12): main.<locals>.Net.forward".
std::string_view ClassOf(std::string_view forward) {
  std::string_view name = forward.substr(0, forward.size() - kForward.size());
  for (const std::string_view before : {std::string_view("): "), std::string_view("<locals>.")}) {
    const size_t found = name.rfind(before);
    if (found != std::string_view::npos) name.remove_prefix(found + before.size());
  }
  return name;
}

// "Linear" of "Linear_3".
std::string_view WithoutInstance(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool has_number = digits != std::string_view::npos && digits > 0 &&
                          digits + 1 < name.size() && name[digits] == '_';
  return has_number ? name.substr(0, digits) : name;
}

std::string_view TextOf(const Process& process, uint32_t id) {
  const auto found = process.strings.find(id);
  return found == process.strings.end() ? std::string_view() : std::string_view(found->second);
}

bool IsNestedRange(const RangeTable& ranges, size_t row) {
  return proto::RangeKindOf(ranges.operation[row]) == proto::RangeKind::kPushPop &&
         ranges.name[row] != 0;
}

template <typename Test>
bool AnyTrack(const Process& process, Test test) {
  return std::any_of(process.tracks.begin(), process.tracks.end(), test);
}

// Returns the part that a call of Python stands for. "": none.
std::string_view PartOf(results::ModuleSource source, std::string_view name) {
  switch (source) {
    case results::MODULE_SOURCE_MODULES:
      return IsModule(name) ? name.substr(kModule.size()) : "";
    case results::MODULE_SOURCE_FORWARDS:
      return IsForward(name) ? ClassOf(name) : "";
    default:
      return IsBuiltin(name) ? "" : name;
  }
}

void AddPython(const Process& process, const PythonTable& python, results::ModuleSource source,
               std::vector<NamedSpan>* spans) {
  for (size_t row = 0; row < python.rows(); ++row) {
    const std::string_view part = PartOf(source, TextOf(process, python.name[row]));
    if (part.empty()) continue;
    spans->push_back({{python.end_ns[row] - python.duration_ns[row], python.end_ns[row]}, part});
  }
}

// PyTorch opens ranges of its own, in optimizers and loaders.
bool IsOfProgram(NameKind kind) { return kind == NameKind::kPlain; }

void AddRanges(ProcessOps* ops, const Track& track, std::vector<NamedSpan>* spans) {
  const Process& process = ops->process();
  for (size_t row = 0; row < track.range.rows(); ++row) {
    const uint32_t name = track.range.name[row];
    if (!IsNestedRange(track.range, row) || ops->name_kind(name) == NameKind::kAnnotation) continue;
    const int64_t end = track.range.end_ns[row];
    spans->push_back({{end - track.range.duration_ns[row], end}, TextOf(process, name)});
  }
  for (size_t row = 0; row < track.op.rows(); ++row) {
    const uint32_t name = track.op.name[row];
    if (!IsUserRange(track.op, row) || ops->name_kind(name) == NameKind::kAnnotation) continue;
    const int64_t end = track.op.end_ns[row];
    spans->push_back({{end - track.op.duration_ns[row], end}, TextOf(process, name)});
  }
}

}  // namespace

ModulePaths::ModulePaths(ProcessOps* ops, bool instances)
    : process_(&ops->process()),
      ops_(ops),
      instances_(instances),
      details_(ops->process()),
      spans_(ops->process().tracks.size()),
      around_(spans_.size()) {
  FindSource();
  if (source_ == results::MODULE_SOURCE_SCOPES || source_ == results::MODULE_SOURCE_NONE) return;
  for (uint32_t track = 0; track < process_->tracks.size(); ++track) FillSpans(track);
}

void ModulePaths::FindSource() {
  const Process& process = *process_;
  const bool has_python =
      AnyTrack(process, [](const Track& track) { return track.python.rows() != 0; });
  if (has_python && std::any_of(process.strings.begin(), process.strings.end(),
                                [](const auto& text) { return IsModule(text.second); })) {
    source_ = results::MODULE_SOURCE_MODULES;
    return;
  }
  const bool has_forwards = AnyTrack(process, [&](const Track& track) {
    return std::any_of(track.python.name.begin(), track.python.name.end(),
                       [&](uint32_t name) { return IsForward(TextOf(process, name)); });
  });
  if (has_forwards) {
    source_ = results::MODULE_SOURCE_FORWARDS;
    return;
  }
  const bool has_scopes = AnyTrack(process, [&](const Track& track) {
    for (size_t row = 0; row < track.kernel.rows(); ++row) {
      if (OfDetail(DetailOf(track.kernel, row)) != 0) return true;
    }
    for (size_t row = 0; row < track.op.rows(); ++row) {
      const std::string_view name = TextOf(process, track.op.name[row]);
      if (!IsUserRange(track.op, row) && !ScopesOf(name).empty()) return true;
    }
    return false;
  });
  if (has_scopes) {
    source_ = results::MODULE_SOURCE_SCOPES;
    return;
  }
  const auto has_ranges = [&](bool of_program) {
    return AnyTrack(process, [&](const Track& track) {
      std::vector<NamedSpan> spans;
      AddRanges(ops_, track, &spans);
      return std::any_of(spans.begin(), spans.end(), [of_program](const NamedSpan& span) {
        return !of_program || IsOfProgram(KindOfName(span.name));
      });
    });
  };
  if (has_ranges(true)) {
    source_ = results::MODULE_SOURCE_RANGES;
  } else if (has_python) {
    source_ = results::MODULE_SOURCE_FUNCTIONS;
  } else if (has_ranges(false)) {
    source_ = results::MODULE_SOURCE_RANGES;
  }
}

void ModulePaths::FillSpans(uint32_t track) {
  const Track& from = process_->tracks[track];
  const bool flat = source_ == results::MODULE_SOURCE_FUNCTIONS;
  std::vector<NamedSpan> named;
  if (source_ == results::MODULE_SOURCE_RANGES) {
    AddRanges(ops_, from, &named);
  } else {
    AddPython(*process_, from.python, source_, &named);
  }
  std::stable_sort(named.begin(), named.end(), [](const NamedSpan& x, const NamedSpan& y) {
    return x.span.start != y.span.start ? x.span.start < y.span.start : x.span.end > y.span.end;
  });
  std::vector<ModuleSpan>& spans = spans_[track];
  spans.reserve(named.size());
  uint32_t open = ModuleSpan::kNone;
  for (const NamedSpan& each : named) {
    while (open != ModuleSpan::kNone && spans[open].span.end <= each.span.start)
      open = spans[open].parent;
    ModuleSpan span;
    span.span = each.span;
    span.parent = open;
    uint32_t around = 0, instance_around = 0;
    if (open != ModuleSpan::kNone) {
      // What does not nest is cut: a thread's time must not count twice.
      span.span.end = std::min(span.span.end, spans[open].span.end);
      spans[open].self_ns -= span.span.length();
      around = flat ? 0 : spans[open].path;
      instance_around = flat ? 0 : spans[open].instance;
    }
    const bool is_module = source_ == results::MODULE_SOURCE_MODULES;
    span.path = PathOf(around, is_module && !instances_ ? WithoutInstance(each.name) : each.name);
    span.self_ns = span.span.length();
    const auto [known, is_new] = instance_numbers_.try_emplace(
        {instance_around, std::string(each.name)}, instance_numbers_.size() + 1);
    span.instance = known->second;
    if (is_new) ++paths_[span.path].instance_count;
    open = static_cast<uint32_t>(spans.size());
    spans.push_back(span);
  }
}

uint32_t ModulePaths::PathOf(uint32_t parent, std::string_view name) {
  const uint32_t depth = paths_[parent].depth + 1;
  if (depth > kMostDepth) return parent;
  size_t bytes = std::min(name.size(), kMostNameBytes);
  // Never within a character of UTF-8.
  while (bytes < name.size() && bytes > 0 && (name[bytes] & 0xc0) == 0x80) --bytes;
  name = name.substr(0, bytes);
  const auto [at, is_new] = numbers_.try_emplace({parent, std::string(name)}, paths_.size());
  if (is_new) paths_.push_back({parent, depth, std::string(name)});
  return at->second;
}

uint32_t ModulePaths::At(uint32_t track, int64_t time_ns) const {
  const std::vector<ModuleSpan>& spans = spans_[track];
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), time_ns,
                       [](int64_t time, const ModuleSpan& span) { return time < span.span.start; });
  if (after == spans.begin()) return 0;
  struct SpanTree {
    const std::vector<ModuleSpan>& spans;
    size_t rows() const { return spans.size(); }
    uint32_t parent(uint32_t row) const { return spans[row].parent; }
    static uint32_t in_order(size_t i) { return static_cast<uint32_t>(i); }
  };
  const uint32_t at =
      around_[track].Find(SpanTree{spans}, static_cast<uint32_t>(after - spans.begin() - 1),
                          [&](uint32_t each) { return spans[each].span.end > time_ns; });
  return at == ModuleSpan::kNone ? 0 : spans[at].path;
}

uint32_t ModulePaths::OfScopes(std::string_view name) {
  uint32_t path = 0;
  for (const std::string_view scope : ScopesOf(name)) path = PathOf(path, scope);
  return path;
}

uint32_t ModulePaths::OfDetail(uint32_t detail) {
  if (detail == 0) return 0;
  const RowDetail& found = details_.Of(detail);
  for (const std::string* name : {&found.tf_op, &found.name}) {
    if (const uint32_t path = OfScopes(*name); path != 0) return path;
  }
  uint32_t path = 0;
  for (size_t start = 0; start < found.scope.size();) {
    const size_t end = std::min(found.scope.find('/', start), found.scope.size());
    if (end > start) path = PathOf(path, std::string_view(found.scope).substr(start, end - start));
    start = end + 1;
  }
  return path;
}

}  // namespace gpuprof::analysis
