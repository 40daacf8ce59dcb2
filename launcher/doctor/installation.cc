// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See installation.h.

#include "launcher/doctor/installation.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "launcher/base/read_file.h"
#include "launcher/base/values.h"
#include "launcher/base/version.h"
#include "launcher/record/program.h"

namespace gpuprof::launcher {
namespace {

constexpr char kCommand[] = "gpuprof";
// The second name, which the wheel gives the command.
constexpr char kOtherCommand[] = "gpuprof-tools";

std::string Resolved(const std::string& path) {
  char text[PATH_MAX];
  return realpath(path.c_str(), text) == nullptr ? "" : text;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string FirstOnPath(const std::string& path) {
  for (const std::string& folder : Split(path, ':')) {
    const std::string found = (folder.empty() ? "." : folder) + "/" + kCommand;
    struct stat status;
    if (stat(found.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(found.c_str(), X_OK) == 0)
      return found;
  }
  return "";
}

// The wheel's `gpuprof` is a script that starts the command next to it.
bool IsOurScript(const std::string& file, const std::string& own) {
  return FolderOf(file) == FolderOf(own) && BaseName(own) == kOtherCommand &&
         ReadFile(file).value_or("").find("exec \"$command\"") != std::string::npos;
}

// Returns the version of the package `gpuprof` in the environment of a command; empty: no package
// of that name is there.
std::string ForeignPackage(const std::string& command) {
  const std::string library = FolderOf(FolderOf(command)) + "/lib";
  for (const std::string& python : ListFolder(library)) {
    if (!python.starts_with("python")) continue;
    for (const std::string& name : ListFolder(library + "/" + python + "/site-packages")) {
      constexpr std::string_view kStart = "gpuprof-", kEnd = ".dist-info";
      if (name.starts_with(kStart) && name.ends_with(kEnd))
        return name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size());
    }
  }
  return "";
}

}  // namespace

Check CheckInstallation(const std::string& own, const std::string& path) {
  Check check{kCommand, Check::Level::kOk, std::string(kVersion) + " in " + FolderOf(own), ""};
  const std::string called = FirstOnPath(path);
  const std::string file = Resolved(called);
  const bool is_own = file.empty() || file == own || IsOurScript(file, own);
  std::string package = ForeignPackage(own);
  if (package.empty() && !is_own) package = ForeignPackage(file);
  if (is_own && package.empty()) return check;
  check.level = Check::Level::kWarn;
  if (!is_own) {
    check.found += "; the word gpuprof starts " + called + ", which is " +
                   (package.empty() ? "another installation" : "another project's command");
  }
  if (!package.empty())
    check.found += "; the package gpuprof " + package + " of another project is installed too";
  check.fix =
      BaseName(own) == kOtherCommand
          ? "call this one gpuprof-tools, or remove the other one (pip uninstall gpuprof) and "
            "install gpuprof-tools again"
          : "call this one by its path " + own + ", or put its folder first in PATH";
  return check;
}

}  // namespace gpuprof::launcher
