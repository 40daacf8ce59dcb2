// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables of a .gpt file into the model: strings, stacks, modules, clocks, threads, identity,
// health. See trace_file.h.

#include <algorithm>
#include <set>

#include "analysis/read/trace_file.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

// The recorder's own tables are bounded by its 64 MiB; what is beyond these bounds it did not
// write.
constexpr uint64_t kMostTableBytes = 32u << 20;
constexpr size_t kMostStrings = 2u << 20;
constexpr uint64_t kMostStringBytes = 256u << 20;
constexpr size_t kMostSnapshots = 4u << 20;
constexpr size_t kMostModules = 64u << 10;
constexpr size_t kMostModuleLives = 256u << 10;
constexpr size_t kMostSignatures = 1u << 20;
constexpr size_t kMostDevices = 1024;
constexpr size_t kMostContexts = 256u << 10;
constexpr size_t kMostCounters = 64u << 10;

}  // namespace

void TraceFile::ReadTable(const codec::BlockRef& block, BlockReader* reader) {
  if (block.header.raw_bytes > kMostTableBytes) {
    AddFault(block.offset, "table of " + std::to_string(block.header.raw_bytes) +
                               " bytes: too large for a table");
    return;
  }
  const uint8_t* message = nullptr;
  uint64_t bytes = 0;
  codec::Fault fault;
  if (!reader->Decompress(block, &message, &bytes, &fault)) {
    AddFault(fault.offset, fault.what);
    return;
  }
  proto::Trace trace;
  if (!trace.ParseFromArray(message, static_cast<int>(bytes)) || trace.chunk_size() != 1 ||
      trace.chunk(0).kind() != block.header.kind) {
    AddFault(block.offset, "table is not what its header says");
    return;
  }
  const proto::Chunk& chunk = trace.chunk(0);
  switch (static_cast<proto::ChunkKind>(block.header.kind)) {
    case proto::ChunkKind::kMeta:
      AddMeta(chunk.meta());
      break;
    case proto::ChunkKind::kStrings:
      AddStrings(chunk.strings(), block.offset);
      break;
    case proto::ChunkKind::kStacks:
      AddStacks(chunk.stacks(), block.offset);
      break;
    case proto::ChunkKind::kModules:
      AddModules(chunk.modules());
      break;
    case proto::ChunkKind::kThreads:
      AddThreads(chunk.threads());
      break;
    case proto::ChunkKind::kHealth:
      process().health = chunk.health();
      break;
    case proto::ChunkKind::kClocks:
      for (const proto::ClockSnapshot& snapshot : chunk.clocks().snapshot()) {
        auto& snapshots = snapshot.cupti_ns() != 0 ? cupti_snapshots_ : snapshots_;
        if (snapshots.size() < kMostSnapshots) snapshots.push_back(snapshot);
      }
      break;
    case proto::ChunkKind::kSignatures:
      for (const proto::Signature& signature : chunk.signatures().signature()) {
        if (process().signatures.size() < kMostSignatures)
          process().signatures.emplace(signature.id(), signature);
      }
      break;
    case proto::ChunkKind::kStreams:
      AddStreams(chunk.streams());
      break;
    case proto::ChunkKind::kGraphNodes:
      AddGraphs(chunk.graph_nodes(), chunk.capture(), block.offset);
      break;
    case proto::ChunkKind::kDevices:
      AddDevices(chunk.devices(), block.header.capture);
      break;
    case proto::ChunkKind::kFunctions:
      for (int i = 0;
           i < std::min(chunk.functions().function_size(), chunk.functions().name_size()); ++i) {
        process().functions.emplace(chunk.functions().function(i), chunk.functions().name(i));
      }
      break;
    case proto::ChunkKind::kCounters:
      AddCounters(chunk.counters());
      break;
    case proto::ChunkKind::kHloModules:
      AddHloModules(chunk.hlo_modules(), block.offset);
      break;
    default:
      break;
  }
}

void TraceFile::AddHloModules(const proto::HloModules& modules, uint64_t offset) {
  constexpr size_t kMostModules = 1 << 16;
  std::vector<std::shared_ptr<const HloModule>>& all = process().hlo_modules;
  for (const proto::HloModule& part : modules.module()) {
    hlo_bytes_ += part.proto().size();
    if (all.size() == kMostModules || hlo_bytes_ > kMostHloBytes) {
      AddFault(offset, "more compiled modules than a trace may hold");
      return;
    }
    const bool goes_on = !all.empty() && all.back()->program_id == part.program_id() &&
                         all.back()->name == part.name();
    if (goes_on) {
      hlo_open_->proto += part.proto();
    } else {
      hlo_open_ =
          std::make_shared<HloModule>(HloModule{part.program_id(), part.name(), part.proto()});
      all.push_back(hlo_open_);
    }
  }
}

