// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_activity.h.

#include "analysis/derived/host_activity.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

using results::TimeCategory;

struct NameRule {
  std::string_view piece;
  TimeCategory category;
};

// The first that the name contains decides.
constexpr NameRule kNames[] = {
    {"_MultiProcessingDataLoaderIter", results::TIME_CATEGORY_INPUT},
    {"_SingleProcessDataLoaderIter", results::TIME_CATEGORY_INPUT},
    {"IteratorGetNext", results::TIME_CATEGORY_INPUT},
    {"Iterator::", results::TIME_CATEGORY_INPUT},
    {"InfeedEnqueue", results::TIME_CATEGORY_INPUT},
    {"torch.save", results::TIME_CATEGORY_OUTPUT},
    {"OutfeedDequeue", results::TIME_CATEGORY_OUTPUT},
    {"checkpoint_save", results::TIME_CATEGORY_OUTPUT},
    {"save_checkpoint", results::TIME_CATEGORY_OUTPUT},
    // The file compile_fx.py also has functions that run compiled code.
    {": compile_fx", results::TIME_CATEGORY_COMPILE},
    {"compile_fx_inner", results::TIME_CATEGORY_COMPILE},
    {"codegen_and_compile", results::TIME_CATEGORY_COMPILE},
    {"_compile_inner", results::TIME_CATEGORY_COMPILE},
    {"dynamo_timed", results::TIME_CATEGORY_COMPILE},
    {"backend_compile", results::TIME_CATEGORY_COMPILE},
    {"XlaCompile", results::TIME_CATEGORY_COMPILE},
    {"triton.compile", results::TIME_CATEGORY_COMPILE},
};

// Each name of kNames contains one of them. Most names of a program contain none.
constexpr std::string_view kStems[] = {"Iter", "feed", "save", "ompile", "dynamo"};

constexpr bool HasStem(std::string_view name) {
  return std::any_of(std::begin(kStems), std::end(kStems), [name](std::string_view stem) {
    return name.find(stem) != std::string_view::npos;
  });
}
static_assert(std::all_of(std::begin(kNames), std::end(kNames),
                          [](const NameRule& rule) { return HasStem(rule.piece); }));

constexpr NameRule kCalls[] = {
    {"Synchronize", results::TIME_CATEGORY_SYNC},
    {"ModuleLoad", results::TIME_CATEGORY_COMPILE},
    {"LibraryLoad", results::TIME_CATEGORY_COMPILE},
    {"LinkComplete", results::TIME_CATEGORY_COMPILE},
    {"cuLinkAdd", results::TIME_CATEGORY_COMPILE},
};

TimeCategory FirstOf(std::string_view name, const NameRule* begin, const NameRule* end) {
  const NameRule* found = std::find_if(begin, end, [name](const NameRule& rule) {
    return name.find(rule.piece) != std::string_view::npos;
  });
  return found == end ? results::TIME_CATEGORY_NONE : found->category;
}

// CUpti_ActivityOverheadKind, as proto::OverheadOperation and proto::JitOperation pack it.
TimeCategory CategoryOfOverhead(uint32_t operation) {
  constexpr uint32_t kFirstJit = 0x10;
  if (operation >= kFirstJit) return results::TIME_CATEGORY_COMPILE;
  switch (operation) {
    case proto::OverheadOperation(1):        // the driver's compiler
    case proto::OverheadOperation(4 << 16):  // loading of a module, and of a function
    case proto::OverheadOperation(5 << 16):
      return results::TIME_CATEGORY_COMPILE;
    case proto::OverheadOperation(6 << 16):  // the command buffer was full
      return results::TIME_CATEGORY_SYNC;
    default:
      return results::TIME_CATEGORY_PROFILER;
  }
}

// The innermost reason counts: the profiler within anything, code within an operation.
constexpr TimeCategory kLayers[] = {results::TIME_CATEGORY_PROFILER, results::TIME_CATEGORY_COMPILE,
                                    results::TIME_CATEGORY_SYNC, results::TIME_CATEGORY_INPUT,
                                    results::TIME_CATEGORY_OUTPUT};

class SpansOfThread {
 public:
  SpansOfThread() : lists_(std::size(kLayers)) {}

