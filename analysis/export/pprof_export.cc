// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportPprof: stacks as a profile of pprof (profile.proto of github.com/google/pprof, whose field
// numbers stand below). A sample is a stack with a value of each measure. Labels say where it was:
// process, thread, rank, host. The caller compresses the bytes.

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/code_frame.h"
#include "analysis/export/exported_part.h"
#include "analysis/export/slices.h"
#include "analysis/export/tool_formats.h"
#include "analysis/export/weighed_stacks.h"
#include "analysis/export/wire_out.h"
#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

using wire::AppendBytes;
using wire::AppendNumber;
using wire::AppendSigned;
using wire::AppendVarint;

// Profile
constexpr uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5,
                   kString = 6, kTime = 9, kDuration = 10, kPeriodType = 11, kPeriod = 12,
                   kComment = 13, kDefaultType = 14;

std::string_view UnitOfPprof(std::string_view unit) { return unit == "ns" ? "nanoseconds" : unit; }

class Profile {
 public:
  explicit Profile(PassContext& context) : context_(context) {}

  std::string Make(const WeighedStacks& stacks) {
    for (const StackWeight* measure : stacks.measures())
      AppendBytes(kSampleType, Type(measure->name, UnitOfPprof(measure->unit)), &head_);
    if (stacks.measures().empty()) AppendBytes(kSampleType, Type("cpu", "nanoseconds"), &head_);
    MapPrograms();
    for (const WeighedStack& stack : stacks.stacks()) Sample(stack);
    Head(stacks);
    std::string out = std::move(head_);
    for (std::string* part : {&samples_, &mapping_fields_, &location_fields_, &function_fields_})
      out += *part;
    AppendBytes(kString, "", &out);
    for (const std::string& text : texts_.texts()) AppendBytes(kString, text, &out);
    return out;
  }

 private:
  // The first text of a profile is empty.
  uint64_t Text(std::string_view text) { return text.empty() ? 0 : texts_.Of(text); }

  std::string Type(std::string_view name, std::string_view unit) {
    std::string type;
    AppendNumber(1, Text(name), &type);
    AppendNumber(2, Text(unit), &type);
    return type;
  }

  // The first mapping names the profile: it is the program.
  void MapPrograms() {
    for (const size_t index : context_.selected()) {
      const Process& process = context_.process(index);
      for (const proto::Module& module : process.modules) {
        if (module.path() == process.executable) MappingOf(module);
      }
    }
  }

  uint64_t MappingOf(const proto::Module& module) {
    const auto [at, added] =
        mappings_.try_emplace({module.path(), module.start()}, mappings_.size() + 1);
    if (!added) return at->second;
    constexpr char kHex[] = "0123456789abcdef";
    std::string build_id, mapping;
    for (const char c : module.build_id()) {
      build_id += kHex[static_cast<unsigned char>(c) >> 4];
      build_id += kHex[static_cast<unsigned char>(c) & 15];
    }
    AppendNumber(1, at->second, &mapping);
    AppendNumber(2, module.start(), &mapping);
    AppendNumber(3, module.end(), &mapping);
    AppendNumber(4, module.start() - module.bias(), &mapping);
    AppendNumber(5, Text(module.path()), &mapping);
    AppendNumber(6, Text(build_id), &mapping);
    // So readers do not look for names that gpuprof did not find.
    for (const uint32_t has : {7, 8, 9}) AppendNumber(has, 1, &mapping);
    AppendBytes(kMapping, mapping, &mapping_fields_);
    return at->second;
  }

  uint64_t FunctionOf(const std::string& name, const std::string& file) {
    const auto [at, added] = functions_.try_emplace({name, file}, functions_.size() + 1);
    if (!added) return at->second;
    std::string function;
    AppendNumber(1, at->second, &function);
    AppendNumber(2, Text(name), &function);
    AppendNumber(3, Text(name), &function);
    AppendNumber(4, Text(file), &function);
    AppendBytes(kFunction, function, &function_fields_);
    return at->second;
  }

  uint64_t Location(uint64_t mapping, uint64_t address, const std::string& name,
                    const std::string& file, uint32_t line) {
    std::string location, entry;
    AppendNumber(1, FunctionOf(name, file), &entry);
    if (line != 0) AppendNumber(2, line, &entry);
    AppendNumber(1, ++locations_, &location);
    if (mapping != 0) AppendNumber(2, mapping, &location);
    if (address != 0) AppendNumber(3, address, &location);
    AppendBytes(4, entry, &location);
    AppendBytes(kLocation, location, &location_fields_);
    return locations_;
  }

  // A frame that has no address: a kind of wait, a kernel.
  uint64_t NamedLocation(std::string_view name) {
    const auto [at, added] = named_.try_emplace(std::string(name), 0);
    if (added) at->second = Location(0, 0, at->first, "", 0);
    return at->second;
  }

