// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XProf's memory_viewer: the buffers of a program of XLA, as XProf 2.24.0 sees them. See pages.h.

#include <algorithm>
#include <charconv>
#include <list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/hlo/memory.h"
#include "analysis/hlo/program.h"
#include "analysis/hlo/text.h"
#include "analysis/xprof/pages.h"
#include "analysis/xprof/viewer_colors.h"
#include "analysis/xprof/viewer_heap.h"

namespace gpuprof::analysis::xprof {
namespace {

using nlohmann::json;

constexpr uint64_t kSmallBuffer = 16 << 10;
constexpr uint64_t kMostPageBytes = uint64_t{256} << 20;
constexpr double kDrawingSize = 4096;  // of XProf's drawing, each way

int32_t Short(int64_t number) { return static_cast<int32_t>(number); }

json WholeOrReal(double value) {
  constexpr double kExact = 1e15;
  if (value > -kExact && value < kExact &&
      value == static_cast<double>(static_cast<int64_t>(value)))
    return static_cast<int64_t>(value);
  return value;
}

// Messages leave fields without a value out.
void Put(json* to, const char* key, json value) { (*to)[key] = std::move(value); }
void PutText(json* to, const char* key, std::string_view text) {
  if (!text.empty()) Put(to, key, std::string(text));
}
void PutNumber(json* to, const char* key, int64_t number) {
  if (number != 0) Put(to, key, number);
}
void PutReal(json* to, const char* key, double value) {
  if (value != 0) Put(to, key, WholeOrReal(value));
}
void PutList(json* to, const char* key, json list) {
  if (!list.empty()) Put(to, key, std::move(list));
}

double Mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const char* GroupOf(const hlo::BufferAllocation& allocation) {
  switch (hlo::UseOf(allocation)) {
    case hlo::BufferUse::kParameter:
      return "Parameter";
    case hlo::BufferUse::kOutput:
      return "Output";
    case hlo::BufferUse::kThreadLocal:
      return "Thread-local";
    case hlo::BufferUse::kConstant:
      return "Constant";
    case hlo::BufferUse::kTemporary:
      break;
  }
  return "Temporary";
}

class MemoryViewerPage {
 public:
  MemoryViewerPage(const hlo::Program& program, int64_t space)
      : program_(program), space_(space), heap_(program, space) {}
  Result<std::string> Make();

 private:
  bool IsTooLong() const { return text_bytes_ > kMostPageBytes; }
  json SourceOf(const hlo::Instruction& instruction) const;
  void AddObject(const ViewerBuffer& buffer);
  void AddFixed();
  void AddPeak(const HeapRun& run);
  void PutObjects(json* page) const;
  void PutSums(json* page);
  json FixedAllocation(const hlo::BufferAllocation& allocation);
  void PutScoped(json* page) const;
  void PutBlocks(json* page);

  const hlo::Program& program_;
  const int64_t space_;
  ViewerHeap heap_;

