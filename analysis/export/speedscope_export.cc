// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportSpeedscope: stacks by their weights, and the timelines of threads and streams, in the file
// format of speedscope (its file-format-schema.json). The table of frames comes last, so the rest
// is written as it is made. Times count in nanoseconds from the begin of the recording.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/code_frame.h"
#include "analysis/export/event_writer.h"
#include "analysis/export/exported_part.h"
#include "analysis/export/gpu_events.h"
#include "analysis/export/host_events.h"
#include "analysis/export/left_out.h"
#include "analysis/export/slices.h"
#include "analysis/export/tool_formats.h"
#include "analysis/export/weighed_stacks.h"
#include "analysis/model/process_name.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr proto::ChunkKind kInTimelines[] = {
    proto::ChunkKind::kOp,      proto::ChunkKind::kRange,    proto::ChunkKind::kPython,
    proto::ChunkKind::kKernel,  proto::ChunkKind::kMemcpy,   proto::ChunkKind::kMemset,
    proto::ChunkKind::kApi,     proto::ChunkKind::kSync,     proto::ChunkKind::kHostFunction,
    proto::ChunkKind::kHeap,    proto::ChunkKind::kWait,     proto::ChunkKind::kSample,
    proto::ChunkKind::kMapping, proto::ChunkKind::kOverhead, proto::ChunkKind::kLaunch};

std::string_view UnitOfSpeedscope(std::string_view unit) {
  if (unit == "ns") return "nanoseconds";
  return unit == "bytes" ? "bytes" : "none";
}

class Frames {
 public:
  size_t Of(const std::string& name, const std::string& file = "", uint32_t line = 0) {
    const auto [at, added] = numbers_.try_emplace({name, file, line}, numbers_.size());
    if (!added) return at->second;
    text_ += text_.empty() ? "" : ",";
    text_ += "\n{\"name\":";
    AppendJsonString(name.empty() ? "?" : name, &text_);
    if (!file.empty()) {
      text_ += ",\"file\":";
      AppendJsonString(file, &text_);
    }
    if (line != 0) text_ += ",\"line\":" + std::to_string(line);
    text_ += "}";
    return at->second;
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::tuple<std::string, std::string, uint32_t>, size_t> numbers_;
  std::string text_;
};

class SpeedscopeFile {
 public:
  SpeedscopeFile(PassContext& context, const ToolOptions& options, Sink sink, void* sink_context,
                 ToolReport* report)
      : context_(context),
        options_(options),
        sink_(sink),
        sink_context_(sink_context),
        report_(report) {}

  Error Write() {
    WeighedStacks stacks;
    if (Error error = stacks.Collect(context_, options_.by)) return error;
    text_ =
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
        "\"exporter\":\"gpuprof\",\"name\":";
    AppendJsonString(options_.name, &text_);
    text_ += ",\"activeProfileIndex\":0,\n\"profiles\":[";
    for (size_t i = 0; i < stacks.measures().size(); ++i) {
      for (const size_t index : context_.selected()) Weights(stacks, i, index);
    }
    if (options_.by.empty()) {
      for (const size_t index : context_.selected()) Timelines(index);
    }
    // Its reader takes no file without a profile.
    if (profiles_ == 0) {
      BeginProfile("evented", "nothing was recorded", "none", 0, 0);
      text_ += "\"events\":[]}";
      report_->remark = "no stack has a weight, and no thread has a timeline";
    }
    text_ += "],\n\"shared\":{\"frames\":[";
    text_ += frames_.text();
    text_ += "]}}\n";
    Flush();
    return {};
  }

 private:
  static constexpr size_t kPieceBytes = 64 * 1024;

  bool Flush() {
    if (!is_stopped_) is_stopped_ = !sink_(sink_context_, text_);
    text_.clear();
    return !is_stopped_;
  }

  void BeginProfile(std::string_view type, const std::string& name, std::string_view unit,
                    int64_t start, int64_t end) {
    text_ += profiles_++ == 0 ? "\n{\"type\":\"" : ",\n{\"type\":\"";
    text_ += type;
    text_ += "\",\"name\":";
    AppendJsonString(name, &text_);
    text_ += ",\"unit\":\"";
    text_ += unit;
    text_ += "\",\"startValue\":" + std::to_string(start) + ",\"endValue\":" + std::to_string(end) +
             ",\n";
  }

  std::vector<size_t> FramesOf(const WeighedStack& stack) {
    bool is_cut = false;
    const std::vector<uint64_t> pcs = FramesOfStack(context_, stack, &is_cut);
    std::vector<size_t> frames;
    if (pcs.empty()) frames.push_back(frames_.Of("[no stack]"));
    if (is_cut) frames.push_back(frames_.Of("[truncated]"));
    for (auto pc = pcs.rbegin(); pc != pcs.rend(); ++pc) {
      const auto [at, added] = by_pc_.try_emplace({stack.process, *pc}, 0);
      if (added) {
        results::Frame frame;
        context_.Resolve(stack.process, *pc, PcKind::kReturnAddress, &frame);
        if (IsNamedFrame(*pc)) {
          const CodeFrame code = ReadFrameName(frame.name());
          at->second = frames_.Of(code.name, code.file, code.line);
        } else {
          at->second = frames_.Of(frame.name(), frame.file(), frame.line());
        }
      }
      frames.push_back(at->second);
    }
    if (!stack.kind.empty()) frames.push_back(frames_.Of(std::string(stack.kind)));
    return frames;
  }

