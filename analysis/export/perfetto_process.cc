// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See perfetto_process.h.

#include "analysis/export/perfetto_process.h"

#include <algorithm>
#include <limits>

#include "analysis/derived/host_samples.h"
#include "analysis/export/gpu_events.h"
#include "analysis/export/host_events.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

using wire::AppendFixed64;
using wire::AppendNumber;

// TrackEvent
constexpr uint32_t kCategory = 3, kName = 10, kFlow = 47, kStack = 56;
// The order of tracks below a process.
constexpr int32_t kStepsOrder = 1, kFirstDevice = 10, kBetween = 5'000, kOverhead = 5'001,
                  kFirstCounter = 6'000, kFirstThread = 10'000;

bool IsPid(int64_t number) { return number > 0 && number <= std::numeric_limits<int32_t>::max(); }

double CounterValue(const proto::Counter& counter, int64_t value) {
  return static_cast<double>(value) / std::max<uint32_t>(counter.divisor(), 1);
}

}  // namespace

PerfettoProcess::PerfettoProcess(PassContext& context, size_t index, std::set<int32_t>* pids,
                                 PerfettoWriter* out)
    : context_(context),
      index_(index),
      process_(context.process(index)),
      is_imported_(!context.trace().importer.empty()),
      out_(*out),
      places_(process_, "", "GPU ", index + 1),
      stacks_(context, index),
      has_pid_(IsPid(process_.pid) && pids->insert(process_.pid).second),
      process_track_(uint64_t{index + 1} << 32) {}

void PerfettoProcess::Write() {
  TakeSlices();
  out_.BeginSequence(static_cast<uint32_t>(index_ + 1));
  out_.Names(PerfettoNames::kEvents, slices_.names());
  out_.Names(PerfettoNames::kCategoryNames, slices_.categories());
  out_.Names(PerfettoNames::kArguments, slices_.keys());
  out_.Names(PerfettoNames::kTexts, slices_.texts());
  PerfettoTrack track;
  track.uuid = process_track_;
  track.name = ProcessName(process_);
  track.command = process_.argv;
  if (has_pid_) track.pid = process_.pid;
  out_.Track(track);
  for (uint32_t slice = 0; slice < slices_.size(); ++slice) stacks_.Of(slices_.At(slice).stack);
  for (const Track& each : process_.tracks) {
    for (const uint32_t stack : each.sample.stack) stacks_.Of(stack);
  }
  stacks_.Write(&out_);
  WriteSteps();
  for (const auto& [key, row] : slices_.rows()) WriteRow(key, row);
  for (const Track& each : process_.tracks) WriteCounters(each);
  WriteTensorCounters();
  WriteSamples();
}

void PerfettoProcess::TakeSlices() {
  const CallIndex calls(process_);
  const OpLinks links(process_, calls, is_imported_);
  HostEvents host(process_, places_, links, is_imported_, &slices_);
  GpuEvents gpu(process_, places_, links, calls, is_imported_, &slices_);
  for (size_t index = 0; index < process_.tracks.size(); ++index) {
    const Track& track = process_.tracks[index];
    host.Write(index);
    gpu.Write(index);
    TakeWaits(track);
    TakePauses(track);
    TakeReads(track);
  }
}

void PerfettoProcess::TakeWaits(const Track& track) {
  const WaitTable& waits = track.wait;
  const Place place = places_.Of(track);
  for (size_t row = 0; row < waits.rows(); ++row) {
    const proto::WaitKind kind = proto::WaitKindOf(waits.operation[row]);
    slices_.Span("wait", "wait: " + std::string(WaitKindName(static_cast<uint32_t>(kind))), place,
                 waits.end_ns[row] - waits.duration_ns[row], waits.duration_ns[row]);
    slices_.Arg("object", waits.object[row]);
    if (waits.owner[row] != 0) slices_.Arg("owner thread", waits.owner[row]);
    slices_.End();
    slices_.SetStack(waits.stack[row]);
  }
}

void PerfettoProcess::TakePauses(const Track& track) {
  const GcPauseTable& pauses = track.gc_pause;
  for (size_t row = 0; row < pauses.rows(); ++row) {
    slices_.Span("python", "garbage collection", places_.Of(track),
                 pauses.end_ns[row] - pauses.duration_ns[row], pauses.duration_ns[row]);
    slices_.Arg("generation", pauses.generation[row]);
    slices_.Arg("collected", pauses.collected[row]);
    slices_.Arg("uncollectable", pauses.uncollectable[row]);
    slices_.End();
  }
}

void PerfettoProcess::TakeReads(const Track& track) {
  const FileReadTable& reads = track.file_read;
  for (size_t row = 0; row < reads.rows(); ++row) {
    slices_.Span("file", "read", places_.Of(track), reads.end_ns[row] - reads.duration_ns[row],
                 reads.duration_ns[row]);
    if (reads.path[row] != 0)
      slices_.Arg("path", std::string_view(process_.String(reads.path[row])));
    slices_.Arg("bytes", reads.bytes[row]);
    slices_.Arg("descriptor", reads.descriptor[row]);
    slices_.End();
  }
}