  std::vector<json> objects_;
  std::vector<double> object_sizes_;
  std::unordered_map<int64_t, size_t> colors_;  // by buffer
  int64_t fixed_ = 0;
  uint64_t small_ = 0;
  // Texts of the page. Few bytes of a stranger's file can become many of a page.
  mutable uint64_t text_bytes_ = 0;
};

json MemoryViewerPage::SourceOf(const hlo::Instruction& instruction) const {
  std::string stack;
  for (const hlo::SourceLine& line : hlo::StackOf(program_, instruction)) {
    stack += (stack.empty() ? "" : "\n") + std::string(line.file) + ":" +
             std::to_string(line.line) + ":" + std::to_string(line.column);
  }
  text_bytes_ += stack.size() + instruction.name.size() + instruction.op_name.size();
  json source;
  if (!instruction.source_file.empty()) {
    PutText(&source, "fileName", instruction.source_file);
    PutNumber(&source, "lineNumber", instruction.source_line);
  } else {
    const std::string_view first = std::string_view(stack).substr(0, stack.find('\n'));
    const size_t colon = first.find(':');
    if (colon == std::string_view::npos || colon == 0) return {};
    PutText(&source, "fileName", first.substr(0, colon));
    const std::string_view rest = first.substr(colon + 1);
    const std::string_view number = rest.substr(0, rest.find(':'));
    int32_t line = 0;
    const char* const end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, line);
    PutNumber(&source, "lineNumber", read.ec == std::errc() && read.ptr == end ? line : -1);
  }
  PutText(&source, "stackFrame", stack);
  return source;
}

void MemoryViewerPage::AddObject(const ViewerBuffer& buffer) {
  if (IsTooLong()) return;
  if (buffer.size() < kSmallBuffer) {
    small_ += buffer.size();
    return;
  }
  const hlo::Instruction& instruction = *buffer.instruction;
  const std::string shape = hlo::TextOf(*buffer.shape);
  text_bytes_ += shape.size();
  colors_[buffer.told->id] = objects_.size();
  json object = {{"numbered", objects_.size()}};
  PutText(&object, "label",
          std::string(instruction.name) + ": " + shape + " # " + std::string(instruction.op_name));
  PutNumber(&object, "logicalBufferId", Short(buffer.told->id));
  PutReal(&object, "logicalBufferSizeMib", Mib(buffer.told->size));
  PutReal(&object, "unpaddedShapeMib", Mib(buffer.unpadded));
  PutText(&object, "instructionName", buffer.PartName());
  PutText(&object, "shapeString", shape);
  PutText(&object, "tfOpName", instruction.op_name);
  PutText(&object, "groupName", GroupOf(*buffer.allocation));
  PutText(&object, "opCode", instruction.opcode);
  if (json source = SourceOf(instruction); !source.is_null())
    object["sourceInfo"] = std::move(source);
  object_sizes_.push_back(Mib(buffer.told->size));
  objects_.push_back(std::move(object));
}

// A fixed allocation has the name of its largest buffer. XProf lists those of the device alone.
void MemoryViewerPage::AddFixed() {
  for (const auto& [index, allocation] : heap_.allocations()) {
    if (allocation->color != space_ || !IsFixed(*allocation)) continue;
    const ViewerBuffer* largest = nullptr;
    for (const hlo::AssignedBuffer& assigned : allocation->assigned) {
      const ViewerBuffer* const buffer = heap_.Find(assigned.buffer);
      if (buffer == nullptr || buffer->size() <= (largest == nullptr ? 0 : largest->size()))
        continue;
      largest = buffer;
    }
    if (largest == nullptr) continue;
    fixed_ = Added(fixed_, largest->allocation->size);
    if (space_ == 0) AddObject(*largest);
  }
}

void MemoryViewerPage::AddPeak(const HeapRun& run) {
  for (const int64_t id : run.live) {
    const auto shown = run.shown.find(id);
    const ViewerBuffer* const buffer = heap_.Find(shown == run.shown.end() ? id : shown->second);
    if (buffer == nullptr) return;
    AddObject(*buffer);
  }
  if (small_ == 0) return;
  json object = {{"numbered", objects_.size()},
                 {"label", "small (<" + std::to_string(kSmallBuffer) + " bytes)"},
                 {"logicalBufferId", -1}};
  const double size = Mib(static_cast<int64_t>(small_));
  PutReal(&object, "logicalBufferSizeMib", size);
  object_sizes_.push_back(size);
  objects_.push_back(std::move(object));
}

void MemoryViewerPage::PutObjects(json* page) const {
  // Sorted as XProf sorts, which decides the order of equal ones.
  std::vector<const double*> order;
  for (const double& size : object_sizes_) order.push_back(&size);
  std::sort(order.begin(), order.end(), [](const double* a, const double* b) { return *a > *b; });
  json by_size = json::array(), from_size = json::array();
  std::vector<size_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto object = static_cast<size_t>(order[i] - object_sizes_.data());
    by_size.push_back(objects_[object]);
    from_size.push_back(object);
    places[object] = i;
  }
  PutList(page, "maxHeap", objects_);
  PutList(page, "maxHeapBySize", std::move(by_size));
  PutList(page, "maxHeapToBySize", places);
  PutList(page, "bySizeToMaxHeap", std::move(from_size));
}

json MemoryViewerPage::FixedAllocation(const hlo::BufferAllocation& allocation) {
  json fixed = json::object();
  if (allocation.index != 0) fixed["id"] = std::to_string(allocation.index);
  PutReal(&fixed, "sizeMib", Mib(allocation.size));
  json attributes = json::array();
  if (allocation.is_parameter) attributes.push_back("entry computation parameter");
  if (allocation.is_live_out) attributes.push_back("may-be live out");
  if (!allocation.is_thread_local && !allocation.is_tuple) attributes.push_back("reusable");
  PutList(&fixed, "attributes", std::move(attributes));
  json buffers = json::array();
  std::optional<std::string> common;
  for (const hlo::AssignedBuffer& assigned : allocation.assigned) {
    if (IsTooLong()) break;
    json row = json::object();
    if (assigned.buffer != 0) row["id"] = std::to_string(assigned.buffer);
    std::string shape;
    if (const ViewerBuffer* const buffer = heap_.Find(assigned.buffer)) {
      shape = hlo::TextOf(*buffer->shape);
      text_bytes_ += shape.size() + buffer->instruction->name.size();
      PutText(&row, "hloName", buffer->instruction->name);
      json index = json::array();
      for (const int64_t part : buffer->told->shape_index) index.push_back(std::to_string(part));
      PutList(&row, "shapeIndex", std::move(index));
    }
    PutText(&row, "shape", shape);
    PutReal(&row, "sizeMib", Mib(assigned.size));
    buffers.push_back(std::move(row));
    if (!common) common = shape;
    if (*common != shape) common = "";
  }
  PutList(&fixed, "logicalBuffers", std::move(buffers));
  if (common) PutText(&fixed, "commonShape", *common);
  return fixed;
}

