// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/hlo/order.h"

namespace gpuprof::analysis::hlo {
namespace {

int64_t Plus(int64_t left, int64_t right) {
  int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t Size(int64_t told) { return std::max<int64_t>(told, 0); }

// An event of the heap with its place among those of other traces.
struct PlacedEvent {
  const HeapEvent* event = nullptr;
  size_t buffer = 0;  // in MemorySpace::buffers
  size_t place = 0;   // in the program's order
  size_t other = 0;   // of kShareWith: the buffer whose memory it takes
};

// Fills one space.
class SpaceFiller {
 public:
  SpaceFiller(const Program& program, const ProgramOrder& order, MemorySpace* space)
      : program_(program), order_(order), space_(*space) {}

  void Add(const BufferAllocation& allocation,
           const std::unordered_map<int64_t, const LogicalBuffer*>& buffers);
  void Fill();

 private:
  void AddUse(const BufferAllocation& allocation);
  void AddEvents();
  void Simulate();
  void Begin(size_t buffer, std::string_view instruction);
  void End(size_t buffer);
  // Returns the buffer whose memory a buffer has.
  size_t RootOf(size_t buffer) const { return roots_[buffer]; }
  void NotePeak();
  void AddFixed();

  const Program& program_;
  const ProgramOrder& order_;
  MemorySpace& space_;
  std::unordered_map<int64_t, size_t> by_id_;
  std::vector<const BufferAllocation*> allocations_;
  std::vector<PlacedEvent> events_;

  // The state of the heap, by buffer.
  std::vector<size_t> roots_;
  std::vector<uint32_t> users_;   // of the memory that begins with this buffer
  std::vector<size_t> holders_;   // who has the memory now
  std::vector<bool> is_at_peak_;  // the memory that begins with it is in use
  int64_t heap_ = 0, unpadded_ = 0, most_ = -1, most_unpadded_ = 0;
  bool freed_ = true;
};

void SpaceFiller::AddUse(const BufferAllocation& allocation) {
  const int64_t size = Size(allocation.size);
  ++space_.allocation_count;
  space_.allocated_bytes = Plus(space_.allocated_bytes, size);
  int64_t* sum = nullptr;
  switch (UseOf(allocation)) {
    case BufferUse::kParameter:
      sum = &space_.parameter_bytes;
      if (allocation.is_live_out) space_.aliased_bytes = Plus(space_.aliased_bytes, size);
      break;
    case BufferUse::kOutput:
      sum = &space_.output_bytes;
      break;
    case BufferUse::kConstant:
      sum = &space_.constant_bytes;
      break;
    case BufferUse::kThreadLocal:
      sum = &space_.thread_local_bytes;
      break;
    case BufferUse::kTemporary:
      sum = &space_.temporary_bytes;
      break;
  }
  *sum = Plus(*sum, size);
  if (allocation.is_thread_local || allocation.is_tuple)
    space_.not_reusable_bytes = Plus(space_.not_reusable_bytes, size);
}

void SpaceFiller::Add(const BufferAllocation& allocation,
                      const std::unordered_map<int64_t, const LogicalBuffer*>& buffers) {
  AddUse(allocation);
  allocations_.push_back(&allocation);
  for (const AssignedBuffer& assigned : allocation.assigned) {
    const auto found = buffers.find(assigned.buffer);
    if (found == buffers.end()) continue;
    if (!by_id_.try_emplace(assigned.buffer, space_.buffers.size()).second) continue;
    const LogicalBuffer& buffer = *found->second;
    PlacedBuffer placed;
    placed.buffer = &buffer;
    placed.allocation = &allocation;
    placed.instruction = buffer.instruction != 0 || buffer.instruction_name.empty()
                             ? program_.Find(buffer.instruction)
                             : program_.Find(buffer.instruction_name);
    placed.offset = assigned.offset;
    placed.bytes = Size(buffer.size);
    placed.unpadded_bytes = placed.bytes;
    if (placed.instruction != nullptr) {
      const Shape& shape = ShapeAt(placed.instruction->shape, buffer.shape_index);
      // A tuple is a table of pointers. Types of an unknown size have no padding that is known.
      if (!shape.is_tuple() && BitsOf(shape.type) != 0)
        placed.unpadded_bytes = std::min(placed.bytes, shape.bytes());
      placed.last_reader = order_.LastReader(*placed.instruction);
    }
    space_.buffers.push_back(placed);
  }
}

// Gives the events of each trace their places in the program's order. Traces of one space are of
// different allocations, and run at the same time.
void SpaceFiller::AddEvents() {
  size_t traces = 0;
  for (const HeapTrace& trace : program_.heap_traces) {
    const size_t begin = events_.size();
    for (const HeapEvent& event : trace.events) {
      const auto found = by_id_.find(event.buffer);
      if (found == by_id_.end()) continue;
      PlacedEvent placed{&event, found->second};
      if (event.kind == HeapEvent::Kind::kShareWith) {
        const auto other = by_id_.find(event.shared_with);
        if (other == by_id_.end()) continue;
        placed.other = other->second;
      }
      events_.push_back(placed);
    }
    if (events_.size() == begin) continue;
    ++traces;
    // What takes memory has the place of its instruction. A buffer is given back after its last
    // reader, before the next event of its trace that takes memory.
    size_t next = std::numeric_limits<size_t>::max();
    for (size_t i = events_.size(); i-- > begin;) {
      PlacedEvent& event = events_[i];
      const PlacedBuffer& buffer = space_.buffers[event.buffer];
      if (event.event->kind == HeapEvent::Kind::kFree) {
        event.place =
            std::min(next, buffer.last_reader == nullptr ? 0 : order_.PlaceOf(*buffer.last_reader));
      } else {
        event.place = buffer.instruction == nullptr ? 0 : order_.PlaceOf(*buffer.instruction);
        event.place = next = std::min(next, event.place);
      }
    }
    size_t last = 0;
    for (size_t i = begin; i < events_.size(); ++i)
      last = events_[i].place = std::max(events_[i].place, last);
  }
  if (traces > 1)
    std::stable_sort(events_.begin(), events_.end(), [](const auto& a, const auto& b) {
      const bool frees[] = {a.event->kind == HeapEvent::Kind::kFree,
                            b.event->kind == HeapEvent::Kind::kFree};
      return a.place != b.place ? a.place < b.place : frees[0] < frees[1];
    });
}

void SpaceFiller::Begin(size_t number, std::string_view instruction) {
  if (freed_ || space_.moments.empty() || space_.moments.back().instruction != instruction)
    space_.moments.push_back({instruction, 0, 0});
  freed_ = false;
  PlacedBuffer& buffer = space_.buffers[number];
  buffer.first = space_.moments.size() - 1;
  buffer.has_life = buffer.lives_to_end = true;
  const size_t root = RootOf(number);
  holders_[root] = number;
  if (users_[root]++ != 0) return;
  const PlacedBuffer& memory = space_.buffers[root];
  if (UseOf(*memory.allocation) != BufferUse::kTemporary) return;  // counted as a whole
  heap_ = Plus(heap_, memory.bytes);
  unpadded_ = Plus(unpadded_, memory.unpadded_bytes);
}

void SpaceFiller::End(size_t number) {
  PlacedBuffer& buffer = space_.buffers[number];
  const size_t root = RootOf(number);
  if (!buffer.lives_to_end || users_[root] == 0) return;  // given back twice
  freed_ = true;
  buffer.lives_to_end = false;
  buffer.last = space_.moments.empty() ? 0 : space_.moments.size() - 1;
  if (holders_[root] == number) holders_[root] = root;
  if (--users_[root] != 0) return;
  const PlacedBuffer& memory = space_.buffers[root];
  if (UseOf(*memory.allocation) != BufferUse::kTemporary) return;
  heap_ -= std::min(heap_, memory.bytes);
  unpadded_ -= std::min(unpadded_, memory.unpadded_bytes);
}

void SpaceFiller::Simulate() {
  const size_t count = space_.buffers.size();
  roots_.resize(count);
  for (size_t i = 0; i < count; ++i) roots_[i] = i;
  // Twice: the first time finds the peak, the second one stops there to see who has the memory.
  size_t peak = events_.size();
  const auto run = [&](size_t end, bool notes) {
    users_.assign(count, 0);
    holders_ = roots_;
    for (size_t i = 0; i < end; ++i) {
      const PlacedEvent& each = events_[i];
      switch (each.event->kind) {
        case HeapEvent::Kind::kAlloc:
          if (space_.buffers[each.buffer].lives_to_end) break;  // it has memory
          roots_[each.buffer] = each.buffer;
          Begin(each.buffer, each.event->instruction);
          break;
        case HeapEvent::Kind::kShareWith:
          if (space_.buffers[each.buffer].lives_to_end) break;  // it has memory
          roots_[each.buffer] = RootOf(each.other);
          space_.buffers[each.buffer].shares_memory = true;
          Begin(each.buffer, each.event->instruction);
          break;
        case HeapEvent::Kind::kFree:
          End(each.buffer);
          break;
      }
      if (space_.moments.empty()) continue;
      HeapMoment& moment = space_.moments.back();
      if (heap_ > moment.bytes) moment = {moment.instruction, heap_, unpadded_};
      if (!notes || heap_ <= most_) continue;
      most_ = heap_;
      most_unpadded_ = unpadded_;
      peak = i;
      space_.peak_moment = space_.moments.size() - 1;
    }
  };
  const auto saved = space_.buffers;
  run(events_.size(), true);
  if (peak == events_.size()) return;
  // The lives are those of the whole run.
  auto lives = std::exchange(space_.buffers, saved);
  auto moments = std::exchange(space_.moments, {});
  for (size_t i = 0; i < count; ++i) roots_[i] = i;
  heap_ = unpadded_ = 0;
  freed_ = true;
  run(peak + 1, false);
  space_.buffers = std::move(lives);
  space_.moments = std::move(moments);
  NotePeak();
}

void SpaceFiller::NotePeak() {
  for (size_t root = 0; root < users_.size(); ++root) {
    const PlacedBuffer& memory = space_.buffers[root];
    if (users_[root] == 0 || UseOf(*memory.allocation) != BufferUse::kTemporary) continue;
    PlacedBuffer& holder = space_.buffers[holders_[root]];
    holder.peak_bytes = Plus(holder.peak_bytes, memory.bytes);
    space_.peak_unpadded_bytes =
        Plus(space_.peak_unpadded_bytes, std::min(memory.unpadded_bytes, memory.bytes));
  }
}

// Adds the allocations that are there all the time: those that are fixed, and temporary ones that
// no simulation has. The largest buffer stands for the allocation.
void SpaceFiller::AddFixed() {
  std::set<const BufferAllocation*> simulated;
  for (const PlacedBuffer& buffer : space_.buffers)
    if (buffer.has_life) simulated.insert(buffer.allocation);
  int64_t fixed = 0, unpadded = 0;
  std::map<const BufferAllocation*, size_t> largest;
  for (size_t i = 0; i < space_.buffers.size(); ++i) {
    const PlacedBuffer& buffer = space_.buffers[i];
    const auto [at, is_new] = largest.try_emplace(buffer.allocation, i);
    if (!is_new && buffer.bytes > space_.buffers[at->second].bytes) at->second = i;
  }
  for (const BufferAllocation* const allocation : allocations_) {
    const int64_t size = Size(allocation->size);
    if (UseOf(*allocation) == BufferUse::kTemporary) {
      if (simulated.contains(allocation)) continue;
      space_.unsimulated_bytes = Plus(space_.unsimulated_bytes, size);
    }
    fixed = Plus(fixed, size);
    const auto owner = largest.find(allocation);
    int64_t own_unpadded = size;
    if (owner != largest.end()) {
      PlacedBuffer& buffer = space_.buffers[owner->second];
      buffer.peak_bytes = size;
      own_unpadded = std::min(size, buffer.unpadded_bytes);
    }
    unpadded = Plus(unpadded, own_unpadded);
  }
  for (HeapMoment& moment : space_.moments) {
    moment.bytes = Plus(moment.bytes, fixed);
    moment.unpadded_bytes = Plus(moment.unpadded_bytes, unpadded);
  }
  space_.peak_bytes = Plus(fixed, std::max<int64_t>(most_, 0));
  space_.peak_unpadded_bytes = Plus(space_.peak_unpadded_bytes, unpadded);
}

void SpaceFiller::Fill() {
  AddEvents();
  Simulate();
  AddFixed();
  for (PlacedBuffer& buffer : space_.buffers)
    if (buffer.lives_to_end && !space_.moments.empty()) buffer.last = space_.moments.size() - 1;
  std::stable_sort(space_.buffers.begin(), space_.buffers.end(),
                   [](const PlacedBuffer& a, const PlacedBuffer& b) {
                     return a.peak_bytes != b.peak_bytes ? a.peak_bytes > b.peak_bytes
                                                         : a.bytes > b.bytes;
                   });
}

}  // namespace

BufferUse UseOf(const BufferAllocation& allocation) {
  if (allocation.is_parameter) return BufferUse::kParameter;
  if (allocation.is_live_out) return BufferUse::kOutput;
  if (allocation.is_thread_local) return BufferUse::kThreadLocal;
  if (allocation.is_constant) return BufferUse::kConstant;
  return BufferUse::kTemporary;
}

const Shape& ShapeAt(const Shape& shape, const std::vector<int64_t>& index) {
  const Shape* found = &shape;
  for (const int64_t part : index) {
    if (part < 0 || static_cast<uint64_t>(part) >= found->parts.size()) break;
    found = &found->parts[static_cast<size_t>(part)];
  }
  return *found;
}

int64_t ProgramMemory::peak_bytes() const {
  int64_t sum = 0;
  for (const MemorySpace& space : spaces) sum = Plus(sum, space.peak_bytes);
  return sum;
}

ProgramMemory MemoryOf(const Program& program) {
  ProgramMemory memory;
  std::unordered_map<int64_t, const LogicalBuffer*> buffers;
  for (const LogicalBuffer& buffer : program.buffers) buffers.try_emplace(buffer.id, &buffer);
  std::map<int64_t, std::vector<const BufferAllocation*>> by_space;
  for (const BufferAllocation& allocation : program.allocations)
    by_space[allocation.color].push_back(&allocation);
  const ProgramOrder order(program);
  memory.spaces.reserve(by_space.size());
  for (const auto& [number, allocations] : by_space) {
    MemorySpace& space = memory.spaces.emplace_back();
    space.number = number;
    SpaceFiller filler(program, order, &space);
    for (const BufferAllocation* const allocation : allocations) filler.Add(*allocation, buffers);
    filler.Fill();
  }
  return memory;
}

}  // namespace gpuprof::analysis::hlo