const Track* PerfettoProcess::StreamOf(uint32_t device, int64_t stream) const {
  const Track* found = nullptr;
  for (const Track& track : process_.tracks) {
    const bool is_it =
        track.is_stream && track.device == device && StreamNumber(track.stream) == stream;
    if (is_it && (found == nullptr || found->name.empty())) found = &track;
  }
  return found;
}

const Track* PerfettoProcess::ThreadOf(int64_t tid) const {
  const Track* found = nullptr;
  for (const Track& track : process_.tracks) {
    const bool is_it = !track.is_stream && int64_t{static_cast<uint32_t>(track.tid)} == tid;
    if (is_it && (found == nullptr || found->name.empty())) found = &track;
  }
  return found;
}

uint64_t PerfettoProcess::DeviceTrack(const std::string& pid, uint32_t device) {
  const auto [at, added] = devices_.try_emplace(pid, 0);
  if (!added) return at->second;
  PerfettoTrack track;
  track.uuid = at->second = NextTrack();
  track.parent = process_track_;
  track.name = "GPU " + std::to_string(StreamNumber(device));
  if (const proto::Device* known = process_.FindDevice(device)) track.name += " " + known->name();
  track.order = kFirstDevice + static_cast<int32_t>(std::min<size_t>(devices_.size(), 1'000));
  out_.Track(track);
  return track.uuid;
}

PerfettoTrack PerfettoProcess::RowTrack(const Slices::RowKey& key) {
  const auto& [pid, number] = key;
  PerfettoTrack track;
  track.parent = process_track_;
  if (number == Slices::kBetweenThreads) {
    track.name = "Ranges between threads";
    track.order = kBetween;
    return track;
  }
  for (const auto& [device, text] : places_.devices()) {
    if (text != pid) continue;
    track.parent = DeviceTrack(pid, device);
    track.name = number < 0 ? "no stream" : "stream " + std::to_string(number);
    const Track* stream = StreamOf(device, number);
    if (stream != nullptr && !stream->name.empty()) track.name += " " + stream->name;
    track.order = static_cast<int32_t>(std::clamp<int64_t>(number, 0, 1'000'000'000)) + 1;
    return track;
  }
  if (pid != places_.pid()) {
    track.name = "Overhead of CUDA";
    track.order = kOverhead;
    return track;
  }
  const Track* thread = ThreadOf(number);
  track.name = thread == nullptr ? "" : thread->name;
  if (has_pid_ && IsPid(number)) {
    track.pid = process_.pid;
    track.tid = number;
  } else {
    track.name = "thread " + std::to_string(number) + (track.name.empty() ? "" : " ") + track.name;
  }
  track.order = kFirstThread;
  return track;
}

void PerfettoProcess::WriteRow(const Slices::RowKey& key, const std::vector<uint32_t>& row) {
  PerfettoTrack track = RowTrack(key);
  const bool is_thread = track.tid != 0;
  const std::string name = is_thread ? "overlaps thread " + std::to_string(track.tid) : track.name;
  uint64_t first = 0;
  for (const Lane& lane : LanesOf(slices_, row)) {
    track.uuid = NextTrack();
    // Perfetto shows sisters of one name as one.
    if (first != 0 && is_thread) {
      track = PerfettoTrack{};
      track.uuid = NextTrack();
      track.parent = first;
      track.name = name;
    }
    if (first == 0) first = track.uuid;
    out_.Track(track);
    WriteLane(track.uuid, lane);
  }
}

void PerfettoProcess::WriteLane(uint64_t track, const Lane& lane) {
  std::string fields;
  const std::vector<Slices::Arrow>& arrows = slices_.arrows();
  const auto begin = [&](uint32_t each) {
    const Slices::Slice& slice = slices_.At(each);
    fields.clear();
    if (slice.category != 0) AppendNumber(kCategory, slice.category, &fields);
    AppendNumber(kName, slice.name, &fields);
    auto arrow = std::lower_bound(
        arrows.begin(), arrows.end(), each,
        [](const Slices::Arrow& at, uint32_t wanted) { return at.slice < wanted; });
    for (; arrow != arrows.end() && arrow->slice == each; ++arrow)
      AppendFixed64(kFlow, arrow->id, &fields);
    if (const uint64_t stack = stacks_.Of(slice.stack)) AppendNumber(kStack, stack, &fields);
    fields.append(slices_.args(), slice.args, slice.args_end - slice.args);
    if (slice.is_instant) {
      out_.Instant(track, slice.start_ns, fields);
    } else {
      out_.Begin(track, slice.start_ns, fields);
    }
  };
  const auto end = [&](uint32_t each) { out_.End(track, slices_.At(each).end_ns); };
  WalkLane(slices_, lane, begin, end);
}

void PerfettoProcess::WriteSteps() {
  const StepAnalysis& found = context_.steps(index_);
  if (found.steps.empty()) return;
  PerfettoTrack track;
  track.uuid = NextTrack();
  track.parent = process_track_;
  track.name = "Steps";
  track.order = kStepsOrder;
  out_.Track(track);
  for (const Step& step : found.steps) {
    std::string fields;
    wire::AppendBytes(23, "step " + std::to_string(step.number), &fields);
    out_.Begin(track.uuid, step.span.start, fields);
    out_.End(track.uuid, step.span.end);
    ++steps_;
  }
}

uint64_t PerfettoProcess::CounterTrack(uint64_t parent, const std::string& name,
                                       const std::string& unit) {
  const auto [at, added] = counters_.try_emplace({parent, name}, 0);
  if (!added) return at->second;
  PerfettoTrack track;
  track.uuid = at->second = NextTrack();
  track.parent = parent;
  track.name = name;
  track.is_counter = true;
  track.unit = unit;
  track.order = kFirstCounter + static_cast<int32_t>(std::min<size_t>(counters_.size(), 1'000));
  out_.Track(track);
  return track.uuid;
}

void PerfettoProcess::WriteCounters(const Track& track) {
  const CounterTable& table = track.counter;
  if (table.rows() == 0) return;
  const uint64_t parent =
      track.is_stream ? DeviceTrack(std::string(places_.DevicePid(track.device)), track.device)
                      : process_track_;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto known = process_.counters.find(table.counter[row]);
    if (known == process_.counters.end()) continue;
    const proto::Counter& counter = known->second;
    std::string name = counter.name();
    if (is_imported_ && !counter.source().empty() && counter.source() != name)
      name += " " + counter.source();
    out_.Counter(CounterTrack(parent, name, counter.unit()), table.time_ns[row],
                 CounterValue(counter, table.value[row]));
  }
}

void PerfettoProcess::WriteTensorCounters() {
  for (const Track& track : process_.tracks) {
    const TensorTable& table = track.tensor;
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string device = DeviceName(process_, table.device[row]);
      const int64_t time = table.time_ns[row];
      out_.Counter(CounterTrack(process_track_, device + " allocated by tensors", "bytes"), time,
                   static_cast<double>(table.total_allocated[row]));
      out_.Counter(CounterTrack(process_track_, device + " reserved for tensors", "bytes"), time,
                   static_cast<double>(table.total_reserved[row]));
    }
  }
}

// Perfetto counts samples as processor time. So samples of waiting threads are left out, and those
// of native code of a thread whose Python was sampled, too.
void PerfettoProcess::WriteSamples() {
  for (const Track& track : process_.tracks) {
    const SampleTable& table = track.sample;
    std::set<int32_t> python;
    for (size_t row = 0; row < table.rows(); ++row) {
      if (!IsNativeSample(table.state[row])) python.insert(table.thread[row]);
    }
    for (size_t row = 0; row < table.rows(); ++row) {
      const uint32_t state = table.state[row];
      const uint64_t stack = stacks_.Of(table.stack[row]);
      const bool is_second = IsNativeSample(state) && python.contains(table.thread[row]);
      if (!has_pid_ || stack == 0 || is_second || StateOfSample(state) != HostState::kRuns) {
        ++samples_left_out_;
      } else {
        out_.Sample(table.end_ns[row], process_.pid, table.thread[row], stack);
      }
    }
  }
}

uint64_t WritePerfettoSampler(const Process& sampler, uint64_t first_track, PerfettoWriter* out) {
  uint64_t next = first_track, left_out = 0;
  for (const Track& track : sampler.tracks) {
    const auto device = sampler.sampled_devices.find(track.id);
    std::map<uint32_t, uint64_t> tracks;  // by counter
    uint64_t parent = 0;
    for (size_t row = 0; row < track.counter.rows(); ++row) {
      const auto known = sampler.counters.find(track.counter.counter[row]);
      const bool is_number = known != sampler.counters.end() && known->second.unit() != "mask" &&
                             known->second.pid() == 0;
      if (!is_number || device == sampler.sampled_devices.end()) {
        ++left_out;
        continue;
      }
      PerfettoTrack made;
      if (parent == 0) {
        made.uuid = parent = next++;
        made.name = "Counters of GPU " + std::to_string(device->second.index()) + " " +
                    device->second.name();
        out->Track(made);
      }
      const auto [at, added] = tracks.try_emplace(known->first, 0);
      if (added) {
        made = PerfettoTrack{};
        made.uuid = at->second = next++;
        made.parent = parent;
        made.name = known->second.name();
        made.is_counter = true;
        made.unit = known->second.unit();
        made.order = static_cast<int32_t>(tracks.size());
        out->Track(made);
      }
      out->Counter(at->second, track.counter.time_ns[row],
                   CounterValue(known->second, track.counter.value[row]));
    }
  }
  return left_out;
}

}  // namespace gpuprof::analysis