void TraceFile::AddCounters(const proto::Counters& counters) {
  for (const proto::Counter& counter : counters.counter()) {
    if (process().counters.size() < kMostCounters || process().counters.count(counter.id()) != 0)
      process().counters[counter.id()] = counter;
  }
  for (const proto::SampledDevice& device : counters.device()) {
    if (process().sampled_devices.size() < kMostDevices)
      process().sampled_devices[device.track()] = device;
  }
}

void TraceFile::AddStreams(const proto::Streams& streams) {
  for (const proto::Stream& stream : streams.stream()) {
    Track* track = stream.track() == 0 ? nullptr : TrackOf(stream.track(), 0);
    if (track == nullptr) continue;
    track->is_stream = true;
    track->device = stream.device();
    track->context = stream.context();
    track->stream = stream.stream();
    if (stream.handle() != 0) {
      track->handle = stream.handle();
      handle_ticks_[stream.track()] = stream.handle_since();
    }
    if (!stream.described()) continue;
    track->is_described = true;
    track->priority = stream.priority();
    track->stream_flag = stream.flag();
  }
}

void TraceFile::AddDevices(const proto::Devices& devices, uint32_t capture) {
  if (devices.cuda_had_begun()) captures_after_cuda_.insert(capture);
  for (const proto::Device& device : devices.device()) {
    if (process().FindDevice(device.id()) != nullptr || process().devices.size() >= kMostDevices)
      continue;
    process().devices.push_back(device);
  }
  std::stable_sort(process().devices.begin(), process().devices.end(),
                   [](const proto::Device& x, const proto::Device& y) { return x.id() < y.id(); });
  for (const proto::ContextLife& context : devices.context()) {
    if (context_ticks_.size() >= kMostContexts && context_ticks_.count(context.id()) == 0) continue;
    auto& [begin, end] = context_ticks_[context.id()];
    if (context.begin() != 0) begin = context.begin();
    if (context.end() != 0) end = context.end();
  }
}

void TraceFile::AddStrings(const proto::Strings& strings, uint64_t offset) {
  if (strings.id_size() != strings.text_size())
    AddFault(offset, "string table has different numbers of ids and texts");
  const int count = std::min(strings.id_size(), strings.text_size());
  for (int i = 0; i < count; ++i) {
    string_bytes_ += strings.text(i).size();
    if (process().strings.size() >= kMostStrings || string_bytes_ > kMostStringBytes) {
      AddFault(offset, "more strings than a recorder keeps: the rest is left out");
      return;
    }
    process().strings.emplace(strings.id(i), strings.text(i));
  }
}

void TraceFile::AddStacks(const proto::Stacks& stacks, uint64_t offset) {
  const int count = std::min(stacks.parent_back_size(), stacks.pc_delta_size());
  if (stacks.parent_back_size() != stacks.pc_delta_size())
    AddFault(offset, "stack table has columns of different length");
  uint64_t pc = 0;
  bool told = false;
  for (int i = 0; i < count; ++i) {
    pc += static_cast<uint64_t>(stacks.pc_delta(i));
    const uint64_t id = uint64_t{stacks.first_id()} + static_cast<uint64_t>(i);
    if (process().stacks.size() >= proto::kMostStackIds || id > UINT32_MAX) {
      AddFault(offset, "more call stacks than a recorder keeps: the rest is left out");
      return;
    }
    // A parent always comes first, so that walking to the root ends.
    const uint64_t back = stacks.parent_back(i);
    const bool is_far = back >= id && back != 0;
    const uint32_t parent = back == 0 || is_far ? 0 : static_cast<uint32_t>(id - back);
    const bool is_bad = !process().stacks.Add(static_cast<uint32_t>(id), parent, pc) || is_far;
    if (is_bad && !told)
      AddFault(offset, "call stack " + std::to_string(id) + " has a parent that does not exist");
    told = told || is_bad;
  }
}

void TraceFile::AddModules(const proto::Modules& modules) {
  for (const proto::Module& module : modules.module()) {
    if (module.end() <= module.start()) continue;
    const auto key =
        std::make_tuple(module.start(), module.end(), module.path() + '\0' + module.build_id());
    const auto [same, is_new] = module_index_.try_emplace(key, process().modules.size());
    if (is_new && process().modules.size() >= kMostModules) {
      module_index_.erase(same);
      continue;
    }
    const size_t index = same->second;
    if (is_new) process().modules.push_back(module);
    // Each life is told when it begins, and with the same beginning when it ends.
    process().modules[index].set_first_seen(module.first_seen());
    process().modules[index].set_last_seen(module.last_seen());
    const auto last = last_life_.find(index);
    if (last != last_life_.end() && lives_[last->second].first_seen == module.first_seen()) {
      lives_[last->second].last_seen = module.last_seen();
    } else if (lives_.size() < kMostModuleLives) {
      last_life_[index] = lives_.size();
      lives_.push_back({index, module.first_seen(), module.last_seen()});
    }
  }
}

