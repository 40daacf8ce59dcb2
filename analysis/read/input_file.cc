// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_file.h.

#include "analysis/read/input_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "analysis/read/bundle_parts.h"
#include "proto/codec/open_regular.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsFile(const codec::InputPath& path) {
  struct stat status;
  return codec::StatInput(path, &status) && S_ISREG(status.st_mode);
}

// Notes what one folder holds: the bundle's own, or a rank's. False: errno says why it cannot be
// read.
bool NoteFiles(const codec::InputPath& path, const std::string& lead, BundleFiles* files,
               BundlePart* part, std::vector<std::string>* folders) {
  const codec::OwnedFile held(codec::OpenInputFolder(path));
  const int fd = held.fd() < 0 ? -1 : openat(held.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = fd < 0 ? nullptr : fdopendir(fd);
  if (directory == nullptr) return false;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    Stem stem;
    if (name == proto::kBundleFile) part->has_manifest = true;
    if (name == proto::kUnrecordedFile) part->has_unrecorded = true;
    if (EndsWith(name, proto::kTraceSuffix)) files->traces.push_back(lead + name);
    const bool is_ring =
        EndsWith(name, proto::kRingSuffix) &&
        ParseStem(name.substr(0, name.size() - std::strlen(proto::kRingSuffix)), &stem);
    // Segments tell of an unfinished process, too, should the ring file be gone.
    if (is_ring || (EndsWith(name, proto::kSegmentSuffix) &&
                    ParseStem(name.substr(0, name.find('.')), &stem))) {
      stem.name.insert(0, lead);
      files->rings.push_back(stem);
    }
    if (folders != nullptr && IsPartName(name)) folders->push_back(name);
  }
  closedir(directory);
  return true;
}

Result<BundleFiles> FindInDirectory(const codec::InputPath& path) {
  BundleFiles files;
  files.is_bundle = true;
  files.directory = path;
  files.directory.Hold();
  BundlePart own;
  std::vector<std::string> folders;
  if (!NoteFiles(files.directory, "", &files, &own, &folders)) return OpenError(path.path, errno);
  files.has_manifest = own.has_manifest;
  files.has_unrecorded = own.has_unrecorded;
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) {
    BundlePart part;
    part.folder = folder;
    const size_t before = files.traces.size() + files.rings.size();
    // A link, or a file of such a name, is no part.
    if (!NoteFiles(files.directory.Below(folder), folder + "/", &files, &part, nullptr)) continue;
    if (part.has_manifest || files.traces.size() + files.rings.size() != before)
      files.parts.push_back(std::move(part));
  }
  std::sort(files.traces.begin(), files.traces.end());
  std::sort(files.rings.begin(), files.rings.end(),
            [](const Stem& x, const Stem& y) { return x.name < y.name; });
  const auto doubled = std::unique(files.rings.begin(), files.rings.end(),
                                   [](const Stem& x, const Stem& y) { return x.name == y.name; });
  files.rings.erase(doubled, files.rings.end());
  if (files.traces.empty() && files.rings.empty() && !files.has_manifest && files.parts.empty()) {
    return Unreadable(
        path.path +
        ": no gpuprof trace in this directory (no *.gpt, no bundle.pb); name a directory that "
        "`gpuprof run -o` made, or one .gpt file");
  }
  return files;
}

}  // namespace

Error OpenError(const std::string& path, int cause) {
  std::string message = path + ": " + codec::OpenErrorText(cause);
  if (cause == codec::kNotRegular) message += "; name a bundle directory or a .gpt file";
  if (cause == EACCES)
    message += "; traces belong to the user who ran the program: read them as that user";
  if (cause == ENOENT || cause == ENOTDIR)
    message += "; name the directory that `gpuprof run` printed, or a .gpt file in it";
  return Unreadable(std::move(message));
}

Result<FileBytes> ReadOpenFile(int fd, const std::string& path, uint64_t size) {
  FileBytes result;
  result.data.reset(new uint8_t[size + 1]);
  while (result.bytes < size) {
    const ssize_t got =
        pread(fd, result.data.get() + result.bytes,
              std::min<uint64_t>(size - result.bytes, 1u << 30), static_cast<off_t>(result.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return OpenError(path, errno);
    if (got == 0) break;
    result.bytes += static_cast<uint64_t>(got);
  }
  return result;
}

Result<FileBytes> ReadFile(const codec::InputPath& path, uint64_t most_bytes) {
  struct stat status;
  const codec::OwnedFile file(codec::OpenInput(path, &status));
  if (file.fd() < 0) return OpenError(path.path, errno);
  return ReadOpenFile(file.fd(), path.path,
                      std::min(static_cast<uint64_t>(status.st_size), most_bytes));
}

std::string CauseOf(const Error& error, const std::string& path) {
  const std::string lead = path + ": ";
  return error.message.starts_with(lead) ? error.message.substr(lead.size()) : error.message;
}

bool ParseStem(const std::string& name, Stem* stem) {
  const size_t dash = name.find('-');
  if (name.size() < 4 || name[0] != 'p' || dash == std::string::npos) return false;
  const char* end = name.data() + name.size();
  const auto pid = std::from_chars(name.data() + 1, name.data() + dash, stem->pid);
  const auto start = std::from_chars(name.data() + dash + 1, end, stem->start_id, 16);
  stem->name = name;
  return pid.ec == std::errc() && pid.ptr == name.data() + dash && stem->pid > 0 &&
         start.ec == std::errc() && start.ptr == end;
}

Result<BundleFiles> FindFiles(const codec::InputPath& path) {
  struct stat status;
  if (!codec::StatInput(path, &status)) return OpenError(path.path, errno);
  if (S_ISDIR(status.st_mode)) return FindInDirectory(path);
  BundleFiles files;
  files.named = path;
  files.directory = path.Above();
  files.directory.Hold();
  const std::string name = path.path.substr(path.path.rfind('/') + 1);
  files.traces.push_back(name);
  files.has_manifest = IsFile(files.directory.Below(proto::kBundleFile));
  Stem stem;
  if (EndsWith(name, proto::kTraceSuffix) &&
      ParseStem(name.substr(0, name.size() - std::strlen(proto::kTraceSuffix)), &stem) &&
      IsFile(files.directory.Below(stem.name + proto::kRingSuffix))) {
    files.rings.push_back(stem);
  }
  return files;
}

}  // namespace gpuprof::analysis