  uint64_t LocationOf(size_t process, uint64_t pc) {
    const auto [at, added] = by_pc_.try_emplace({process, pc}, 0);
    if (!added) return at->second;
    results::Frame frame;
    context_.Resolve(process, pc, PcKind::kReturnAddress, &frame);
    if (IsNamedFrame(pc)) {
      const CodeFrame code = ReadFrameName(frame.name());
      return at->second = Location(0, 0, code.name, code.file, code.line);
    }
    const uint64_t address = frame.pc() - 1;  // of the call
    uint64_t mapping = 0;
    for (const proto::Module& module : context_.process(process).modules) {
      if (address >= module.start() && address < module.end()) mapping = MappingOf(module);
    }
    return at->second = Location(mapping, address, frame.name(), frame.file(), frame.line());
  }

  void Label(std::string_view key, std::string_view text, std::string* sample) {
    if (text.empty()) return;
    std::string label;
    AppendNumber(1, Text(key), &label);
    AppendNumber(2, Text(text), &label);
    AppendBytes(3, label, sample);
  }

  void Label(std::string_view key, int64_t number, std::string* sample) {
    std::string label;
    AppendNumber(1, Text(key), &label);
    AppendSigned(3, number, &label);
    AppendBytes(3, label, sample);
  }

  void Sample(const WeighedStack& stack) {
    bool is_cut = false;
    const std::vector<uint64_t> pcs = FramesOfStack(context_, stack, &is_cut);
    std::string locations, values, sample;
    if (!stack.kind.empty()) AppendVarint(NamedLocation(stack.kind), &locations);
    for (const uint64_t pc : pcs) AppendVarint(LocationOf(stack.process, pc), &locations);
    if (pcs.empty()) AppendVarint(NamedLocation("[no stack]"), &locations);
    if (is_cut) AppendVarint(NamedLocation("[truncated]"), &locations);
    for (const uint64_t value : stack.values) AppendVarint(value, &values);
    AppendBytes(1, locations, &sample);
    AppendBytes(2, values, &sample);
    const Process& process = context_.process(stack.process);
    Label("process", ProcessName(process), &sample);
    Label("pid", int64_t{process.pid}, &sample);
    Label("host", process.host, &sample);
    if (const std::optional<Rank> rank = RankOf(process))
      Label("rank", int64_t{rank->number}, &sample);
    if (stack.thread != 0) {
      for (const Track& track : process.tracks) {
        if (track.is_stream || track.tid != stack.thread || track.name.empty()) continue;
        Label("thread", track.name, &sample);
        break;
      }
      Label("tid", int64_t{stack.thread}, &sample);
    }
    AppendBytes(kSample, sample, &samples_);
  }

  void Head(const WeighedStacks& stacks) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t heap_period = 0;
    for (const size_t index : context_.selected()) {
      const Process& process = context_.process(index);
      first = std::min(first, process.first_ns);
      last = std::max(last, process.last_ns);
      heap_period = std::max(heap_period, process.heap_period);
    }
    if (first <= last) {
      AppendSigned(kTime, context_.trace().origin_realtime_ns + first, &head_);
      AppendSigned(kDuration, last - first, &head_);
    }
    if (stacks.measures().empty()) return;
    const StackWeight& usual = *stacks.measures()[stacks.usual()];
    const bool is_heap = usual.name.starts_with("heap") && heap_period != 0;
    AppendBytes(kPeriodType,
                is_heap ? Type("space", "bytes") : Type(usual.name, UnitOfPprof(usual.unit)),
                &head_);
    AppendSigned(kPeriod, is_heap ? int64_t{heap_period} : 1, &head_);
    for (const StackWeight* measure : stacks.measures())
      AppendNumber(kComment,
                   Text(std::string(measure->name) + ": " + std::string(measure->meaning)), &head_);
    AppendNumber(kDefaultType, Text(usual.name), &head_);
  }

  PassContext& context_;
  SliceTexts texts_;
  std::string head_, samples_, mapping_fields_, location_fields_, function_fields_;
  std::map<std::pair<std::string, uint64_t>, uint64_t> mappings_;  // by path and start
  std::map<std::pair<std::string, std::string>, uint64_t> functions_;
  std::map<std::pair<size_t, uint64_t>, uint64_t> by_pc_;
  std::unordered_map<std::string, uint64_t> named_;
  uint64_t locations_ = 0;
};

}  // namespace

Error ExportPprof(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                  ToolReport* report) {
  ExportedPart part(whole, options, options.symfs);
  if (Error error = part.Prepare()) return error;
  WeighedStacks stacks;
  if (Error error = stacks.Collect(part.context(), options.by)) return error;
  if (stacks.stacks().empty())
    report->remark = "no stack has a weight: nothing was recorded, or --trace left it out";
  report->events = stacks.stacks().size();
  sink(context, Profile(part.context()).Make(stacks));
  return {};
}

}  // namespace gpuprof::analysis
