// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// WriteBundle: a trace of another tool as a bundle of our own format, so that every pass says the
// same of both. analysis/read/imported_bundle.h is the way back.
//
// The files have their names when all of them are whole. Nothing reads an unfinished bundle.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/parallel.h"
#include "analysis/base/result.h"
#include "analysis/export/imported_file.h"
#include "analysis/model/trace.h"
#include "proto/bundle.pb.h"
#include "proto/container.h"
#include "proto/contract.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr char kUnfinished[] = ".part";

std::string ManifestOf(const Trace& trace, const std::string& writer_version) {
  proto::Bundle bundle;
  bundle.set_format_major(proto::kFormatMajor);
  bundle.set_format_minor(proto::kFormatMinor);
  bundle.set_writer_version(writer_version);
  proto::Import* import = bundle.mutable_import();
  import->set_importer(trace.importer);
  import->set_origin_realtime_ns(trace.origin_realtime_ns);
  for (const ImportNote& note : trace.import_notes) {
    proto::ImportNote* entry = import->add_note();
    entry->set_kind(ImportNoteName(note.kind));
    entry->set_count(note.count);
    entry->set_example(note.example);
  }
  for (const InputFault& fault : trace.faults) {
    proto::ImportFault* entry = import->add_fault();
    entry->set_file(fault.file);
    entry->set_offset(fault.offset);
    entry->set_what(fault.what);
  }
  return bundle.SerializeAsString();
}

// A process has the number of its place as its start. So several processes may have one pid.
std::string NameOf(const Process& process, uint64_t start_id) {
  char name[64];
  std::snprintf(name, sizeof name, "p%d-%llx%s", process.pid,
                static_cast<unsigned long long>(start_id), proto::kTraceSuffix);
  return name;
}

}  // namespace

Error WriteBundle(const Trace& trace, const ImportOptions& options, ImportReport* report) {
  if (trace.importer.empty() || trace.manifest.has_import())
    return UsageError(trace.path + " is a bundle already: passes read it as it is");
  const size_t count = trace.processes.size();
  std::vector<ImportedFile> files(count);
  std::vector<Error> errors(count);
  std::vector<uint64_t> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    files[i].start_id = i + 1;
    files[i].path =
        options.folder + "/" + NameOf(trace.processes[i], files[i].start_id) + kUnfinished;
    files[i].origin_realtime_ns = trace.origin_realtime_ns;
  }
  ParallelFor(count, ThreadCount(options.threads), [&](size_t i, int) {
    Result<uint64_t> written = WriteImportedFile(trace.processes[i], files[i]);
    if (written.ok()) {
      bytes[i] = *written;
    } else {
      errors[i] = written.error();
    }
  });
  for (const Error& error : errors)
    if (error) return error;
  for (size_t i = 0; i < count; ++i) {
    const std::string& path = files[i].path;
    const std::string name = path.substr(0, path.size() - std::strlen(kUnfinished));
    if (std::rename(path.c_str(), name.c_str()) != 0)
      return Unreadable(name + " cannot be made: " + std::strerror(errno) +
                        "; name another place with -o DIR");
    report->rows += trace.processes[i].rows;
    report->bytes += bytes[i];
    report->file_bytes[trace.processes[i].file] = trace.processes[i].file_bytes;
  }
  report->manifest = ManifestOf(trace, options.writer_version);
  return {};
}

}  // namespace gpuprof::analysis
