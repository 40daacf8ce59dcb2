// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_files.h.

#include "launcher/page_files.h"

#include "launcher/read_file.h"
#include "launcher/reading.h"
#include "launcher/version.h"
#include "proto/contract.h"

namespace gpuprof::launcher {

std::string LastPart(const std::string& path) {
  const std::string whole = WithoutSlash(path);
  return whole.substr(whole.rfind('/') + 1);
}

std::vector<analysis::ReportFile> PageFiles::ForPage() const {
  std::vector<analysis::ReportFile> files;
  for (const analysis::ReportFile& file : files_)
    files.push_back({analysis::OneLine(file.name), file.path});
  return files;
}

bool PageFiles::Find(const std::string& input) {
  const std::string path = WithoutSlash(input);
  const bool is_folder = CheckFolder(path).empty();
  if (is_folder || !path.ends_with(".gpt")) return is_folder && AddTraces(path);
  files_.push_back({LastPart(path), path});
  return true;
}

int PageFiles::Import(const analysis::Trace& trace) {
  if (const std::string fault = folder_.Make(); !fault.empty()) {
    Say(fault);
    return kExitUnreadable;
  }
  analysis::ImportOptions options;
  options.folder = folder_.path();
  options.writer_version = std::string("gpuprof ") + kVersion;
  analysis::ImportReport report;
  const int written = ExitOf(analysis::WriteBundle(trace, options, &report));
  if (written == kExitOk) AddTraces(folder_.path());
  return written;
}

// Returns whether the folder is a bundle, be it one without a trace.
bool PageFiles::AddTraces(const std::string& folder) {
  bool is_bundle = false;
  for (const std::string& name : ListFolder(folder)) {
    is_bundle = is_bundle || name == proto::kBundleFile || name.ends_with(".gpt");
    // bundle.pb says of which host the processes are, and when an import begins.
    if (name == proto::kBundleFile || name.ends_with(".gpt"))
      files_.push_back({name, folder + "/" + name});
    if (name.ends_with(".ring")) {
      left_out_ =
          "The last events of processes that were killed are not in the timeline; 'gpuprof "
          "recover' adds them to the bundle.";
    }
  }
  return is_bundle;
}

}  // namespace gpuprof::launcher
