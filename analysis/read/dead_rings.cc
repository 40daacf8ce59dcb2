// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See dead_rings.h.

#include "analysis/read/dead_rings.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "analysis/read/bundle_parts.h"
#include "proto/codec/recover.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

std::string ThisHost() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

// The host that the trace says it was made on; empty where it does not tell.
std::string HostOfTrace(const codec::InputPath& path) {
  constexpr uint64_t kEnough = 1 << 20;  // the identity is among a file's first blocks
  Result<FileBytes> file = ReadFile(path, kEnough);
  codec::TraceScan scan;
  if (!file.ok() || !codec::Scan(file->data.get(), file->bytes, &scan)) return "";
  codec::BlockDecoder decoder;
  for (const codec::BlockRef& block : scan.blocks) {
    if (block.header.kind != static_cast<uint16_t>(proto::ChunkKind::kMeta)) continue;
    const uint8_t* message = nullptr;
    uint64_t bytes = 0;
    codec::Fault fault;
    proto::Trace trace;
    if (!decoder.Decompress(file->data.get(), block, &message, &bytes, &fault)) continue;
    if (!trace.ParseFromArray(message, static_cast<int>(bytes)) || trace.chunk_size() == 0)
      continue;
    if (!trace.chunk(0).meta().host().empty()) return trace.chunk(0).meta().host();
  }
  return "";
}

std::string Rings(size_t count) {
  return std::to_string(count) +
         (count == 1 ? " ring file of a dead process" : " ring files of dead processes");
}

}  // namespace

RingReport FinishDeadProcesses(BundleFiles* files, const proto::Bundle& manifest, bool may_write) {
  RingReport report;
  if (files->rings.empty()) return report;
  const std::string here = ThisHost();
  const bool is_writable = access(files->directory.path.c_str(), W_OK) == 0;
  size_t unwritten = 0;
  codec::LockWait wait;
  for (const Stem& stem : files->rings) {
    const std::string path = files->directory.path + "/" + stem.name;
    const std::string ring_name = stem.name + proto::kRingSuffix;
    const std::string trace_name = stem.name + proto::kTraceSuffix;
    if (codec::ProcessIsAlive(stem.pid, stem.start_id)) {
      report.alive.insert(stem.name);
      continue;
    }
    std::string host = HostOfTrace(files->directory.Below(trace_name));
    const proto::Bundle& of_rank = ManifestOf(manifest, stem.name);
    if (host.empty()) host = of_rank.host();
    if (!host.empty() && host != here && of_rank.ended_realtime_ns() == 0) {
      // Its process may live: process ids of another machine say nothing here.
      report.alive.insert(stem.name);
      report.faults.push_back({ring_name, 0,
                               "not merged: the process ran on " + host +
                                   " and may still run; run `gpuprof recover` there"});
      continue;
    }
    if (!may_write || !is_writable) {
      ++unwritten;
      continue;
    }
    const codec::RecoverResult result = codec::Recover(path, -1, &wait);
    if (!result.ok) report.faults.push_back({ring_name, 0, "not merged: " + result.error});
    // A failure may leave what a flight recorder's segments held.
    const bool is_there =
        result.ok ? !result.nothing_to_do : access((path + proto::kTraceSuffix).c_str(), F_OK) == 0;
    if (is_there &&
        std::find(files->traces.begin(), files->traces.end(), trace_name) == files->traces.end()) {
      files->traces.push_back(trace_name);
    }
  }
  if (unwritten != 0) {
    report.faults.push_back(
        {files->directory.path, 0,
         Rings(unwritten) + " not merged: " +
             (may_write ? "directory not writable; copy the bundle to a writable directory"
                        : "opened without recovery; run `gpuprof recover`")});
  }
  return report;
}

bool MustHaveEnd(const BundleFiles& files, const proto::Bundle& manifest, const std::string& name) {
  if (!files.is_bundle || ManifestOf(manifest, name).ended_realtime_ns() == 0) return false;
  const size_t suffix = std::strlen(proto::kTraceSuffix);
  Stem stem;
  if (name.size() <= suffix) return false;
  const std::string whole = name.substr(0, name.size() - suffix);
  if (!ParseStem(std::string(NameInPart(whole)), &stem)) return false;
  const bool has_ring = std::any_of(files.rings.begin(), files.rings.end(),
                                    [&](const Stem& ring) { return ring.name == whole; });
  return !has_ring && !codec::ProcessIsAlive(stem.pid, stem.start_id);
}

}  // namespace gpuprof::analysis