void MemoryViewerPage::PutSums(json* page) {
  int64_t parameters = 0, not_reusable = 0, live_out = 0, all = 0, fixed = 0;
  json lifetimes = json::array();
  for (const auto& [index, allocation] : heap_.allocations()) {
    if (allocation->color != space_) continue;
    const int64_t size = allocation->size;
    if (allocation->is_parameter) parameters = Added(parameters, size);
    if (allocation->is_thread_local || allocation->is_tuple)
      not_reusable = Added(not_reusable, size);
    if (allocation->is_live_out) live_out = Added(live_out, size);
    if (IsFixed(*allocation)) lifetimes.push_back(FixedAllocation(*allocation));
  }
  for (const hlo::BufferAllocation& allocation : program_.allocations) {
    if (allocation.color != space_) continue;
    all = Added(all, allocation.size);
    if (hlo::UseOf(allocation) != hlo::BufferUse::kTemporary) fixed = Added(fixed, allocation.size);
  }
  PutReal(page, "entryComputationParametersMib", Mib(parameters));
  PutReal(page, "nonReusableMib", Mib(not_reusable));
  PutReal(page, "maybeLiveOutMib", Mib(live_out));
  PutReal(page, "totalBufferAllocationMib", Mib(all));
  PutReal(page, "indefiniteBufferAllocationMib", Mib(fixed));
  PutList(page, "indefiniteLifetimes", std::move(lifetimes));
}

int64_t NumberIn(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  if (found->is_number_integer()) return found->get<int64_t>();
  if (found->is_number()) {
    const auto real = found->get<double>();
    constexpr double kMost = 9e18;
    return real > -kMost && real < kMost ? static_cast<int64_t>(real) : 0;
  }
  if (!found->is_string()) return 0;
  const auto& text = found->get_ref<const std::string&>();
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? number : 0;
}

// Instructions of TPUs may ask for fast memory that only they use.
void MemoryViewerPage::PutScoped(json* page) const {
  if (space_ != 1) return;
  constexpr std::string_view kKey = "used_scoped_memory_configs";
  int64_t most = 0;
  std::string_view name;
  for (const hlo::Computation& computation : program_.computations) {
    for (const hlo::Instruction& instruction : computation.instructions) {
      if (instruction.backend_config.find(kKey) == std::string_view::npos) continue;
      const json config = json::parse(instruction.backend_config, nullptr, false);
      if (!config.is_object()) continue;
      const auto list = config.find(kKey);
      if (list == config.end() || !list->is_array()) continue;
      for (const json& entry : *list) {
        if (!entry.is_object() || NumberIn(entry, "memory_space") != space_) continue;
        const int64_t size = NumberIn(entry, "size");
        if (size <= most) continue;
        most = size;
        name = instruction.name;
      }
    }
  }
  if (most == 0) return;
  PutReal(page, "maxScopedVmemAllocationMib", Mib(most));
  PutText(page, "maxScopedVmemInstructionName", name);
}