  void Add(TimeCategory category, int64_t end_ns, int64_t duration_ns) {
    const auto* layer = std::find(std::begin(kLayers), std::end(kLayers), category);
    if (layer != std::end(kLayers))
      lists_[static_cast<size_t>(layer - kLayers)].push_back({end_ns - duration_ns, end_ns});
  }

  // Adds the rows of a table whose names tell a category. `name_of`: row to string id.
  template <typename Table, typename NameOf>
  void AddNamed(const Process& process, const Table& table, NameOf name_of) {
    std::unordered_map<uint32_t, TimeCategory> known;
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto [at, is_new] = known.try_emplace(name_of(row), results::TIME_CATEGORY_NONE);
      if (is_new) {
        const auto name = process.strings.find(at->first);
        if (name != process.strings.end()) at->second = HostCategoryOfName(name->second);
      }
      if (at->second != results::TIME_CATEGORY_NONE)
        Add(at->second, table.end_ns[row], table.duration_ns[row]);
    }
  }

  void AddCalls(const Process& process, const ApiTable& calls) {
    std::unordered_map<uint32_t, TimeCategory> known;
    for (size_t row = 0; !calls.has_ids_alone() && row < calls.rows(); ++row) {
      const auto [at, is_new] = known.try_emplace(calls.function[row], results::TIME_CATEGORY_NONE);
      if (is_new) {
        const auto name = process.functions.find(at->first);
        if (name != process.functions.end())
          at->second = HostCategoryOfCall(process.String(name->second));
      }
      if (at->second != results::TIME_CATEGORY_NONE)
        Add(at->second, calls.end_ns[row], calls.duration_ns[row]);
    }
  }

  void AddOverhead(const OverheadTable& overhead) {
    for (size_t row = 0; row < overhead.rows(); ++row)
      Add(CategoryOfOverhead(overhead.operation[row]), overhead.end_ns[row],
          overhead.duration_ns[row]);
  }

  std::vector<LayerSpan> Take() {
    for (std::vector<Interval>& list : lists_) list = UnionOf(std::move(list));
    return TopLayers(lists_);
  }

 private:
  std::vector<std::vector<Interval>> lists_;
};

}  // namespace

TimeCategory HostCategoryOfName(std::string_view name) {
  if (!HasStem(name)) return results::TIME_CATEGORY_NONE;
  return FirstOf(name, std::begin(kNames), std::end(kNames));
}

TimeCategory HostCategoryOfCall(std::string_view function) {
  return FirstOf(function, std::begin(kCalls), std::end(kCalls));
}

HostActivity::HostActivity(ProcessOps* ops)
    : ops_(ops),
      by_track_(ops->process().tracks.size()),
      is_known_(ops->process().tracks.size(), false) {}

const std::vector<LayerSpan>& HostActivity::Of(uint32_t track) {
  if (is_known_[track]) return by_track_[track];
  is_known_[track] = true;
  const Process& process = ops_->process();
  const Track& thread = process.tracks[track];
  SpansOfThread spans;
  spans.AddNamed(process, thread.op, [&](size_t row) { return thread.op.name[row]; });
  spans.AddNamed(process, thread.range, [&](size_t row) { return thread.range.name[row]; });
  spans.AddNamed(process, thread.python, [&](size_t row) { return thread.python.name[row]; });
  spans.AddCalls(process, thread.api);
  spans.AddOverhead(thread.overhead);
  by_track_[track] = spans.Take();
  return by_track_[track];
}

void HostActivity::Split(uint32_t track, Interval window,
                         std::array<int64_t, results::TimeCategory_ARRAYSIZE>* times) {
  const std::vector<LayerSpan>& spans = Of(track);
  int64_t covered = 0;
  auto at =
      std::upper_bound(spans.begin(), spans.end(), window.start,
                       [](int64_t time, const LayerSpan& each) { return time < each.span.end; });
  for (; at != spans.end() && at->span.start < window.end; ++at) {
    const int64_t length =
        std::min(at->span.end, window.end) - std::max(at->span.start, window.start);
    (*times)[kLayers[at->layer]] += length;
    covered += length;
  }
  (*times)[results::TIME_CATEGORY_HOST] += window.length() - covered;
}

}  // namespace gpuprof::analysis
