// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/xprof/viewer_heap.h"

namespace gpuprof::analysis::xprof {
namespace {

int64_t Less(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) - static_cast<uint64_t>(right));
}

// XProf follows the last number of the index alone.
const hlo::Shape& ShapeOfBuffer(const hlo::Shape& shape, const std::vector<int64_t>& index) {
  if (index.empty()) return shape;
  const int64_t part = index.back();
  const bool is_there = part >= 0 && static_cast<uint64_t>(part) < shape.parts.size();
  return is_there ? shape.parts[static_cast<size_t>(part)] : shape;
}

// The bytes without padding. A tuple is its pointers. Elements of less than a byte take one, unless
// the layout says otherwise.
int64_t UnpaddedBytes(const hlo::Shape& shape) {
  constexpr int64_t kPointerBytes = 8, kByteBits = 8;
  if (shape.is_tuple()) return static_cast<int64_t>(shape.parts.size()) * kPointerBytes;
  const int bits = hlo::BitsOf(shape.type);
  if (shape.element_bits != 0 || bits % kByteBits == 0) return shape.bytes();
  return shape.elements();
}

}  // namespace

bool IsFixed(const hlo::BufferAllocation& allocation) {
  return allocation.is_parameter || allocation.is_constant || allocation.is_live_out;
}

ViewerHeap::ViewerHeap(const hlo::Program& program, int64_t space)
    : program_(program), space_(space) {
  std::unordered_map<int64_t, const hlo::Instruction*> instructions;
  for (const hlo::Computation& computation : program_.computations)
    for (const hlo::Instruction& instruction : computation.instructions)
      instructions[instruction.id] = &instruction;
  std::unordered_map<int64_t, const hlo::LogicalBuffer*> told;
  for (const hlo::LogicalBuffer& buffer : program_.buffers) told[buffer.id] = &buffer;
  for (const hlo::BufferAllocation& allocation : program_.allocations) {
    allocations_[allocation.index] = &allocation;
    for (const hlo::AssignedBuffer& assigned : allocation.assigned) {
      const auto found = told.find(assigned.buffer);
      if (found == told.end()) continue;
      const auto instruction = instructions.find(found->second->instruction);
      if (instruction == instructions.end()) continue;
      ViewerBuffer buffer;
      buffer.told = found->second;
      buffer.allocation = &allocation;
      buffer.instruction = instruction->second;
      buffer.shape = &ShapeOfBuffer(buffer.instruction->shape, buffer.told->shape_index);
      buffer.offset = assigned.offset;
      buffer.unpadded = UnpaddedBytes(*buffer.shape);
      buffers_[assigned.buffer] = buffer;
    }
  }
  IndexTraces();
}

void ViewerHeap::IndexTraces() {
  for (size_t i = 0; i < program_.heap_traces.size(); ++i) {
    const auto& events = program_.heap_traces[i].events;
    if (events.empty()) continue;
    if (const ViewerBuffer* const buffer = Find(static_cast<int32_t>(events.front().buffer)))
      traces_[buffer->allocation->index] = i;
  }
}

std::optional<size_t> ViewerHeap::TraceOfSpace() {
  for (const auto& [index, allocation] : allocations_) {
    if (allocation->color != space_ || IsFixed(*allocation)) continue;
    if (const auto found = traces_.find(index); found != traces_.end()) return found->second;
  }
  std::optional<size_t> best;
  size_t most = 0;
  for (size_t i = 0; i < program_.heap_traces.size(); ++i) {
    size_t count = 0;
    for (const hlo::HeapEvent& event : program_.heap_traces[i].events) {
      const ViewerBuffer* const buffer = Find(event.buffer);
      count += buffer != nullptr && buffer->told->color == space_;
    }
    if (count <= most) continue;
    best = i;
    most = count;
  }
  return best;
}

ViewerBuffer* ViewerHeap::RootOf(ViewerBuffer* buffer) const {
  for (size_t steps = 0; buffer->shared != nullptr; buffer = buffer->shared)
    if (++steps > buffers_.size()) return nullptr;
  return buffer;
}

void ViewerHeap::Begin(ViewerBuffer* buffer, size_t event, HeapRun* run) {
  const int64_t id = buffer->told->id;
  run->places[id].push_back(run->live.insert(run->live.end(), id));
  run->heap = Added(run->heap, buffer->told->size);
  run->unpadded = Added(run->unpadded, buffer->unpadded);
  if (run->heap <= run->peak) return;
  run->peak = run->heap;
  run->peak_position = static_cast<int64_t>(run->heaps.size()) - 1;
  run->peak_unpadded = run->unpadded;
  run->peak_event = event + 1;
}

Error ViewerHeap::TakeEvent(const hlo::HeapTrace& trace, size_t number, HeapRun* run) {
  const hlo::HeapEvent& event = trace.events[number];
  run->heaps.push_back(run->heap);
  run->unpaddeds.push_back(run->unpadded);
  run->names.push_back(event.instruction);
  ViewerBuffer* const buffer = Find(event.buffer);
  if (buffer == nullptr) return {};
  run->seen.insert(buffer);
  run->allocations.insert(buffer->allocation);
  const auto now = static_cast<int64_t>(run->heaps.size()) - 1;
  const auto end = static_cast<int64_t>(trace.events.size()) - 1;
  const Error circle = Unreadable("XProf does not end here: buffers share memory in a circle");
  switch (event.kind) {
    case hlo::HeapEvent::Kind::kAlloc: {
      ViewerBuffer* const root = RootOf(buffer);
      if (root == nullptr) return circle;
      ++root->references;
      Begin(buffer, number, run);
      buffer->span = {now, end};
      return {};
    }
    case hlo::HeapEvent::Kind::kFree: {
      ViewerBuffer* const root = RootOf(buffer);
      if (root == nullptr) return circle;
      if (--root->references < 0)
        return Unreadable("XProf has no page: a buffer is freed multiple times");
      if (root->references == 0) {
        const auto places = run->places.find(root->told->id);
        if (places != run->places.end()) {
          for (const auto& place : places->second) run->live.erase(place);
          run->places.erase(places);
        }
        run->heap = Less(run->heap, root->told->size);
        if (run->heap < 0) return Unreadable("XProf has no page: the heap has less than nothing");
        run->unpadded = Less(run->unpadded, root->unpadded);
      }
      // Memory ends when nobody has it for the first time. What takes it later ends alone.
      if (root->references == 0 && !std::exchange(root->is_over, true) && root->span)
        root->span->second = now;
      if (buffer->span && buffer->shared != nullptr) buffer->span->second = now;
      return {};
    }
    case hlo::HeapEvent::Kind::kShareWith: {
      ViewerBuffer* const other = Find(event.shared_with);
      if (other == nullptr) return {};
      buffer->shared = other;
      ViewerBuffer* const root = RootOf(other);
      if (root == nullptr) return circle;
      if (++root->references != 1) return {};
      run->shown[root->told->id] = buffer->told->id;
      buffer->span = {now, end};
      Begin(root, number, run);
      return {};
    }
  }
  return Unreadable("XProf has no page: the simulation has an event of an unknown kind");
}

Error ViewerHeap::Simulate(const hlo::HeapTrace& trace, size_t end, HeapRun* run) {
  for (auto& [id, buffer] : buffers_) {
    buffer.references = 0;
    buffer.shared = nullptr;
    buffer.is_over = false;
    buffer.span.reset();
  }
  for (size_t i = 0; i < end; ++i)
    if (Error error = TakeEvent(trace, i, run)) return error;
  return {};
}

}  // namespace gpuprof::analysis::xprof
