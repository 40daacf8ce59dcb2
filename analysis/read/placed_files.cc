// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See placed_files.h.

#include "analysis/read/placed_files.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/read/bundle_parts.h"
#include "analysis/read/dead_rings.h"
#include "analysis/read/imported_bundle.h"
#include "analysis/read/input_file.h"
#include "analysis/read/own_file.h"
#include "analysis/read/process_order.h"
#include "proto/codec/segments.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

using Files = TraceFiles;

// Reads one manifest. False: there is none, or its fault was told.
bool ReadOneManifest(const BundleFiles& found, const std::string& name, ModelBuilder* model,
                     proto::Bundle* manifest) {
  const Error error = ReadManifestFile(found.directory.Below(name), manifest);
  if (!error) return true;
  const bool is_damaged = error.message == kNoManifest;
  model->AddFault(
      {name, 0, error.message + (is_damaged ? ": the traces are read without it" : "")});
  return false;
}

// What the run has not moved to the manifest: it goes on, or there is no launcher.
void ReadUnrecorded(const BundleFiles& found, const std::string& folder, proto::Bundle* manifest) {
  proto::Bundle more;
  if (ReadManifestFile(found.directory.Below(folder + proto::kUnrecordedFile), &more)) return;
  manifest->mutable_unrecorded_program()->MergeFrom(more.unrecorded_program());
}

void ReadManifests(const BundleFiles& found, ModelBuilder* model) {
  Trace* trace = &model->trace();
  proto::Bundle* whole = &trace->manifest;
  if (found.has_manifest)
    trace->has_manifest = ReadOneManifest(found, proto::kBundleFile, model, whole);
  whole->clear_part();
  if (found.has_unrecorded) ReadUnrecorded(found, "", whole);
  for (const BundlePart& part : found.parts) {
    proto::Part* to = whole->add_part();
    const std::string lead = part.folder + "/";
    to->set_folder(part.folder);
    if (part.has_manifest &&
        ReadOneManifest(found, lead + proto::kBundleFile, model, to->mutable_bundle()))
      trace->has_manifest = true;
    if (part.has_unrecorded) ReadUnrecorded(found, lead, to->mutable_bundle());
  }
  MergeParts(whole);
}

Files LoadFiles(const BundleFiles& found, const std::set<std::string>& alive, int threads,
                const std::shared_ptr<const FileParts>& parts) {
  Files files;
  for (const std::string& name : found.traces)
    files.push_back(std::make_unique<TraceFile>(found.PathOf(name), name, parts));
  ParallelFor(files.size(), threads, [&](size_t i, int) {
    const std::string& name = files[i]->name();
    const size_t suffix = std::strlen(proto::kTraceSuffix);
    files[i]->LoadTables(name.size() > suffix &&
                         alive.count(name.substr(0, name.size() - suffix)) != 0);
  });
  return files;
}

// Takes files that could not be read at all out of `files`; their faults go to the model.
void DropUnreadable(Files* files, ModelBuilder* model) {
  const auto first_bad = std::stable_partition(
      files->begin(), files->end(),
      [](const std::unique_ptr<TraceFile>& file) { return !file->is_unreadable(); });
  for (auto file = first_bad; file != files->end(); ++file) model->AddFaults((*file)->faults());
  files->erase(first_bad, files->end());
}

