// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Verify: the check of a bundle or a file for `gpuprof verify`. Starts threads for the duration of
// the call; changes nothing, so rings of dead processes are told of and left alone.

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/parallel.h"
#include "analysis/base/units.h"
#include "analysis/dump/file_check.h"
#include "analysis/dump/json_text.h"
#include "analysis/model/job.h"
#include "analysis/read/bundle_parts.h"
#include "analysis/read/dead_rings.h"
#include "analysis/read/input_file.h"
#include "analysis/read/own_file.h"
#include "proto/bundle.pb.h"
#include "proto/codec/recover.h"
#include "proto/codec/segments.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

using Json = nlohmann::ordered_json;

struct BundleReport {
  std::string path;
  std::vector<FileReport> files;
  std::vector<InputFault> faults;  // of the bundle as a whole
  std::vector<std::string> notes;
  bool is_all = true;  // what was checked

  bool ok() const {
    for (const FileReport& file : files) {
      if (!file.ok()) return false;
    }
    return faults.empty();
  }
};

proto::Bundle CheckManifest(const BundleFiles& found, const std::string& lead, bool is_there,
                            BundleReport* report) {
  proto::Bundle manifest;
  if (!is_there) {
    if (found.is_bundle)
      report->notes.push_back(lead + "bundle.pb is missing: command and host are not known");
    return manifest;
  }
  const std::string name = lead + proto::kBundleFile;
  const Error error = ReadManifestFile(found.directory.Below(name), &manifest);
  if (error) report->faults.push_back({name, 0, error.message});
  return manifest;
}

// A file that somebody removed, or a process that could not be recorded: nothing tells which.
void CheckMainProcess(const BundleFiles& found, const std::string& lead,
                      const proto::Bundle& manifest, BundleReport* report) {
  if (!found.is_bundle || manifest.root_pid() == 0) return;
  const std::string stem = lead + "p" + std::to_string(manifest.root_pid()) + "-";
  const auto is_of_main = [&stem](const std::string& name) { return name.starts_with(stem); };
  if (std::any_of(found.traces.begin(), found.traces.end(), is_of_main)) return;
  if (std::any_of(found.rings.begin(), found.rings.end(),
                  [&](const Stem& ring) { return is_of_main(ring.name); }))
    return;
  report->notes.push_back(stem + "*" + proto::kTraceSuffix +
                          " is missing: the command's own process was not recorded, or its trace "
                          "was removed from the bundle");
}

// Checks what describes the run, and each rank of a job.
proto::Bundle CheckManifests(const BundleFiles& found, BundleReport* report) {
  // Ranks whose folders were copied together without the job's own file are told of one by one.
  const bool is_needed = found.parts.empty() || found.has_manifest;
  proto::Bundle whole;
  if (is_needed) whole = CheckManifest(found, "", found.has_manifest, report);
  whole.clear_part();
  CheckMainProcess(found, "", whole, report);
  for (const BundlePart& part : found.parts) {
    const std::string lead = part.folder + "/";
    proto::Part* to = whole.add_part();
    to->set_folder(part.folder);
    *to->mutable_bundle() = CheckManifest(found, lead, part.has_manifest, report);
    CheckMainProcess(found, lead, to->bundle(), report);
  }
  MergeParts(&whole);
  if (!whole.part().empty() && !JobWords(whole).empty())
    report->notes.push_back("the bundle is of a job: " + JobWords(whole));
  return whole;
}

