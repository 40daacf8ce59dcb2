// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See mcp_inputs.h.

#include "launcher/mcp/mcp_inputs.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

std::string Quoted(const std::string& name) {
  return "'" + analysis::OneLine(name.substr(0, 200)) + "'";
}

// Returns the part of an absolute path below a folder. False: the path is not below it.
bool PartBelow(const std::string& folder, const std::string& path, std::string* rest) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  if (path.size() != folder.size() && folder != "/" && path[folder.size()] != '/') return false;
  *rest = path.substr(folder.size());
  return true;
}

}  // namespace

std::string McpInputs::Begin(const std::string& root) {
  char real[PATH_MAX];
  struct stat status;
  if (realpath(root.c_str(), real) == nullptr || stat(real, &status) != 0)
    return "--root " + root + " cannot be opened: " + std::strerror(errno) +
           ". Name the folder with your recordings.";
  if (!S_ISDIR(status.st_mode))
    return "--root " + root + " is not a folder. Name the folder with your recordings.";
  given_ = WithoutSlash(root);
  root_ = analysis::InputPath(std::string(real));
  root_.Hold();
  if (root_.held == nullptr)
    return "--root " + root + " cannot be opened: " + std::strerror(errno) +
           ". Name a folder that you may read.";
  return "";
}

std::string McpInputs::Below(const std::string& given, std::string* name) const {
  std::string rest = given;
  if (given.starts_with('/') && !PartBelow(root_.path, given, &rest) &&
      !PartBelow(given_, given, &rest))
    return Quoted(given) +
           " is outside of the folder that this server reads. Name an input below it, as "
           "list_bundles does, or start gpuprof mcp with another --root.";
  name->clear();
  for (size_t at = 0; at < rest.size();) {
    const size_t end = std::min(rest.find('/', at), rest.size());
    const std::string part = rest.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..")
      return Quoted(given) +
             " has the part '..', which may lead out of the folder that this server reads. Name "
             "the input without it.";
    *name += (name->empty() ? "" : "/") + part;
  }
  return "";
}

std::string McpInputs::Find(const std::string& given, analysis::InputPath* path,
                            std::string* name) const {
  if (given.find('\0') != std::string::npos || given.size() >= PATH_MAX)
    return "The name of the input is not a path. Name an input as list_bundles does.";
  if (std::string fault = Below(given, name); !fault.empty()) return fault;
  *path = root_;
  if (name->empty()) {
    *name = ".";
    return "";
  }
  *path = root_.Below(*name);
  struct stat status;
  if (!codec::StatInput(*path, &status)) {
    if (errno == ELOOP)
      return Quoted(given) +
             " lies behind a link. Links are not followed below the folder of this server. Name "
             "the target of the link, if it is below the folder.";
    if (errno == ENOENT || errno == ENOTDIR)
      return "There is no " + Quoted(given) +
             " below the folder of this server. list_bundles names what is there.";
    return Quoted(given) + " cannot be opened: " + std::strerror(errno) +
           ". Start gpuprof mcp as a user who may read it.";
  }
  if (S_ISLNK(status.st_mode))
    return Quoted(given) +
           " is a link, which is not followed here. Name its target, if the target is below the "
           "folder of this server.";
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
    return Quoted(given) + " is neither a file nor a folder. list_bundles names the recordings.";
  return "";
}

std::string McpInputs::Open(const std::string& given, OpenedInput** opened) {
  analysis::InputPath path;
  std::string name;
  if (std::string fault = Find(given, &path, &name); !fault.empty()) return fault;
  for (const auto& each : opened_) {
    if (each->name != name) continue;
    each->used_at = ++uses_;
    *opened = each.get();
    return "";
  }
  if (opened_.size() >= kMostOpened) {
    opened_.erase(
        std::min_element(opened_.begin(), opened_.end(),
                         [](const auto& x, const auto& y) { return x->used_at < y->used_at; }));
  }
  analysis::OpenOptions options;
  options.kernel_rules = GivenKernelRules();
  options.lazy = true;
  auto input = std::make_unique<OpenedInput>();
  input->name = name;
  input->path = path;
  input->results = analysis::MakePageInput(path, options);
  input->timeline = std::make_unique<analysis::PageTimeline>(path, options);
  input->used_at = ++uses_;
  *opened = input.get();
  opened_.push_back(std::move(input));
  return "";
}

}  // namespace gpuprof::launcher
