// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What allocators of TensorFlow and JAX told their profiler, for accounts. See memory_inputs.h.

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/model/names.h"
#include "analysis/model/tensor_counts.h"
#include "analysis/passes/memory/memory_inputs.h"
#include "analysis/passes/memory/merge_tracks.h"
#include "analysis/passes/memory/open_operations.h"

namespace gpuprof::analysis {
namespace {

// Stands for what programs of the device hold apart from blocks: its size changes at one place.
constexpr uint64_t kStackAddress = UINT64_MAX;
constexpr const char* kStackName = "(programs of the device)";

// Who allocated a block: by the detail of its row, else by the operation that was open.
struct AllocatorOwners {
  std::vector<MemoryOwner> owners = {{}};
  std::vector<MemoryPlace> places = {{}};
  uint32_t stack = 0;

  uint32_t Add(const MemoryOwner& owner, MemoryPlace place) {
    owners.push_back(owner);
    places.push_back(std::move(place));
    return static_cast<uint32_t>(owners.size() - 1);
  }
};

struct AllocatorRow {
  const TensorTable* table = nullptr;
  const RowDetailTable* details = nullptr;
  size_t row = 0;
  uint32_t owner = 0;
};

// The rows of one allocator, by time.
struct AllocatorRows {
  std::vector<AllocatorRow> rows;
  uint32_t stack_owner = 0;
  uint64_t before_bytes = 0;
  AllocatorTold told;

  void Each(const std::function<void(const MemoryEvent&)>& take) const;
  void Count();
};

uint64_t StackOf(const AllocatorRow& at) {
  return UnpackTensorCounts(at.details->external[at.row]).stack_bytes;
}

// Returns the size of a block that a row gives back: by the row, or by what was allocated before.
uint64_t ReturnedBytes(const AllocatorRow& at, uint64_t allocated_before) {
  const int64_t bytes = at.table->bytes[at.row];
  if (bytes != proto::kReturnedOfUnknownSize) return static_cast<uint64_t>(-bytes);
  const uint64_t left = at.table->total_allocated[at.row];
  return allocated_before > left ? allocated_before - left : 0;
}

void AllocatorRows::Each(const std::function<void(const MemoryEvent&)>& take) const {
  uint64_t allocated = 0, stack = 0;
  for (const AllocatorRow& at : rows) {
    const TensorTable& table = *at.table;
    MemoryEvent event;
    event.time_ns = table.time_ns[at.row];
    const bool is_release = table.bytes[at.row] < 0;
    const uint64_t stack_now = StackOf(at);
    const auto change_stack = [&] {
      MemoryEvent change;
      change.time_ns = event.time_ns;
      change.address = kStackAddress;
      change.owner = stack_owner;
      if (stack != 0) {
        change.change = MemoryChange::kFree;
        change.bytes = stack;
        take(change);
      }
      if (stack_now != 0) {
        change.change = MemoryChange::kAlloc;
        change.bytes = stack_now;
        take(change);
      }
      stack = stack_now;
    };
    // What shrinks comes first: no moment has both at their largest.
    if (stack_now < stack) change_stack();
    event.address = table.address[at.row];
    event.change = is_release ? MemoryChange::kFree : MemoryChange::kAlloc;
    event.bytes =
        is_release ? ReturnedBytes(at, allocated) : static_cast<uint64_t>(table.bytes[at.row]);
    event.owner = is_release ? 0 : at.owner;
    take(event);
    if (stack_now > stack) change_stack();
    allocated = table.total_allocated[at.row];
  }
}

// Finds what was live before the first row, and the peak that the allocator counted.
void AllocatorRows::Count() {
  const AllocatorRow& first = rows.front();
  const uint64_t left = first.table->total_allocated[first.row];
  const int64_t bytes = first.table->bytes[first.row];
  if (bytes >= 0) before_bytes = left - std::min(left, static_cast<uint64_t>(bytes));
  if (bytes < 0 && bytes != proto::kReturnedOfUnknownSize)
    before_bytes = left + ReturnedBytes(first, 0);
  if (bytes == proto::kReturnedOfUnknownSize) before_bytes = left;
  for (const AllocatorRow& at : rows) {
    const TensorTable& table = *at.table;
    const uint64_t allocated = table.total_allocated[at.row];
    const TensorCounts counts = UnpackTensorCounts(at.details->external[at.row]);
    if (allocated + counts.stack_bytes <= told.peak) continue;
    told.peak = allocated + counts.stack_bytes;
    told.stack_at_peak = counts.stack_bytes;
    told.fragmentation_at_peak = counts.fragmentation * 1.0 / kWholeFragmentation;
    const uint64_t capacity = table.total_reserved[at.row];
    told.free_at_peak = capacity > told.peak ? capacity - told.peak : 0;
  }
}

// What the detail of a row says. Files can be damaged: what is no object says nothing.
struct AllocatorDetail {
  std::string allocator;  // empty: not told
  MemoryPlace place;
  uint64_t peak_of_life = 0;
};

AllocatorDetail ReadAllocatorDetail(const std::string& text) {
  AllocatorDetail detail;
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) return detail;
  const auto text_of = [&object](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  };
  detail.allocator = text_of("allocator_name");
  detail.place = {text_of("tf_op"), text_of("shape"), text_of("data_type"), text_of("region_type")};
  const auto peak = object.find("peak_bytes_in_use");
  if (peak != object.end() && peak->is_number_unsigned())
    detail.peak_of_life = peak->get<uint64_t>();
  return detail;
}

bool HasDetails(const Track& track) {
  return track.tensor.rows() != 0 && track.row_detail.rows() == track.tensor.rows();
}

// Sorts the rows of a process by allocator.
class AllocatorFinder {
 public:
  AllocatorFinder(PassContext& context, size_t index)
      : process_(context.process(index)), operations_(&context.ops(index), INT64_MAX) {
    std::vector<const Column<int64_t>*> times;
    for (size_t i = 0; i < process_.tracks.size(); ++i) {
      const Track& track = process_.tracks[i];
      times.push_back(HasDetails(track) ? &track.tensor.time_ns : &none_);
      open_.push_back(HasDetails(track) ? operations_.OwnersOf(i) : std::vector<uint32_t>());
    }
    owners_.stack = owners_.Add({}, {kStackName, "", "", ""});
    MergeByTime(times, [this](size_t track, size_t row) { Take(track, row); });
  }

