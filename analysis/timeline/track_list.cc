// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_list.h.

#include "analysis/timeline/track_list.h"

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/steps/step_marks.h"

namespace gpuprof::analysis::timeline {
namespace {

using proto::ChunkKind;

constexpr uint64_t kMostQueueRows = 16'000'000;
constexpr size_t kMostQueueDevices = 64;
// A curve is made as a whole, and takes 40 bytes a row meanwhile.
constexpr uint64_t kMostHeapRows = 20'000'000;
// Threads and streams of a process that have rows.
constexpr size_t kMostTracks = 16'384;
// The type of a device in the numbers of PyTorch (TensorTable::device).
constexpr uint32_t kNoIndex = 0xff;

// Appends a table if it has rows. Numbers of rows have 32 bits: the rest would have none.
template <typename Table>
void Append(ChunkKind kind, uint32_t track, const Table& table, const Column<uint32_t>* key,
            TrackDraft* draft) {
  const uint64_t before =
      draft->tables.empty() ? 0
                            : uint64_t{draft->tables.back().first_row} + draft->tables.back().rows;
  const uint64_t rows = table.end_ns.size();
  if (rows == 0 || before + rows >= kFolded) return;
  RowTable made;
  made.kind = kind;
  made.track = track;
  made.first_row = static_cast<uint32_t>(before);
  made.rows = static_cast<uint32_t>(rows);
  made.end_ns = &table.end_ns;
  made.duration_ns = &table.duration_ns;
  made.key = key;
  if constexpr (requires { table.weight; }) {
    if (!table.weight.empty()) made.weight = &table.weight;
  }
  if constexpr (requires { table.domain; }) made.operation = &table.operation;
  draft->tables.push_back(made);
}

void AppendTables(TrackKind kind, uint32_t number, const Track& track, TrackDraft* draft) {
  switch (kind) {
    case TrackKind::kStream:
      Append(ChunkKind::kKernel, number, track.kernel, &track.kernel.signature, draft);
      Append(ChunkKind::kMemcpy, number, track.memcpy, &track.memcpy.operation, draft);
      Append(ChunkKind::kMemset, number, track.memset, &track.memset.operation, draft);
      return Append(ChunkKind::kGraphLaunch, number, track.graph_launch, &track.graph_launch.graph,
                    draft);
    case TrackKind::kSync:
      Append(ChunkKind::kSync, number, track.sync, &track.sync.operation, draft);
      return Append(ChunkKind::kHostFunction, number, track.host_function, nullptr, draft);
    case TrackKind::kApi:
      return Append(ChunkKind::kApi, number, track.api, &track.api.function, draft);
    case TrackKind::kOp:
      return Append(ChunkKind::kOp, number, track.op, &track.op.name, draft);
    case TrackKind::kPython:
      Append(ChunkKind::kPython, number, track.python, &track.python.name, draft);
      return Append(ChunkKind::kGcPause, number, track.gc_pause, &track.gc_pause.generation, draft);
    case TrackKind::kRange:
      return Append(ChunkKind::kRange, number, track.range, &track.range.name, draft);
    case TrackKind::kWait:
      return Append(ChunkKind::kWait, number, track.wait, &track.wait.operation, draft);
    case TrackKind::kOverhead:
      return Append(ChunkKind::kOverhead, number, track.overhead, &track.overhead.operation, draft);
    case TrackKind::kFileRead:
      return Append(ChunkKind::kFileRead, number, track.file_read, &track.file_read.path, draft);
    default:
      return;
  }
}

bool IsShown(TrackKind kind, ChunkKind table) {
  switch (kind) {
    case TrackKind::kStream:
      return table == ChunkKind::kKernel || table == ChunkKind::kMemcpy ||
             table == ChunkKind::kMemset || table == ChunkKind::kGraphLaunch;
    case TrackKind::kSync:
      return table == ChunkKind::kSync || table == ChunkKind::kHostFunction;
    case TrackKind::kApi:
      return table == ChunkKind::kApi;
    case TrackKind::kOp:
      return table == ChunkKind::kOp;
    case TrackKind::kPython:
      return table == ChunkKind::kPython || table == ChunkKind::kGcPause;
    case TrackKind::kRange:
      return table == ChunkKind::kRange;
    case TrackKind::kWait:
      return table == ChunkKind::kWait;
    case TrackKind::kOverhead:
      return table == ChunkKind::kOverhead;
    case TrackKind::kFileRead:
      return table == ChunkKind::kFileRead;
    default:
      return false;
  }
}

// Returns the rows of a kind that are left out of a track.
std::vector<LeftOutRows> LeftOutOf(TrackKind kind, const Track& track) {
  std::vector<LeftOutRows> rows;
  for (const LeftOutRows& each : track.left_out) {
    if (IsShown(kind, each.kind)) rows.push_back(each);
  }
  return rows;
}

// Returns whether rows of a table are left out of a process. Curves are sums over all of them.
bool IsLeftOut(const Process& process, ChunkKind kind) {
  for (const Track& track : process.tracks) {
    for (const LeftOutRows& each : track.left_out) {
      if (each.kind == kind) return true;
    }
  }
  return false;
}

// Names a track of a stream by what it shows.
std::string NameOnDevice(TrackKind kind, const Track& track, const std::string& stream) {
  if (kind == TrackKind::kOverhead) return "overhead";
  if (kind != TrackKind::kSync) return stream;
  return track.is_stream && track.stream == kNoCudaId ? "waits for the device"
                                                      : "waits for " + stream;
}

// Returns whether all work of a track was begun by graphs, as far as it is there.
bool IsOfGraphs(const Track& track) {
  if (track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.graph_launch.rows() ==
      0)
    return false;
  const auto has_none = [](const Column<uint32_t>& graphs) {
    const Column<uint32_t>::Reader reader(graphs);
    for (size_t row = 0; row < graphs.size(); ++row) {
      if (reader[row] == 0) return false;
    }
    return true;
  };
  return has_none(track.kernel.graph) && has_none(track.memcpy.graph) &&
         has_none(track.memset.graph) && has_none(track.graph_launch.graph);
}

uint64_t RowsOf(const TrackDraft& draft) {
  uint64_t rows = 0;
  for (const RowTable& table : draft.tables) rows += table.rows;
  for (const LeftOutRows& each : draft.left_out) rows += each.rows;
  return rows;
}

}  // namespace

KeyNames* TrackList::NamesOf(uint32_t process, ChunkKind kind) {
  std::unique_ptr<KeyNames>& names = key_names_[{process, kind}];
  if (names == nullptr)
    names = std::make_unique<KeyNames>(*(*processes_)[process], kind, names_, kernels_);
  return names.get();
}

TrackDraft& TrackList::AddDraft(uint32_t process, TrackKind kind, std::string name) {
  TrackDraft& draft = drafts_.emplace_back();
  draft.info.process = process;
  draft.info.kind = kind;
  draft.info.name = std::move(name);
  return draft;
}

// Rows of waits name their context alone: then another stream of it tells the device.
std::optional<uint32_t> TrackList::DeviceOf(uint32_t process, const Track& track) const {
  if (!track.is_stream) return 0;
  if (track.device != kNoCudaId) return track.device;
  for (const Track& other : (*processes_)[process]->tracks) {
    if (other.is_stream && other.device != kNoCudaId && other.context == track.context)
      return other.device;
  }
  return std::nullopt;
}

std::string TrackList::StreamName(uint32_t process, const Track& track) {
  if (!track.is_stream) return "stream on track " + std::to_string(track.id);
  const uint32_t device = DeviceOf(process, track).value_or(0);
  const auto [known, is_new] = contexts_.try_emplace({process, device}, 0);
  if (is_new) {
    std::set<uint32_t> contexts;
    for (const Track& other : (*processes_)[process]->tracks) {
      if (other.is_stream && other.device == device) contexts.insert(other.context);
    }
    known->second = contexts.size();
  }
  std::string name =
      track.stream == kNoCudaId ? "no stream" : "stream " + std::to_string(track.stream);
  if (!track.name.empty()) name += " (" + track.name + ")";
  return known->second <= 1 ? name : name + ", context " + std::to_string(track.context);
}

void TrackList::AddSpans(uint32_t process, uint32_t number, TrackKind kind) {
  const Track& track = (*processes_)[process]->tracks[number];
  if (track.tool) return;
  TrackDraft made;
  AppendTables(kind, number, track, &made);
  made.left_out = LeftOutOf(kind, track);
  if (made.tables.empty() && made.left_out.empty()) return;
  made.tracks = {number};
  for (RowTable& table : made.tables) table.names = NamesOf(process, table.kind);
  made.info.process = process;
  made.info.kind = kind;
  made.info.rows = timeline::RowsOf(made);
  made.number = track.id;
  // CUDA's own time is on its thread, or on a device if no thread is known.
  const bool is_on_device = kind == TrackKind::kStream || kind == TrackKind::kSync ||
                            (kind == TrackKind::kOverhead && track.is_stream);
  if (is_on_device) {
    made.info.name = NameOnDevice(kind, track, StreamName(process, track));
    made.info.device = DeviceOf(process, track);
  } else if (track.tid == 0) {
    made.info.name = track.name.empty() ? "thread " + std::to_string(track.id) : track.name;
  } else {
    made.info.name =
        "thread " + std::to_string(track.tid) + (track.name.empty() ? "" : " (" + track.name + ")");
    made.info.tid = track.tid;
  }
  drafts_.push_back(std::move(made));
}

void TrackList::AddCounters(uint32_t process, uint32_t number) {
  const Process& of = *(*processes_)[process];
  const Track& track = of.tracks[number];
  std::map<uint32_t, uint64_t> rows;
  std::vector<uint32_t> ids;  // in the order of their first rows
  const Column<uint32_t>::Reader counters(track.counter.counter);
  for (size_t row = 0; row < track.counter.rows(); ++row) {
    if (rows[counters[row]]++ == 0) ids.push_back(counters[row]);
  }
  for (const uint32_t id : ids) {
    const auto known = of.counters.find(id);
    const bool is_known = known != of.counters.end();
    TrackDraft& draft = AddDraft(process, TrackKind::kCounter,
                                 is_known ? known->second.name() : "counter " + std::to_string(id));
    draft.number = track.id;
    draft.info.rows = rows[id];
    const auto sampled = of.sampled_devices.find(track.id);
    if (sampled != of.sampled_devices.end()) draft.info.device = sampled->second.index();
    if (is_known) draft.unit = known->second.unit();
    const uint32_t divisor = is_known ? known->second.divisor() : 1;
    draft.curve = [&track, id, divisor] { return CounterCurve(track, id, divisor); };
  }
}

uint64_t TrackList::RowsOf(uint32_t process, TrackKind kind) const {
  uint64_t rows = 0;
  for (const TrackDraft& draft : drafts_) {
    if (draft.info.process == process && draft.info.kind == kind) rows += draft.info.rows;
  }
  return rows;
}

// Adds for each device what was launched and waits. Too many rows would take too much memory.
void TrackList::AddQueues(uint32_t process) {
  const uint64_t calls = RowsOf(process, TrackKind::kApi);
  const Process* of = (*processes_)[process];
  // A call whose work is left out would wait for ever.
  for (const ChunkKind kind : {ChunkKind::kApi, ChunkKind::kKernel, ChunkKind::kMemcpy,
                               ChunkKind::kMemset, ChunkKind::kGraphLaunch}) {
    if (IsLeftOut(*of, kind)) return;
  }
  if (calls == 0 || calls + RowsOf(process, TrackKind::kStream) > kMostQueueRows) return;
  std::vector<std::optional<uint32_t>> devices;
  std::map<std::optional<uint32_t>, std::vector<uint32_t>> streams;
  std::map<std::optional<uint32_t>, uint64_t> rows;
  for (const TrackDraft& draft : drafts_) {
    if (draft.info.process != process || draft.info.kind != TrackKind::kStream) continue;
    std::vector<uint32_t>& list = streams[draft.info.device];
    if (list.empty()) devices.push_back(draft.info.device);
    list.push_back(draft.tracks.front());
    rows[draft.info.device] += draft.info.rows;
  }
  if (devices.size() > kMostQueueDevices) devices.resize(kMostQueueDevices);
  for (const std::optional<uint32_t>& device : devices) {
    TrackDraft& draft = AddDraft(process, TrackKind::kQueue, "launched, waiting");
    draft.info.device = device;
    draft.info.rows = rows[device];
    Derived* derived = &(*derived_)[process];
    draft.curve = [of, derived, list = streams[device]] {
      return QueueCurve(*of, derived->calls(), list);
    };
  }
}

// Draws streams that only run nodes of graphs in few lanes, if a device has many of them.
void TrackList::PackGraphStreams(uint32_t process) {
  std::vector<std::optional<uint32_t>> devices;
  std::map<std::optional<uint32_t>, std::vector<size_t>> streams;  // places in drafts_
  for (size_t i = 0; i < drafts_.size(); ++i) {
    if (drafts_[i].info.process != process || drafts_[i].info.kind != TrackKind::kStream) continue;
    std::vector<size_t>& list = streams[drafts_[i].info.device];
    if (list.empty()) devices.push_back(drafts_[i].info.device);
    list.push_back(i);
  }
  for (const std::optional<uint32_t>& device : devices) {
    if (streams[device].size() <= options_->graph_streams) continue;
    std::vector<size_t> packed;
    for (const size_t i : streams[device]) {
      const Track& track = (*processes_)[process]->tracks[drafts_[i].tracks.front()];
      if (IsOfGraphs(track)) packed.push_back(i);
    }
    if (packed.size() <= options_->graph_streams) continue;
    TrackDraft lanes;
    for (const size_t i : packed) {
      if (lanes.info.rows + drafts_[i].info.rows >= kFolded) break;
      drafts_[i].info.is_packed = true;
      for (RowTable table : drafts_[i].tables) {
        table.first_row += static_cast<uint32_t>(lanes.info.rows);
        lanes.tables.push_back(table);
      }
      lanes.tracks.push_back(drafts_[i].tracks.front());
      lanes.left_out.insert(lanes.left_out.end(), drafts_[i].left_out.begin(),
                            drafts_[i].left_out.end());
      lanes.info.rows += drafts_[i].info.rows;
    }
    lanes.info.kind = TrackKind::kGraphLane;
    lanes.info.process = process;
    lanes.info.device = device;
    lanes.info.name = std::to_string(packed.size()) + " graph streams";
    drafts_.push_back(std::move(lanes));
  }
}

void TrackList::AddMemory(uint32_t process) {
  const Process& of = *(*processes_)[process];
  std::map<uint32_t, uint64_t> tensors;
  std::vector<uint32_t> codes;  // in the order of their first rows
  uint64_t heap_rows = 0;
  std::map<uint32_t, std::vector<uint32_t>> device_tracks;
  std::map<uint32_t, uint64_t> device_rows;
  const bool no_tensors = IsLeftOut(of, ChunkKind::kTensor);
  const bool no_heap = IsLeftOut(of, ChunkKind::kHeap);
  const bool no_device_memory = IsLeftOut(of, ChunkKind::kDeviceMemory);
  for (uint32_t number = 0; number < of.tracks.size(); ++number) {
    const Track& track = of.tracks[number];
    const Column<uint32_t>::Reader devices(track.tensor.device);
    for (size_t row = 0; !no_tensors && row < track.tensor.rows(); ++row) {
      if (tensors[devices[row]]++ == 0) codes.push_back(devices[row]);
    }
    heap_rows += track.heap.rows();
    if (no_device_memory || track.device_memory.rows() == 0) continue;
    const uint32_t device = track.is_stream ? track.device : 0;
    device_tracks[device].push_back(number);
    device_rows[device] += track.device_memory.rows();
  }
  for (const uint32_t code : codes) {
    const uint32_t index = (code & 0xff) == kNoIndex ? 0 : code & 0xff;
    const bool is_host = code >> 8 == 0;
    TrackDraft& draft =
        AddDraft(process, TrackKind::kMemory,
                 is_host ? "CPU allocator" : "allocator of device " + std::to_string(index));
    if (!is_host) draft.info.device = index;
    draft.info.rows = tensors[code];
    draft.curve = [&of, code] { return TensorCurve(of, code); };
  }
  if (!no_heap && heap_rows != 0 && heap_rows <= kMostHeapRows) {
    const bool is_estimate =
        of.heap_period > 0 && of.heap_mode != static_cast<uint32_t>(proto::HeapMode::kExact);
    TrackDraft& draft =
        AddDraft(process, TrackKind::kMemory, is_estimate ? "heap, estimated" : "heap");
    draft.info.rows = heap_rows;
    draft.curve = [&of] { return HeapCurve(of); };
  }
  for (const auto& [device, tracks] : device_tracks) {
    TrackDraft& draft = AddDraft(process, TrackKind::kMemory, "memory from CUDA");
    draft.info.device = device;
    draft.info.rows = device_rows[device];
    draft.curve = [&of, list = tracks] { return DeviceMemoryCurve(of, list); };
  }
  for (TrackDraft& draft : drafts_) {
    if (draft.info.kind == TrackKind::kMemory) draft.unit = "bytes";
  }
}

// Adds the steps that passes find: one track for each thread that has some.
void TrackList::AddSteps() {
  struct Series {
    uint32_t process;
    int32_t tid;
    StepRows* rows;
  };
  std::vector<Series> all;
  const std::vector<StepMark> marks =
      options_->steps != nullptr ? *options_->steps
                                 : FindStepMarks(*trace_, [&](uint32_t process) -> ProcessOps& {
                                     return (*derived_)[process].ops();
                                   });
  for (const StepMark& step : marks) {
    if (step.process >= trace_->processes.size()) continue;
    auto series = std::find_if(all.begin(), all.end(), [&](const Series& each) {
      return each.process == step.process && each.tid == step.tid;
    });
    if (series == all.end()) {
      all.push_back({step.process, step.tid, &steps_.emplace_back()});
      series = all.end() - 1;
    }
    series->rows->end_ns.push_back(step.start_ns + step.duration_ns);
    series->rows->duration_ns.push_back(step.duration_ns);
    series->rows->number.push_back(step.number);
  }
  for (const Series& series : all) {
    TrackDraft& draft =
        AddDraft(series.process, TrackKind::kSteps,
                 all.size() == 1 ? "steps" : "steps of thread " + std::to_string(series.tid));
    draft.info.tid = series.tid;
    Append(ChunkKind::kMeta, 0, *series.rows, &series.rows->number, &draft);
    for (RowTable& table : draft.tables) table.names = NamesOf(series.process, table.kind);
    draft.info.rows = timeline::RowsOf(draft);
  }
}

std::vector<TrackDraft> TrackList::Make(std::vector<std::string>* faults) {
  for (uint32_t process = 0; process < processes_->size(); ++process) {
    const Process& of = *(*processes_)[process];
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < of.tracks.size(); ++i) {
      if (!of.tracks[i].extents.empty()) numbers.push_back(i);
    }
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&of](uint32_t x, uint32_t y) { return of.tracks[x].id < of.tracks[y].id; });
    if (numbers.size() > kMostTracks) {
      numbers.resize(kMostTracks);
      faults->push_back(of.file + ": more than " + std::to_string(kMostTracks) +
                        " threads: the rest is left out");
    }
    for (const uint32_t number : numbers) {
      for (size_t kind = 0; kind < kTrackKinds; ++kind)
        AddSpans(process, number, static_cast<TrackKind>(kind));
      AddCounters(process, number);
    }
    AddQueues(process);
    PackGraphStreams(process);
    AddMemory(process);
  }
  AddSteps();
  const auto rank = [](const TrackDraft& draft) {
    const TrackInfo& info = draft.info;
    const bool is_host = info.kind >= TrackKind::kSteps;
    // Memory of the host comes after the devices. Steps of a process come before its threads.
    return std::tuple(is_host, info.process, is_host ? 0 : info.device.value_or(kNoCudaId),
                      is_host ? TrackKind::kStream : info.kind, info.kind != TrackKind::kSteps,
                      draft.number, info.kind);
  };
  std::stable_sort(drafts_.begin(), drafts_.end(),
                   [&](const TrackDraft& x, const TrackDraft& y) { return rank(x) < rank(y); });
  return std::move(drafts_);
}

}  // namespace gpuprof::analysis::timeline
