// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof install`: copies this command and its two objects into a folder. For images without a
// shell: an init container fills a volume that the program's container uses. Each file is replaced
// in one step, so programs that run with the older one keep it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/record/bundle.h"
#include "launcher/record/objects.h"
#include "launcher/record/program.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

// Returns an errno, or 0.
int MakeFolders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    // Other users run what lies in them.
    if (mkdir(folder.c_str(), 0755) == 0) {
      if (chmod(folder.c_str(), 0755) != 0) return errno;
    } else if (errno != EEXIST && (errno != EROFS || access(folder.c_str(), F_OK) != 0)) {
      return errno;
    }
    if (at == std::string::npos) return 0;
  }
}

// Returns an errno, or 0.
int CopyBytes(int from, int to) {
  std::vector<char> piece(1 << 20);
  for (;;) {
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = write(to, piece.data() + done, static_cast<size_t>(got - done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return written == 0 ? ENOSPC : errno;
      done += written;
    }
  }
}

// Returns an errno, or 0. A copy that is not whole is removed.
int CopyFile(const std::string& source, const std::string& target) {
  const codec::OwnedFile from(open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (from.fd() < 0) return errno;
  std::string name = target + ".XXXXXX";
  const codec::OwnedFile to(mkostemp(name.data(), O_CLOEXEC));
  if (to.fd() < 0) return errno;
  int error = CopyBytes(from.fd(), to.fd());
  if (error == 0 && (fchmod(to.fd(), 0755) != 0 || rename(name.c_str(), target.c_str()) != 0))
    error = errno;
  if (error != 0) unlink(name.c_str());
  return error;
}

class Install : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("DIR", &folder_, "The folder; bin/ and lib/gpuprof/ are made in it");
    options->Value("--folders", &bundles_, "DIRS",
                   "Also make these folders for bundles, comma separated; made by root, any user "
                   "may write there");
  }

  int Execute(const Options&) override {
    const Objects own = FindObjectsFrom(OwnFolder(), "", "");
    if (!own.error.empty()) return Fail(own.error);
    const std::string folder = AbsolutePath(folder_);
    Objects copied;
    copied.inject = folder + "/lib/gpuprof/" + BaseName(own.inject);
    copied.tracer = folder + "/lib/gpuprof/" + BaseName(own.tracer);
    const std::pair<std::string, std::string> files[] = {{OwnPath(), folder + "/bin/gpuprof"},
                                                         {own.inject, copied.inject},
                                                         {own.tracer, copied.tracer}};
    for (const auto& [source, target] : files) {
      int error = MakeFolders(target.substr(0, target.rfind('/')));
      if (error == 0) error = CopyFile(source, target);
      if (error != 0)
        return Fail(target + " cannot be written: " + std::strerror(error) +
                    "; name a folder that you may write");
    }
    // A volume may be mounted so that nothing in it can run.
    if (const std::string why = WhyUnloadable(copied); !why.empty()) return Fail(why);
    for (const std::string& bundle : Split(bundles_, ',')) {
      if (bundle.empty()) continue;
      const int error = MakeBundle(AbsolutePath(bundle));
      if (error != 0)
        return Fail(bundle + " cannot be made: " + std::strerror(error) +
                    "; name a folder that you may write");
    }
    PutOut("gpuprof " + std::string(kVersion) + " is in " + folder + "; record with " + folder +
           "/bin/gpuprof run -- COMMAND\n");
    return kExitOk;
  }

 private:
  static int Fail(const std::string& what) {
    Say(what);
    return kExitUsage;
  }

  // The recorder trusts folders of its own user and of root. Which user the program has may not be
  // known when root makes the folder.
  static int MakeBundle(const std::string& path) {
    if (const int error = MakeFolders(path); error != 0) return error;
    return chmod(path.c_str(), geteuid() == 0 ? 0777 : 0700) == 0 ? 0 : errno;
  }

  std::string folder_, bundles_;
};

}  // namespace

std::unique_ptr<Verb> MakeInstall() { return std::make_unique<Install>(); }

}  // namespace gpuprof::launcher
