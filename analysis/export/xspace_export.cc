// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportXSpace: a trace as a run of XProf, TensorBoard's profile plugin. The run's folder has a
// file for each host. XProf takes each file for one loop of steps. So a host with several processes
// that use GPUs has a file for each of them. Processes without a GPU are in the file of the process
// that began them. Memory is needed for one plane at a time.

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/derived/device_work.h"
#include "analysis/export/exported_part.h"
#include "analysis/export/host_events.h"
#include "analysis/export/left_out.h"
#include "analysis/export/xspace_device.h"
#include "analysis/export/xspace_host.h"
#include "analysis/export/xspace_steps.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/context.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// Tables whose rows have a place in the file.
constexpr proto::ChunkKind kAllWritten[] = {
    proto::ChunkKind::kOp,     proto::ChunkKind::kRange,  proto::ChunkKind::kTensor,
    proto::ChunkKind::kPython, proto::ChunkKind::kKernel, proto::ChunkKind::kMemcpy,
    proto::ChunkKind::kMemset, proto::ChunkKind::kApi,    proto::ChunkKind::kGraphLaunch,
    proto::ChunkKind::kLaunch};
// Launches tell call stacks, which the file has only as the Python calls that imported ones are
// made of.
constexpr std::span<const proto::ChunkKind> kWrittenOfImports(kAllWritten);
constexpr std::span<const proto::ChunkKind> kWritten(kAllWritten, std::size(kAllWritten) - 1);

struct File {
  std::string name;               // without its ending
  std::vector<size_t> processes;  // indices in Trace::processes; the leading one first
};

bool HasDeviceWork(const Process& process) {
  bool has_work = false;
  ForEachDeviceWork(process, [&](const Track&, const DeviceWork&) { has_work = true; });
  return has_work;
}

// Returns a name that a file may have. An imported process may have no host, or the prefix of its
// pid as host.
std::string FileName(std::string host) {
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  for (char& c : host) {
    if (c == '/' || c == ' ' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return host.empty() || host.starts_with('.') ? "host" + host : host;
}

// Returns the process of these which the process belongs to: itself, or the nearest parent among
// them, or the first.
size_t OwnerOf(const Trace& trace, const std::vector<size_t>& owners, size_t process) {
  size_t at = process;
  for (size_t steps = 0; at != kNoProcess && steps <= trace.processes.size(); ++steps) {
    if (std::find(owners.begin(), owners.end(), at) != owners.end()) return at;
    at = trace.processes[at].parent;
  }
  return owners.front();
}

// Puts the process first whose steps take the most time.
void PutLeadingFirst(PassContext& context, std::vector<size_t>* processes) {
  const auto steps = [&](size_t index) {
    const StepAnalysis& found = context.steps(index);
    return found.found() ? found.summary.lengths.total_ns : 0;
  };
  const auto most = std::max_element(processes->begin(), processes->end(),
                                     [&](size_t x, size_t y) { return steps(x) < steps(y); });
  std::rotate(processes->begin(), most, most + 1);
}

std::vector<File> FilesOf(PassContext& context) {
  std::map<std::string, std::vector<size_t>> hosts;
  for (const size_t index : context.selected()) hosts[context.process(index).host].push_back(index);
  std::vector<File> files;
  std::set<std::string> names;
  for (const auto& [host, processes] : hosts) {
    std::vector<size_t> owners;
    for (const size_t index : processes)
      if (HasDeviceWork(context.process(index))) owners.push_back(index);
    const bool are_several = owners.size() > 1;
    if (owners.empty()) {
      std::vector<size_t> order = processes;
      PutLeadingFirst(context, &order);
      owners = {order.front()};
    }
    for (const size_t owner : owners) {
      const Process& process = context.process(owner);
      const std::optional<Rank> rank = RankOf(process);
      std::string name = FileName(host);
      if (are_several)
        name += rank ? "-rank" + std::to_string(rank->number) : "-" + std::to_string(process.pid);
      while (!names.insert(name).second) name += "-next";
      File file = {name, {owner}};
      for (const size_t index : processes) {
        if (index != owner && OwnerOf(context.trace(), owners, index) == owner)
          file.processes.push_back(index);
      }
      files.push_back(std::move(file));
    }
  }
  return files;
}

template <typename Table>
void Include(const Table& table, Interval* bounds) {
  for (size_t row = 0; row < table.rows(); ++row) {
    bounds->start = std::min(bounds->start, table.end_ns[row] - table.duration_ns[row]);
    bounds->end = std::max(bounds->end, table.end_ns[row]);
  }
}

// Returns the time from the first row that is written to the last.
Interval BoundsOf(const PassContext& context) {
  Interval bounds = {INT64_MAX, INT64_MIN};
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      Include(track.op, &bounds);
      Include(track.python, &bounds);
      for (size_t row = 0; row < track.range.rows(); ++row) {
        const int64_t end = track.range.end_ns[row];
        if (!IsWritten(track.range, row)) continue;
        bounds.start = std::min(bounds.start, end - track.range.duration_ns[row]);
        bounds.end = std::max(bounds.end, end);
      }
      Include(track.api, &bounds);
      for (const int64_t time : track.tensor.time_ns) {
        bounds.start = std::min(bounds.start, time);
        bounds.end = std::max(bounds.end, time);
      }
      ForEachDeviceWork(track, [&](const DeviceWork& work) {
        bounds.start = std::min(bounds.start, work.span.start);
        bounds.end = std::max(bounds.end, work.span.end);
      });
    }
  }
  return bounds.start > bounds.end ? Interval{0, 0} : bounds;
}

