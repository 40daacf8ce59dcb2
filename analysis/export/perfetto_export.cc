// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportPerfetto: a trace as Perfetto's own protobuf. Processes of several ranks become an archive
// of TAR with a file a rank, and a manifest that says how their clocks differ. Memory is needed for
// the slices of one process, and in an archive for the file of one rank.
//
// Times are those of the day: events count from 1970, unless the recording has no such time.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/utf8.h"
#include "analysis/export/exported_part.h"
#include "analysis/export/left_out.h"
#include "analysis/export/perfetto_process.h"
#include "analysis/export/perfetto_writer.h"
#include "analysis/export/tar_entry.h"
#include "analysis/export/tool_formats.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/context.h"
#include "proto/results/communication.pb.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// Imported launches and events are made from Python calls and waits, which are written. So they
// count as written, and stand last.
constexpr proto::ChunkKind kInPerfetto[] = {
    proto::ChunkKind::kOp,      proto::ChunkKind::kRange,    proto::ChunkKind::kTensor,
    proto::ChunkKind::kPython,  proto::ChunkKind::kKernel,   proto::ChunkKind::kMemcpy,
    proto::ChunkKind::kMemset,  proto::ChunkKind::kApi,      proto::ChunkKind::kSync,
    proto::ChunkKind::kCounter, proto::ChunkKind::kOverhead, proto::ChunkKind::kHostFunction,
    proto::ChunkKind::kWait,    proto::ChunkKind::kGcPause,  proto::ChunkKind::kFileRead,
    proto::ChunkKind::kSample,  proto::ChunkKind::kLaunch,   proto::ChunkKind::kCudaEvent};
constexpr size_t kOfImportsAlone = 2;

struct RankFile {
  std::string name;     // without its ending
  std::string machine;  // for people
  std::vector<size_t> processes;
};

// A process without a rank belongs to its parent's file. Others have one file together.
std::vector<RankFile> RankFilesOf(const PassContext& context) {
  std::map<std::optional<uint32_t>, std::vector<size_t>> by_rank;
  std::map<size_t, std::optional<uint32_t>> ranks;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    std::optional<uint32_t> number;
    if (const std::optional<Rank> rank = RankOf(process)) number = rank->number;
    // Parents come before their children.
    if (const auto parent = ranks.find(process.parent); !number && parent != ranks.end())
      number = parent->second;
    ranks[index] = number;
    by_rank[number].push_back(index);
  }
  std::vector<RankFile> files;
  for (const auto& [number, processes] : by_rank) {
    const std::string& host = context.process(processes.front()).host;
    const std::string rank = number ? "rank" + std::to_string(*number) : "others";
    const std::string words = number ? "rank " + std::to_string(*number) : "other processes";
    files.push_back({rank, words + (host.empty() ? "" : " (" + host + ")"), processes});
  }
  return files;
}

// Returns what the clock of each process must be moved by, by its index, as the pass
// `communication` finds. Empty: one clock, or it is not known.
std::map<size_t, int64_t> ClockOffsets(const PassContext& context, Session* session) {
  std::map<size_t, int64_t> offsets;
  std::unique_ptr<google::protobuf::Message> message;
  if (Run("communication", session, {}, &message)) return offsets;
  const auto& result = static_cast<const results::Communication&>(*message);
  bool differ = false;
  for (const results::CollectiveRank& rank : result.ranks()) {
    for (const size_t index : context.selected()) {
      const Process& process = context.process(index);
      if (rank.pid() != process.pid || rank.host() != process.host) continue;
      offsets[index] = rank.clock_offset_ns();
      differ = differ || rank.clock_offset_ns() != 0;
    }
  }
  return differ ? offsets : std::map<size_t, int64_t>{};
}

class PerfettoFiles {
 public:
  PerfettoFiles(PassContext& context, Session* session, bool with_samplers, Sink sink,
                void* sink_context, ToolReport* report)
      : context_(context),
        session_(session),
        with_samplers_(with_samplers),
        sink_(sink),
        sink_context_(sink_context),
        report_(report) {
    for (const size_t index : context.selected())
      first_ns_ = std::min(first_ns_, context.process(index).first_ns);
    if (first_ns_ == INT64_MAX) first_ns_ = 0;
    shift_ns_ = std::max(context.trace().origin_realtime_ns, -first_ns_);
  }

  void Write() {
    const std::vector<RankFile> files = RankFilesOf(context_);
    if (files.size() < 2) {
      WriteOne(files);
    } else {
      WriteArchive(files);
    }
  }