// The blocks of XProf's drawing: temporary allocations one above the other, with their buffers.
void MemoryViewerPage::PutBlocks(json* page) {
  std::vector<uint64_t> offsets;
  uint64_t height = 0, width = 0;
  for (const auto& [index, allocation] : heap_.allocations()) {
    if (allocation->color != space_ || IsFixed(*allocation)) continue;
    const auto trace = heap_.traces().find(index);
    if (trace == heap_.traces().end()) continue;
    offsets.push_back(height);
    height += static_cast<uint64_t>(allocation->size);
    width = std::max<uint64_t>(width, program_.heap_traces[trace->second].events.size());
  }
  if (height == 0 || width == 0) return;
  const double scale_x = kDrawingSize / static_cast<double>(width);
  const double scale_y = kDrawingSize / static_cast<double>(height);
  // XProf numbers what it draws. What is too small for a point is not drawn.
  size_t drawn = 0;
  const auto draw = [&](uint64_t across, uint64_t up) {
    if (static_cast<double>(across) * scale_x >= 1 && static_cast<double>(up) * scale_y >= 1)
      ++drawn;
  };
  json blocks = json::array();
  size_t number = 0;
  for (const auto& [index, allocation] : heap_.allocations()) {
    if (allocation->color != space_ || IsFixed(*allocation) || !heap_.traces().contains(index))
      continue;
    const uint64_t offset = offsets[number++];
    const auto size = static_cast<uint64_t>(allocation->size);
    json whole = {{"logicalBufferId", -1},
                  {"name", GroupOf(*allocation)},
                  {"category", GroupOf(*allocation)},
                  {"color", "#ffffff"}};
    PutReal(&whole, "offset", static_cast<double>(offset));
    PutReal(&whole, "size", static_cast<double>(size));
    PutNumber(&whole, "endStep", Short(static_cast<int64_t>(width)));
    blocks.push_back(std::move(whole));
    draw(width, size);
    for (const hlo::AssignedBuffer& assigned : allocation->assigned) {
      const ViewerBuffer* const buffer = heap_.Find(assigned.buffer);
      if (buffer == nullptr || !buffer->span || IsTooLong()) continue;
      json block = json::object();
      PutNumber(&block, "logicalBufferId", Short(buffer->told->id));
      PutText(&block, "name", buffer->PartName());
      PutReal(&block, "offset",
              static_cast<double>(offset + static_cast<uint64_t>(buffer->offset)));
      PutReal(&block, "size", static_cast<double>(buffer->size()));
      PutNumber(&block, "startStep", Short(buffer->span->first));
      PutNumber(&block, "endStep", Short(buffer->span->second));
      PutText(&block, "tfOpName", buffer->instruction->op_name);
      PutText(&block, "category", GroupOf(*buffer->allocation));
      const std::string shape = hlo::TextOf(*buffer->shape);
      text_bytes_ += shape.size();
      PutText(&block, "shapeString", shape);
      PutReal(&block, "unpaddedSize", static_cast<double>(buffer->unpadded));
      if (json source = SourceOf(*buffer->instruction); !source.is_null())
        block["sourceInfo"] = std::move(source);
      const auto color = colors_.find(buffer->told->id);
      block["color"] = ViewerColor(color == colors_.end() ? drawn : color->second);
      blocks.push_back(std::move(block));
      draw(static_cast<uint64_t>(buffer->span->second - buffer->span->first), buffer->size());
    }
  }
  PutList(page, "bufferBlocks", std::move(blocks));
}

Result<std::string> MemoryViewerPage::Make() {
  HeapRun run, at_peak;
  if (const std::optional<size_t> number = heap_.TraceOfSpace()) {
    const hlo::HeapTrace& trace = program_.heap_traces[*number];
    // Once for what is live at the peak, and once for all.
    if (Error error = heap_.Simulate(trace, trace.events.size(), &run)) return error;
    if (Error error = heap_.Simulate(trace, run.peak_event, &at_peak)) return error;
    run = {};
    if (Error error = heap_.Simulate(trace, trace.events.size(), &run)) return error;
    run.heaps.push_back(run.heap);
    run.unpaddeds.push_back(run.unpadded);
    run.names.emplace_back();
    if (run.allocations.size() != 1)
      return Unreadable("XProf has no page: a simulation is of several allocations");
  }
  AddFixed();
  AddPeak(at_peak);
  json page = json::object();
  PutText(&page, "moduleName", program_.name);
  PutText(&page, "entryComputationName", program_.entry_name);
  PutObjects(&page);
  json heaps = json::array(), unpaddeds = json::array(), names = json::array();
  for (size_t i = 0; i < run.heaps.size(); ++i) {
    heaps.push_back(WholeOrReal(Mib(run.heaps[i]) + Mib(fixed_)));
    unpaddeds.push_back(WholeOrReal(Mib(run.unpaddeds[i]) + Mib(fixed_)));
    text_bytes_ += run.names[i].size();
    if (IsTooLong()) break;
    names.push_back(std::string(run.names[i]));
  }
  PutList(&page, "heapSizes", std::move(heaps));
  PutList(&page, "unpaddedHeapSizes", std::move(unpaddeds));
  PutList(&page, "hloInstructionNames", std::move(names));
  PutReal(&page, "peakHeapMib", Mib(run.peak) + Mib(fixed_));
  PutReal(&page, "peakUnpaddedHeapMib", Mib(run.peak_unpadded) + Mib(fixed_));
  PutNumber(&page, "peakHeapSizePosition", Short(run.peak_position));
  json spans = json::object();
  for (const ViewerBuffer* const buffer : run.seen) {
    if (!buffer->span) continue;
    json span = json::object();
    PutNumber(&span, "start", Short(buffer->span->first));
    PutNumber(&span, "limit", Short(buffer->span->second));
    spans[std::to_string(Short(buffer->told->id))] = std::move(span);
  }
  PutList(&page, "logicalBufferSpans", std::move(spans));
  PutSums(&page);
  PutScoped(&page);
  PutBlocks(&page);
  if (IsTooLong()) return Unreadable("the page of XProf would be too long");
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Result<std::string> MemoryViewer(const hlo::Program& program, int64_t space) {
  return MemoryViewerPage(program, space).Make();
}

}  // namespace gpuprof::analysis::xprof