  void Weights(const WeighedStacks& stacks, size_t measure, size_t index) {
    std::string samples, weights;
    uint64_t total = 0;
    for (const WeighedStack& stack : stacks.stacks()) {
      const uint64_t value = stack.process == index ? stack.values[measure] : 0;
      if (value == 0) continue;
      samples += samples.empty() ? "[" : ",\n[";
      const char* between = "";
      for (const size_t frame : FramesOf(stack)) {
        samples += between + std::to_string(frame);
        between = ",";
      }
      samples += "]";
      weights += (weights.empty() ? "" : ",") + std::to_string(value);
      total += value;
      ++report_->events;
    }
    if (total == 0) return;
    const StackWeight& weight = *stacks.measures()[measure];
    BeginProfile("sampled",
                 std::string(weight.meaning) + ": " + ProcessName(context_.process(index)),
                 UnitOfSpeedscope(weight.unit), 0, static_cast<int64_t>(total));
    text_ += "\"samples\":[" + samples + "],\n\"weights\":[" + weights + "]}";
    Flush();
  }

  void Timelines(size_t index) {
    const Process& process = context_.process(index);
    const bool is_imported = !context_.trace().importer.empty();
    const Places places(process, "", "GPU ", index + 1);
    Slices slices;
    const CallIndex calls(process);
    const OpLinks links(process, calls, is_imported);
    HostEvents host(process, places, links, is_imported, &slices);
    GpuEvents gpu(process, places, links, calls, is_imported, &slices);
    for (size_t track = 0; track < process.tracks.size(); ++track) {
      host.Write(track);
      gpu.Write(track);
      CountLeftOut(process.tracks[track], kInTimelines, report_);
      report_->sampled_rows += SampledRows(process.tracks[track]);
    }
    const std::string name = ProcessName(process);
    for (const auto& [key, row] : slices.rows()) {
      size_t number = 0;
      for (const Lane& lane : LanesOf(slices, row)) {
        const std::string overlap = number++ == 0 ? "" : ", overlap " + std::to_string(number);
        Timeline(slices, lane, name + " " + RowName(process, places, key) + overlap);
      }
    }
  }

  static std::string RowName(const Process& process, const Places& places,
                             const Slices::RowKey& key) {
    const auto& [pid, number] = key;
    if (number == Slices::kBetweenThreads) return "ranges between threads";
    std::string name;
    for (const Track& track : process.tracks) {
      const Place place = places.Of(track);
      if (name.empty() && place.pid == pid && place.tid == number) name = track.name;
    }
    for (const auto& [device, text] : places.devices()) {
      if (text == pid)
        return "GPU " + std::to_string(StreamNumber(device)) +
               (number < 0 ? "" : " stream " + std::to_string(number)) + (name.empty() ? "" : " ") +
               name;
    }
    if (pid != places.pid()) return "overhead of CUDA";
    return "thread " + std::to_string(number) + (name.empty() ? "" : " ") + name;
  }

  void Timeline(const Slices& slices, const Lane& lane, const std::string& name) {
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (const uint32_t each : lane) {
      if (slices.At(each).is_instant) continue;
      start = std::min(start, slices.At(each).start_ns);
      end = std::max(end, slices.At(each).end_ns);
    }
    if (start > end) return;
    BeginProfile("evented", name, "nanoseconds", start, end);
    text_ += "\"events\":[";
    const char* between = "\n";
    const auto put = [&](char type, uint32_t each, int64_t time) {
      text_ += between;
      text_ += "{\"type\":\"";
      text_ += type;
      text_ += "\",\"at\":" + std::to_string(time) + ",\"frame\":" +
               std::to_string(frames_.Of(slices.names()[slices.At(each).name - 1])) + "}";
      between = ",\n";
      if (text_.size() >= kPieceBytes) Flush();
    };
    WalkLane(
        slices, lane,
        [&](uint32_t each) {
          const Slices::Slice& slice = slices.At(each);
          if (slice.is_instant) {
            // Those of memory are counted as rows of tensors.
            if (slices.names()[slice.name - 1] != "[memory]") ++report_->left_out["mark"];
            return;
          }
          put('O', each, slice.start_ns);
          ++report_->events;
        },
        [&](uint32_t each) { put('C', each, slices.At(each).end_ns); });
    text_ += "]}";
    Flush();
  }

  PassContext& context_;
  const ToolOptions& options_;
  Sink sink_;
  void* sink_context_;
  ToolReport* report_;
  Frames frames_;
  std::map<std::pair<size_t, uint64_t>, size_t> by_pc_;
  std::string text_;
  uint64_t profiles_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

Error ExportSpeedscope(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                       ToolReport* report) {
  ExportedPart part(whole, options, options.symfs);
  if (Error error = part.Prepare()) return error;
  return SpeedscopeFile(part.context(), options, sink, context, report).Write();
}

}  // namespace gpuprof::analysis