 private:
  bool Put(std::string_view bytes) { return sink_(sink_context_, bytes); }

  void WriteOne(const std::vector<RankFile>& files) {
    std::string bytes;
    PerfettoWriter out(&bytes, shift_ns_);
    out.Clock(first_ns_);
    std::set<int32_t> pids;
    if (!files.empty()) {
      for (const size_t index : files.front().processes) {
        Process(index, &pids, &out);
        if (!Put(bytes)) return;
        bytes.clear();
      }
    }
    if (with_samplers_) Samplers(&out);
    Put(bytes);
    report_->events += out.events();
  }

  void WriteArchive(const std::vector<RankFile>& files) {
    const std::string manifest = Manifest(files);
    if (!Entry("perfetto_manifest.json", manifest)) return;
    for (const RankFile& file : files) {
      std::string bytes;
      PerfettoWriter out(&bytes, shift_ns_);
      out.Clock(first_ns_);
      std::set<int32_t> pids;
      for (const size_t index : file.processes) Process(index, &pids, &out);
      if (with_samplers_ && &file == &files.front()) Samplers(&out);
      report_->events += out.events();
      if (!Entry(file.name + ".pftrace", bytes)) return;
    }
    Put(TarEnd());
  }

  bool Entry(const std::string& name, const std::string& bytes) {
    return Put(TarHeader(name, bytes.size())) && Put(bytes) && Put(TarPadding(bytes.size()));
  }

  // Without known offsets, readers join the files by the time of day.
  std::string Manifest(const std::vector<RankFile>& files) {
    using Object = nlohmann::ordered_json;
    const std::map<size_t, int64_t> offsets = ClockOffsets(context_, session_);
    const auto offset = [&](const RankFile& file) -> std::optional<int64_t> {
      for (const size_t index : file.processes) {
        if (const auto at = offsets.find(index); at != offsets.end()) return at->second;
      }
      return std::nullopt;
    };
    const std::optional<int64_t> first = offset(files.front());
    Object list = Object::array();
    for (const RankFile& file : files) {
      Object entry;
      entry["path"] = file.name + ".pftrace";
      entry["machine"]["name"] = Utf8Of(file.machine);
      const std::optional<int64_t> own = offset(file);
      if (first && own && &file != &files.front()) {
        entry["clocks"]["clock"] = "BOOTTIME";
        entry["clocks"]["sync_to"]["file"] = files.front().name + ".pftrace";
        entry["clocks"]["sync_to"]["clock"] = "BOOTTIME";
        entry["clocks"]["offset_ns"] = *own - *first;
      }
      list.push_back(std::move(entry));
    }
    Object manifest;
    manifest["perfetto_manifest"]["version"] = 1;
    manifest["perfetto_manifest"]["files"] = std::move(list);
    return manifest.dump(1) + "\n";
  }

  void Process(size_t index, std::set<int32_t>* pids, PerfettoWriter* out) {
    const analysis::Process& process = context_.process(index);
    if (const std::optional<Rank> rank = RankOf(process)) report_->ranks.insert(rank->number);
    PerfettoProcess writer(context_, index, pids, out);
    writer.Write();
    report_->steps += writer.steps();
    if (writer.samples_left_out() != 0) report_->left_out["sample"] += writer.samples_left_out();
    for (const Track& track : process.tracks) {
      const size_t imports = context_.trace().importer.empty() ? kOfImportsAlone : 0;
      CountLeftOut(track, std::span(kInPerfetto, std::size(kInPerfetto) - imports), report_);
      report_->sampled_rows += SampledRows(track);
    }
  }

  // Their tracks have numbers that no process has.
  void Samplers(PerfettoWriter* out) {
    uint32_t number = static_cast<uint32_t>(context_.trace().processes.size());
    for (const analysis::Process& sampler : context_.trace().samplers) {
      out->BeginSequence(++number);
      const uint64_t left_out = WritePerfettoSampler(sampler, uint64_t{number} << 32, out);
      if (left_out != 0) report_->left_out["counter"] += left_out;
    }
  }

  PassContext& context_;
  Session* session_;
  bool with_samplers_;
  Sink sink_;
  void* sink_context_;
  ToolReport* report_;
  int64_t first_ns_ = INT64_MAX, shift_ns_ = 0;
};

}  // namespace

Error ExportPerfetto(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                     ToolReport* report) {
  ExportedPart part(whole, options, options.symfs);
  if (Error error = part.Prepare()) return error;
  PerfettoFiles(part.context(), &part.session(), options.pid == 0, sink, context, report).Write();
  return {};
}

}  // namespace gpuprof::analysis