BundleReport CheckBundle(const std::string& path, const BundleFiles& found) {
  BundleReport report;
  report.path = path;
  const proto::Bundle manifest = CheckManifests(found, &report);
  std::set<std::string> alive;
  std::map<std::string, std::vector<std::string>> segments;  // by the name of their trace
  for (const Stem& stem : found.rings) {
    const bool is_alive = codec::ProcessIsAlive(stem.pid, stem.start_id);
    if (is_alive) alive.insert(stem.name + proto::kTraceSuffix);
    report.notes.push_back(stem.name + proto::kRingSuffix +
                           (is_alive ? ": its process still runs"
                                     : ": its process died and its last records are not merged "
                                       "yet; run `gpuprof recover`"));
    const std::string stem_path = found.directory.path + "/" + stem.name;
    std::vector<std::string> paths = codec::ListSegments(stem_path);
    if (is_alive && !paths.empty()) {
      report.is_all = false;
      report.notes.push_back(stem.name + ".*" + proto::kSegmentSuffix +
                             ": its process still runs and replaces them: not checked");
    }
    if (is_alive) continue;
    for (std::string& segment : paths) segment.erase(0, found.directory.path.size() + 1);
    const bool has_segments = !paths.empty();
    segments[stem.name + proto::kTraceSuffix] = std::move(paths);
    const std::string ring = stem.name + proto::kRingSuffix;
    std::string damage = codec::CheckRingFile(found.directory.path + "/" + ring);
    if (has_segments && access((found.directory.path + "/" + ring).c_str(), F_OK) != 0)
      damage = "missing; the last records and the number of losses are missing with it";
    if (!damage.empty()) report.faults.push_back({ring, 0, damage});
    const std::string holes = codec::CheckSegments(stem_path);
    if (!holes.empty())
      report.faults.push_back({stem.name + ".*" + proto::kSegmentSuffix, 0, holes});
    if (has_segments && access((stem_path + proto::kTraceSuffix).c_str(), F_OK) != 0) {
      report.faults.push_back(
          {stem.name + proto::kTraceSuffix, 0,
           "missing, although its segments exist: the names of their events are lost"});
    }
  }
  std::vector<std::vector<FileReport>> traces(found.traces.size());
  ParallelFor(found.traces.size(), 0, [&](size_t i, int) {
    const std::string& name = found.traces[i];
    const auto behind = segments.find(name);
    traces[i] = CheckTrace(found.PathOf(name), name,
                           behind != segments.end() ? behind->second : std::vector<std::string>(),
                           alive.count(name) != 0);
    FileReport& trace = traces[i].front();
    if (trace.lacks_end && MustHaveEnd(found, manifest, name)) FindWithoutEnd(&trace);
  });
  for (std::vector<FileReport>& files : traces) {
    std::move(files.begin(), files.end(), std::back_inserter(report.files));
  }
  return report;
}

std::string At(const std::string& file, uint64_t offset, const std::string& what) {
  return OneLine(file) + " at byte " + std::to_string(offset) + ": " + OneLine(what) + "\n";
}

std::string TextOf(const BundleReport& report) {
  std::string text;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t rows = 0;
  for (const InputFault& fault : report.faults) text += At(fault.file, fault.offset, fault.what);
  for (const FileReport& file : report.files) {
    bytes += file.bytes;
    blocks += file.blocks;
    rows += file.rows;
    for (const FileFault& finding : file.findings)
      text += At(file.name, finding.offset, finding.what);
    if (file.findings_not_told != 0) {
      text +=
          OneLine(file.name) + ": " + std::to_string(file.findings_not_told) + " more findings\n";
    }
    for (const std::string& note : file.notes)
      text += OneLine(file.name) + ": note: " + OneLine(note) + "\n";
  }
  for (const std::string& note : report.notes) text += "note: " + OneLine(note) + "\n";
  text += report.ok() ? "ok: " : "damaged: ";
  text += std::to_string(report.files.size()) +
          (report.files.size() == 1 ? " file, " : " files, ") + FormatBytes(bytes) + ", " +
          std::to_string(blocks) + " blocks, " + std::to_string(rows) + " rows" +
          (!report.ok()    ? " readable\n"
           : report.is_all ? ", every byte checked (bundle.pb has no checksum)\n"
                           : ", every byte of these checked\n");
  return text;
}

Json FileJson(const FileReport& file) {
  Json findings = Json::array();
  for (const FileFault& finding : file.findings) {
    findings.push_back({{"offset", finding.offset}, {"what", finding.what}});
  }
  Json json;
  json["name"] = file.name;
  json["ok"] = file.ok();
  json["size_bytes"] = file.bytes;
  json["blocks"] = file.blocks;
  json["count"] = file.rows;
  json["findings"] = std::move(findings);
  json["findings_not_told"] = file.findings_not_told;
  json["notes"] = file.notes;
  return json;
}

std::string JsonOf(const BundleReport& report) {
  Json json;
  json["path"] = report.path;
  json["ok"] = report.ok();
  Json files = Json::array();
  for (const FileReport& file : report.files) files.push_back(FileJson(file));
  json["files"] = std::move(files);
  json["faults"] = ToJson(report.faults);
  json["notes"] = report.notes;
  return ToText(json);
}

}  // namespace

VerifyReport Verify(const std::string& path) {
  VerifyReport result;
  BundleReport report;
  report.path = path;
  Result<BundleFiles> found = FindFiles(path);
  if (!found.ok()) {
    report.faults.push_back({path, 0, CauseOf(found.error(), path)});
  } else {
    try {
      report = CheckBundle(path, *found);
    } catch (const std::bad_alloc&) {
      report.faults.push_back({path, 0, "not enough memory to check it"});
    }
  }
  result.ok = report.ok();
  result.text = TextOf(report);
  result.json = JsonOf(report);
  return result;
}

}  // namespace gpuprof::analysis