void TraceFile::TakeModulesOf(const TraceFile& parent) {
  process().modules = parent.process().modules;
  lives_ = parent.lives_;
  has_modules_of_parent_ = true;
}

void TraceFile::AddThreads(const proto::Threads& threads) {
  for (const proto::Thread& thread : threads.thread()) {
    Track* track = TrackOf(thread.track(), thread.tid());
    if (track == nullptr) continue;
    if (thread.tid() != 0) track->tid = thread.tid();
    if (!thread.name().empty()) track->name = thread.name();
    track->tool = track->tool || thread.tool();
    // Both count the same losses; the headers' sum lacks those after the last block, the table
    // those after its writing.
    track->dropped = std::max(track->dropped, thread.dropped());
    const size_t index = static_cast<size_t>(track - process().tracks.data());
    // An entry without times names a thread that could not be asked any more.
    if (thread.cpu_ns() == 0 && thread.runqueue_wait_ns() == 0) continue;
    samples_.push_back({index, threads.time(), thread.cpu_ns(), thread.runqueue_wait_ns()});
  }
}

void TraceFile::JoinSightings() {
  std::vector<Track>& tracks = process().tracks;
  std::map<int32_t, std::pair<size_t, int>> numbered;  // by tid: the last one, and how many
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].id == 0 || tracks[i].tid == 0) continue;
    auto& [index, count] = numbered[tracks[i].tid];
    index = i;
    ++count;
  }
  std::vector<size_t> place(tracks.size());  // where each one is afterwards
  std::vector<Track> kept;
  std::vector<size_t> joining;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto found = numbered.find(tracks[i].tid);
    if (tracks[i].id == 0 && found != numbered.end() && found->second.second == 1) {
      joining.push_back(i);
      continue;
    }
    place[i] = kept.size();
    kept.push_back(std::move(tracks[i]));
  }
  for (const size_t i : joining) {
    place[i] = place[numbered[tracks[i].tid].first];
    Track& track = kept[place[i]];
    track.tool = track.tool || tracks[i].tool;
    if (track.name.empty()) track.name = tracks[i].name;
  }
  tracks = std::move(kept);
  track_index_.clear();
  for (size_t i = 0; i < tracks.size(); ++i)
    track_index_[{tracks[i].id, tracks[i].id == 0 ? tracks[i].tid : 0}] = i;
  for (RawSample& sample : samples_) sample.track = place[sample.track];
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const RawSample& a, const RawSample& b) { return a.ticks < b.ticks; });
}

void TraceFile::AddMeta(const proto::Meta& meta) {
  // Lists that describe the process replace; marks add up.
  if (meta.argv_size() != 0) meta_.clear_argv();
  meta_.MergeFrom(meta);
}

void TraceFile::TakeMeta() {
  Process& process = builder_.process();
  if (meta_.pid() != 0) process.pid = meta_.pid();
  process.ppid = meta_.ppid();
  process.is_forked = meta_.forked();
  // Killed at once, it had no time to say so.
  process.is_sampler = meta_.sampler() || name_.rfind(proto::kSamplerPrefix, 0) == 0;
  process.host = meta_.host();
  process.executable = meta_.executable();
  process.title = meta_.title();
  process.argv.assign(meta_.argv().begin(), meta_.argv().end());
  for (const proto::EnvironmentEntry& entry : meta_.environment())
    process.environment[entry.name()] = entry.value();
  const std::set<std::string> frameworks(meta_.framework().begin(), meta_.framework().end());
  process.frameworks.assign(frameworks.begin(), frameworks.end());
  process.heap_mode = meta_.heap_mode();
  process.heap_period = meta_.heap_period();
  process.sources = meta_.sources();
  process.stack_depth = meta_.stack_depth();
  process.clock_kind = meta_.clock_kind() != 0 ? meta_.clock_kind() : scan_.header.ticks_kind;
  process.ticks_per_second = meta_.ticks_per_second();
  process.writer_version = meta_.writer_version();
  process.uid = meta_.uid();
  process.cores = meta_.cores();
  process.memory_bytes = meta_.memory_bytes();
  process.has_end = scan_.has_end;
  process.recovered = scan_.has_end && scan_.end.recovered != 0;
  process.exit_way = scan_.has_end ? scan_.end.exit_way : meta_.exit_way();
  process.exit_status = scan_.has_end ? scan_.end.exit_status : meta_.exit_status();
  for (const Track& track : process.tracks) process.dropped += track.dropped;
}

}  // namespace gpuprof::analysis
