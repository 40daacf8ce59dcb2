// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See output_folder.h.

#include "launcher/base/output_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpuprof::launcher {

OutputFolder::~OutputFolder() {
  if (is_finished_) return;
  file_.reset();
  for (const std::string& file : files_) unlink(file.c_str());
  // A folder in which others have put something stays.
  for (size_t i = made_.size(); i-- > 0;) rmdir(made_[i].c_str());
}

bool OutputFolder::Write(const std::string& path, std::string_view bytes) {
  if (!fault_.empty()) return false;
  if ((file_ == nullptr || path != path_) && !(End() && Open(path))) return false;
  if (file_->Write(bytes)) return true;
  fault_ = file_->Finish();
  return false;
}

bool OutputFolder::Open(const std::string& path) {
  path_ = path;
  const std::string whole = folder_ + "/" + path;
  for (size_t slash = whole.find('/', 1); slash != std::string::npos;
       slash = whole.find('/', slash + 1)) {
    const std::string folder = whole.substr(0, slash);
    if (mkdir(folder.c_str(), 0777) == 0) {
      made_.push_back(folder);
    } else if (errno != EEXIST) {
      fault_ = folder + " cannot be created: " + std::strerror(errno) +
               "; name another folder with -o DIR";
      return false;
    }
  }
  if (access(whole.c_str(), F_OK) == 0) {
    fault_ = whole + " exists already; remove it, or name another folder with -o DIR";
    return false;
  }
  file_ = std::make_unique<OutputFile>();
  fault_ = file_->Create(whole);
  if (fault_.empty()) return true;
  file_.reset();
  return false;
}

bool OutputFolder::End() {
  if (file_ == nullptr) return true;
  fault_ = file_->Finish();
  if (fault_.empty()) files_.push_back(folder_ + "/" + path_);
  file_.reset();
  return fault_.empty();
}

std::string OutputFolder::Finish() {
  if (fault_.empty()) End();
  is_finished_ = fault_.empty();
  return fault_;
}

}  // namespace gpuprof::launcher
