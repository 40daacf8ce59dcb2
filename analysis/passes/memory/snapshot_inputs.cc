// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Snapshots of PyTorch's allocator, for accounts. See memory_inputs.h.

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/passes/memory/memory_inputs.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#", kOptimizerMark = "Optimizer.step#";

MemoryChange ChangeOf(SnapshotAction action) {
  switch (action) {
    case SnapshotAction::kFreeRequested:
      return MemoryChange::kFree;
    case SnapshotAction::kFreeCompleted:
      return MemoryChange::kPoolGotIt;
    case SnapshotAction::kSegmentAlloc:
    case SnapshotAction::kSegmentMap:
      return MemoryChange::kReserve;
    case SnapshotAction::kSegmentFree:
    case SnapshotAction::kSegmentUnmap:
      return MemoryChange::kUnreserve;
    case SnapshotAction::kOutOfMemory:
      return MemoryChange::kFailure;
    default:
      return MemoryChange::kAlloc;
  }
}

void EachEvent(const MemorySnapshot& snapshot, size_t device,
               const std::function<void(const MemoryEvent&)>& take) {
  const SnapshotEvents& events = snapshot.events;
  const Column<int64_t>::Reader times(events.time_ns);
  const Column<uint32_t>::Reader actions(events.action), stacks(events.stack);
  const Column<uint64_t>::Reader addresses(events.address), sizes(events.size);
  size_t failure = 0;
  for (size_t row = 0; row < snapshot.FirstEvent(device); ++row)
    failure += static_cast<SnapshotAction>(actions[row]) == SnapshotAction::kOutOfMemory ? 1 : 0;
  for (size_t row = snapshot.FirstEvent(device); row < snapshot.device_ends[device]; ++row) {
    const auto action = static_cast<SnapshotAction>(actions[row]);
    if (action == SnapshotAction::kOther || action == SnapshotAction::kSnapshot) continue;
    MemoryEvent event;
    event.time_ns = snapshot.start_ns + times[row];
    event.change = ChangeOf(action);
    event.is_expandable =
        action == SnapshotAction::kSegmentMap || action == SnapshotAction::kSegmentUnmap;
    event.owner = stacks[row];
    event.address = addresses[row];
    event.bytes = sizes[row];
    if (action == SnapshotAction::kOutOfMemory && failure < snapshot.device_free.size())
      event.device_free = snapshot.device_free[failure++];
    take(event);
  }
}

std::string NameOfStack(const MemorySnapshot& snapshot, uint32_t stack) {
  constexpr uint64_t kMostFrames = 16;
  if (stack == 0) return "";
  const uint64_t first = snapshot.stack_ends[stack - 1], end = snapshot.stack_ends[stack];
  std::string name;
  for (uint64_t i = first; i < std::min(end, first + kMostFrames); ++i) {
    const SnapshotFrame& frame = snapshot.frames[snapshot.stack_frames[i]];
    name += (name.empty() ? "" : " < ") + snapshot.texts[frame.file] + ":" +
            std::to_string(frame.line) + ":" + snapshot.texts[frame.function];
  }
  return end - first > kMostFrames ? name + " < …" : name;
}

// Returns what each stack's memory is for. `has_optimizer`: a frame of an optimizer is among them.
std::vector<MemoryOwner> OwnersOf(const MemorySnapshot& snapshot, bool* has_optimizer) {
  std::vector<results::MemoryCategory> of_frame;
  std::vector<bool> is_optimizer;
  of_frame.reserve(snapshot.frames.size());
  for (const SnapshotFrame& frame : snapshot.frames) {
    const std::string_view file = snapshot.texts[frame.file];
    of_frame.push_back(CategoryOfFrame({file, snapshot.texts[frame.function]}));
    is_optimizer.push_back(file.find("optim") != std::string_view::npos ||
                           file.find("adam") != std::string_view::npos ||
                           of_frame.back() == results::MEMORY_CATEGORY_OPTIMIZER_STATE);
    *has_optimizer |= is_optimizer.back();
  }
  std::vector<MemoryOwner> owners(snapshot.stack_ends.size());
  for (size_t stack = 1; stack < owners.size(); ++stack) {
    MemoryOwner& owner = owners[stack];
    MemoryJudge judge;
    for (uint64_t i = snapshot.stack_ends[stack - 1]; i < snapshot.stack_ends[stack]; ++i) {
      judge.Add(of_frame[snapshot.stack_frames[i]]);
      owner.is_optimizer = owner.is_optimizer || is_optimizer[snapshot.stack_frames[i]];
    }
    owner.category = judge.category();
    if (owner.category != results::MEMORY_CATEGORY_UNKNOWN)
      owner.evidence = results::MEMORY_EVIDENCE_STACK;
    owner.is_backward = owner.category == results::MEMORY_CATEGORY_TEMPORARY && !owner.is_optimizer;
    // A forward pass that an optimizer calls is none of its work.
    owner.is_optimizer =
        owner.is_optimizer && (owner.category == results::MEMORY_CATEGORY_TEMPORARY ||
                               owner.category == results::MEMORY_CATEGORY_OPTIMIZER_STATE);
  }
  return owners;
}

