// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_files.h.

#include "launcher/serve/page_files.h"

#include "launcher/base/read_file.h"
#include "launcher/base/version.h"
#include "launcher/reading/reading.h"
#include "launcher/record/bundle.h"
#include "proto/codec/input_path.h"
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

bool PageFiles::Find(const analysis::InputPath& input) {
  place_ = input;
  place_.Hold();
  struct stat status;
  const bool is_there = codec::StatInput(place_, &status);
  if (is_there && S_ISDIR(status.st_mode)) return AddTraces();
  if (!place_.path.ends_with(".gpt")) return false;
  files_.push_back({LastPart(place_.path), place_});
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
  if (written != kExitOk) return written;
  place_ = folder_.path();
  place_.Hold();
  AddTraces();
  return written;
}

// Adds the files of the bundle's own folder, or of a rank's. Returns whether it holds any.
bool PageFiles::AddFolder(const std::string& lead) {
  bool is_bundle = false;
  const codec::OwnedFile folder(codec::OpenInputFolder(lead.empty() ? place_ : place_.Below(lead)));
  for (const std::string& name : ListFolder(folder.fd())) {
    const bool is_trace = name.ends_with(".gpt");
    is_bundle = is_bundle || name == proto::kBundleFile || is_trace;
    // bundle.pb says of which host the processes are, and when an import begins.
    if ((name == proto::kBundleFile && lead.empty()) || is_trace)
      files_.push_back({lead + name, place_.Below(lead + name)});
    if (name.ends_with(".ring")) {
      left_out_ =
          "The last events of processes that were killed are not in the timeline; 'gpuprof "
          "recover' adds them to the bundle.";
    }
  }
  return is_bundle;
}

// Returns whether the folder is a bundle, be it one without a trace.
bool PageFiles::AddTraces() {
  bool is_bundle = AddFolder("");
  const codec::OwnedFile folder(codec::OpenInputFolder(place_));
  for (const std::string& name : ListFolder(folder.fd()))
    if (IsPartName(name)) is_bundle = AddFolder(name + "/") || is_bundle;
  return is_bundle;
}

}  // namespace gpuprof::launcher