// Takes the files of gpuprof's own samplers out of `files`.
Files TakeSamplers(Files* files) {
  Files samplers;
  const auto first = std::stable_partition(
      files->begin(), files->end(),
      [](const std::unique_ptr<TraceFile>& file) { return !file->process().is_sampler; });
  std::move(first, files->end(), std::back_inserter(samplers));
  files->erase(first, files->end());
  return samplers;
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t Earliest(const Files& files, const std::vector<int64_t>& offsets) {
  int64_t earliest = kNever;
  for (size_t i = 0; i < files.size(); ++i) {
    int64_t time = 0;
    if (files[i]->EarliestNs(&time)) earliest = std::min(earliest, time + offsets[i]);
  }
  return earliest;
}

// The origin is a wall clock reading of any year.
constexpr int64_t kOriginLimit = int64_t{1} << 62;

// Notes when a process began, by the name of its file. A file that was renamed or is hostile may
// claim anything: a life of years is not believed.
// `offset` and `shift` lead from the wall clock to the monotonic one, and from there to the axis.
// The wall clock is the process's own: it may have been set since other processes began.
void PlaceStart(int64_t offset, int64_t shift, Process* process) {
  constexpr int64_t kLongestNs = int64_t{400} * 24 * 3600 * 1'000'000'000;
  if (process->start_id > static_cast<uint64_t>(kOriginLimit / 1000)) return;
  int64_t start_ns = 0;
  if (__builtin_sub_overflow(static_cast<int64_t>(process->start_id) * 1000, offset, &start_ns) ||
      __builtin_add_overflow(start_ns, shift, &start_ns))
    return;
  const int64_t seen_ns = process->LifeStart();
  if (start_ns < seen_ns && start_ns > seen_ns - kLongestNs) process->started_ns = start_ns;
}

// Puts all processes on one axis whose zero is the earliest event of one; samplers do not count
// where there are others. Traces made of another tool's files are on that axis already.
void PlaceAll(const Files& files, const Files& samplers, Trace* trace) {
  const std::vector<int64_t> offsets = RealtimeOffsets(files);
  const std::vector<int64_t> sampler_offsets = SamplerOffsets(samplers, files, offsets);
  const bool is_import = trace->manifest.has_import();
  int64_t origin = Earliest(files, offsets);
  if (is_import) origin = trace->manifest.import().origin_realtime_ns();
  if (origin == kNever) origin = Earliest(samplers, sampler_offsets);
  if (origin == kNever) origin = 0;
  origin = std::clamp(origin, -kOriginLimit, kOriginLimit);
  trace->origin_realtime_ns = origin;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_placed = is_import && files[i]->is_imported();
    const int64_t shift =
        is_placed ? kImportedShift : std::clamp(offsets[i] - origin, -kOriginLimit, kOriginLimit);
    files[i]->Place(shift);
    if (!files[i]->is_imported())
      PlaceStart(files[i]->clock().realtime_offset(), shift, &files[i]->process());
  }
  for (size_t i = 0; i < samplers.size(); ++i) samplers[i]->Place(sampler_offsets[i] - origin);
}

// A damaged file was told of already.
void CheckEnds(const BundleFiles& found, const Files& files, ModelBuilder* model) {
  for (const std::unique_ptr<TraceFile>& file : files) {
    const Process& process = file->process();
    if (!process.lacks_end() || !file->faults().empty()) continue;
    if (!MustHaveEnd(found, model->trace().manifest, file->name())) continue;
    model->AddFault({file->name(), process.file_bytes, kWithoutEnd});
  }
}

void MarkFlightRecorders(const BundleFiles& found, const Files& files) {
  for (const std::unique_ptr<TraceFile>& file : files) {
    const std::string& name = file->name();
    const size_t suffix = std::strlen(proto::kTraceSuffix);
    if (!file->process().alive || name.size() <= suffix) continue;
    file->process().in_segments =
        codec::HasSegments(found.directory.path + "/" + name.substr(0, name.size() - suffix));
  }
}

}  // namespace

Error PlaceFiles(const codec::InputPath& path, bool may_recover, int threads, ModelBuilder* model,
                 PlacedFiles* placed, std::shared_ptr<const FileParts> parts) {
  Result<BundleFiles> found = FindFiles(path);
  if (!found.ok()) return found.error();
  Trace* trace = &model->trace();
  ReadManifests(*found, model);
  RingReport rings = FinishDeadProcesses(&*found, trace->manifest, may_recover);
  model->AddFaults(rings.faults);
  Files& files = placed->files;
  files = LoadFiles(*found, rings.alive, threads, parts);
  DropUnreadable(&files, model);
  if (files.empty() && !(trace->has_manifest && found->is_bundle)) {
    if (trace->faults.empty()) return Unreadable(path.path + ": no trace in this directory");
    const InputFault& fault = trace->faults.front();
    const bool is_other = fault.what.starts_with("not a gpuprof trace");
    const std::string name = found->is_bundle ? path.path + "/" + fault.file : path.path;
    return Unreadable(
        name + ": " + fault.what +
        (is_other ? "; name a directory made by `gpuprof run`, or one .gpt file" : ""));
  }
  CheckEnds(*found, files, model);
  MarkFlightRecorders(*found, files);
  placed->samplers = TakeSamplers(&files);
  FillFromManifest(files, trace->manifest);
  FillFromManifest(placed->samplers, trace->manifest);
  OrderProcesses(&files);
  InheritFromParents(files);
  PlaceAll(files, placed->samplers, trace);
  return {};
}

}  // namespace gpuprof::analysis