std::vector<int64_t> TimesOf(const MemorySnapshot& snapshot, size_t device, std::string_view name,
                             bool is_begin) {
  std::vector<int64_t> times;
  for (const SnapshotMark& mark : snapshot.marks)
    if (mark.is_begin == is_begin && mark.device == device &&
        std::string_view(snapshot.texts[mark.name]).starts_with(name))
      times.push_back(snapshot.start_ns + mark.time_ns);
  return times;
}

}  // namespace

std::vector<DeviceMemoryInput> InputsOfSnapshot(const MemorySnapshot& snapshot) {
  bool has_optimizer = false;
  const std::vector<MemoryOwner> owners = OwnersOf(snapshot, &has_optimizer);
  for (const SnapshotMark& mark : snapshot.marks)
    has_optimizer |= std::string_view(snapshot.texts[mark.name]).starts_with(kOptimizerMark);
  std::vector<DeviceMemoryInput> inputs;
  for (size_t device = 0; device < snapshot.devices(); ++device) {
    DeviceMemoryInput each;
    each.device = "cuda:" + std::to_string(device);
    each.number = static_cast<uint32_t>(device);
    MemoryInput& input = each.input;
    for (const SnapshotSegment& segment : snapshot.segments) {
      if (segment.device != device) continue;
      input.end_ranges.push_back(
          {segment.address, segment.size, segment.is_private, segment.is_expandable});
      for (size_t i = 0; i < segment.blocks; ++i) {
        const SnapshotBlock& block = snapshot.blocks[segment.first_block + i];
        if (block.state == SnapshotBlockState::kAllocated)
          input.end_live.push_back({block.address, block.size, block.stack});
      }
    }
    if (input.end_ranges.empty() && snapshot.FirstEvent(device) == snapshot.device_ends[device])
      continue;
    input.each = [&snapshot, device](const std::function<void(const MemoryEvent&)>& take) {
      EachEvent(snapshot, device, take);
    };
    input.owners = owners;
    input.has_optimizer = has_optimizer;
    input.tells_returns = true;
    input.optimizer_begins = TimesOf(snapshot, device, kOptimizerMark, true);
    input.step_ends = TimesOf(snapshot, device, kStepMark, false);
    if (input.step_ends.empty()) input.step_ends = TimesOf(snapshot, device, kOptimizerMark, false);
    each.place = [&snapshot](uint32_t owner) {
      return MemoryPlace{NameOfStack(snapshot, owner), "", "", ""};
    };
    inputs.push_back(std::move(each));
  }
  return inputs;
}

std::string RangesOpenAt(const MemorySnapshot& snapshot, size_t device, int64_t time_ns) {
  std::vector<uint32_t> open;
  for (const SnapshotMark& mark : snapshot.marks) {
    if (mark.device != device) continue;
    if (snapshot.start_ns + mark.time_ns > time_ns) break;
    if (mark.is_begin) {
      open.push_back(mark.name);
      continue;
    }
    const auto begun = std::find(open.rbegin(), open.rend(), mark.name);
    if (begun != open.rend()) open.erase(std::next(begun).base());
  }
  std::string names;
  for (const uint32_t name : open) names += (names.empty() ? "" : " / ") + snapshot.texts[name];
  return names;
}

}  // namespace gpuprof::analysis