  std::map<std::string, AllocatorRows>& allocators() { return allocators_; }
  AllocatorOwners TakeOwners() { return std::move(owners_); }

 private:
  void Take(size_t track, size_t row) {
    const Track& of = process_.tracks[track];
    const uint32_t id = of.row_detail.detail[row];
    const AllocatorDetail& detail = DetailOf(id);
    const std::string device = DeviceName(process_, of.tensor.device[row]);
    const std::string& name = detail.allocator.empty() ? device : detail.allocator;
    // Names of a file of a stranger must not fill the memory: each account has all owners.
    constexpr size_t kMostAllocators = 256;
    const bool is_kept = allocators_.size() < kMostAllocators || allocators_.count(name) != 0;
    AllocatorRows& rows = allocators_[is_kept ? name : "(further allocators)"];
    const bool is_release = of.tensor.bytes[row] < 0;
    const uint32_t owner = is_release ? 0 : OwnerOf(id, open_[track][row]);
    rows.rows.push_back({&of.tensor, &of.row_detail, row, owner});
    rows.told.peak_of_life = std::max(rows.told.peak_of_life, detail.peak_of_life);
  }
  const AllocatorDetail& DetailOf(uint32_t id) {
    const auto [at, is_new] = details_.try_emplace(id);
    if (is_new && id != 0) at->second = ReadAllocatorDetail(process_.String(id));
    return at->second;
  }
  // Rows that differ in the allocator or in its counts alone have one owner.
  uint32_t OwnerOf(uint32_t id, uint32_t open) {
    MemoryPlace place = DetailOf(id).place;
    MemoryOwner owner = operations_.owners()[open];
    if (place.name.empty()) {
      place.name = process_.String(operations_.names()[open]);
    } else if (const auto category = CategoryOfFrame({"", place.name});
               category != results::MEMORY_CATEGORY_UNKNOWN) {
      owner = OwnerByOperation(category);
    }
    std::string key = place.name + '\n' + place.shape + '\n' + place.data_type + '\n' +
                      place.region + '\n' + std::to_string(owner.category);
    const auto [at, is_new] = known_.try_emplace(std::move(key));
    if (is_new) at->second = owners_.Add(owner, std::move(place));
    return at->second;
  }

  const Process& process_;
  OpenOperations operations_;
  const Column<int64_t> none_;
  std::unordered_map<uint32_t, AllocatorDetail> details_;  // by string id
  std::vector<std::vector<uint32_t>> open_;                // owners by track and row
  AllocatorOwners owners_;
  std::unordered_map<std::string, uint32_t> known_;
  std::map<std::string, AllocatorRows> allocators_;
};

}  // namespace

bool HasAllocators(const Process& process) {
  return std::any_of(process.tracks.begin(), process.tracks.end(),
                     [](const Track& track) { return HasDetails(track); });
}

std::vector<AllocatorInput> InputsOfAllocators(PassContext& context, size_t index) {
  AllocatorFinder finder(context, index);
  std::vector<int64_t> step_ends;
  for (const Interval& step : context.steps(index).Counted()) step_ends.push_back(step.end);
  const auto owners = std::make_shared<AllocatorOwners>(finder.TakeOwners());
  std::vector<AllocatorInput> inputs;
  for (auto& [name, found] : finder.allocators()) {
    const auto rows = std::make_shared<AllocatorRows>(std::move(found));
    rows->stack_owner = owners->stack;
    rows->Count();
    AllocatorInput each;
    each.of.device = name;
    each.of.input.each = [rows](const std::function<void(const MemoryEvent&)>& take) {
      rows->Each(take);
    };
    each.of.input.owners = owners->owners;
    each.of.input.before_bytes = rows->before_bytes;
    each.of.input.step_ends = step_ends;
    each.of.place = [owners](uint32_t owner) { return owners->places[owner]; };
    each.of.reported_peak = rows->told.peak;
    each.told = rows->told;
    each.events = rows->rows.size();
    inputs.push_back(std::move(each));
  }
  return inputs;
}

}  // namespace gpuprof::analysis