// Names the run by its start, as XProf does: 2026_11_26_15_40_00, in UTC.
std::string RunName(int64_t start_realtime_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto seconds = static_cast<time_t>(start_realtime_ns / kSecond);
  std::tm utc = {};
  char name[64] = "run";
  if (gmtime_r(&seconds, &utc) != nullptr)
    std::strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &utc);
  return name;
}

std::string TaskPlane(int64_t start_realtime_ns, Interval bounds, int64_t id) {
  XPlaneWriter plane(id, "Task Environment");
  plane.Unsigned("profile_start_time", static_cast<uint64_t>(start_realtime_ns));
  plane.Unsigned("profile_stop_time", static_cast<uint64_t>(start_realtime_ns + bounds.length()));
  return plane.Take();
}

// XSpaces of TPUs alone are imported with such devices.
bool UsesTpu(const PassContext& context) {
  for (const size_t index : context.selected()) {
    for (const proto::Device& device : context.process(index).devices)
      if (device.name().starts_with("TPU")) return true;
  }
  return false;
}

class Writer {
 public:
  Writer(PassContext& context, FileSink sink, void* sink_context, ExportReport* report)
      : context_(context),
        bounds_(BoundsOf(context)),
        sink_(sink),
        sink_context_(sink_context),
        report_(report) {
    start_realtime_ns_ = context.trace().origin_realtime_ns + bounds_.start;
    folder_ = "plugins/profile/" + RunName(start_realtime_ns_) + "/";
  }

  // Returns false if the sink wants no more.
  bool Write(const File& file) {
    path_ = folder_ + file.name + ".xplane.pb";
    XSpaceSteps steps(context_, file.processes.front());
    report_->steps += steps.size();
    return Host(file, &steps) && Devices(file) && Modules(file) &&
           Put(TaskPlane(start_realtime_ns_, bounds_, kTaskPlane)) &&
           Put(XSpaceHostName(file.name));
  }

 private:
  static constexpr int64_t kTaskPlane = 1 << 20, kModulePlane = kTaskPlane + 1;

  bool Put(const std::string& bytes) { return sink_(sink_context_, path_, bytes); }

  bool Host(const File& file, XSpaceSteps* steps) {
    XSpaceHost host(context_, bounds_.start, steps);
    const Process& leading = context_.process(file.processes.front());
    if (leading.pid > 0) host.plane().Number("process_id", leading.pid);
    for (const size_t index : file.processes) {
      host.Add(index, file.processes.size() > 1);
      for (const Track& track : context_.process(index).tracks) {
        CountLeftOut(track, context_.trace().importer.empty() ? kWritten : kWrittenOfImports,
                     report_);
        report_->sampled_rows += SampledRows(track);
      }
    }
    report_->events += host.plane().events();
    return Put(host.plane().Take());
  }

  bool Devices(const File& file) {
    const size_t leading = file.processes.front();
    XSpaceDevice devices(context_, leading, bounds_.start);
    for (const uint32_t device : devices.Devices()) {
      XPlaneWriter plane = devices.Plane(device);
      report_->events += plane.events();
      if (!Put(plane.Take())) return false;
    }
    return true;
  }

  // The modules that XLA compiled, as they came.
  bool Modules(const File& file) {
    XPlaneWriter plane(kModulePlane, "/host:metadata");
    bool has_modules = false;
    for (const size_t index : file.processes) {
      for (const std::shared_ptr<const HloModule>& module : context_.process(index).hlo_modules) {
        plane.Metadata(static_cast<int64_t>(module->program_id), module->name, "Hlo Proto",
                       module->proto);
        has_modules = true;
      }
    }
    return !has_modules || Put(plane.Take());
  }

  PassContext& context_;
  Interval bounds_;
  FileSink sink_;
  void* sink_context_;
  ExportReport* report_;
  int64_t start_realtime_ns_ = 0;
  std::string folder_, path_;
};

}  // namespace

Error ExportXSpace(const Trace& whole, const ExportOptions& options, FileSink sink, void* context,
                   ExportReport* report) {
  ExportedPart part(whole, options);
  if (Error error = part.Prepare()) return error;
  if (UsesTpu(part.context())) {
    return {ErrorKind::kUsage,
            "The trace has work of a TPU, and gpuprof writes XSpaces of GPUs alone; take the file "
            "that the trace was read from."};
  }
  Writer writer(part.context(), sink, context, report);
  for (const File& file : FilesOf(part.context())) {
    if (!writer.Write(file)) return {};
  }
  if (options.pid == 0) {
    for (const Process& sampler : part.trace().samplers) {
      for (const Track& track : sampler.tracks) CountLeftOut(track, kWritten, report);
    }
  }
  return {};
}

}  // namespace gpuprof::analysis
