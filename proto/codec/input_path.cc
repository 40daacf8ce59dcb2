// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_path.h. Each folder on the way is opened below the one before, so that nobody can put a
// link in its place.

#include "proto/codec/input_path.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "proto/codec/open_regular.h"

namespace gpuprof::codec {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

int Fail(int error) {
  errno = error;
  return -1;
}

// Takes the first part of a path. Returns false if there is none.
bool TakePart(std::string* path, std::string* part) {
  const size_t begin = path->find_first_not_of('/');
  if (begin == std::string::npos) return false;
  const size_t end = path->find('/', begin);
  *part = path->substr(begin, end - begin);
  *path = end == std::string::npos ? "" : path->substr(end);
  return true;
}

// Opens the folder `name` in another. A link is refused.
OwnedFile OpenFolderIn(int folder, const std::string& name) {
  OwnedFile opened(openat(folder, name.c_str(), kFolder | O_NOFOLLOW));
  struct stat status;
  // The kernel says of a link that it is no folder.
  if (opened.fd() < 0 && errno == ENOTDIR) {
    const bool is_link =
        fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    errno = is_link ? ELOOP : ENOTDIR;
  }
  return opened;
}

// Opens the folder around the last part of `name`, and gives this part. Without parts the folder
// itself is meant, and the last part is ".".
OwnedFile OpenAround(int folder, std::string name, std::string* last) {
  OwnedFile at(openat(folder, ".", kFolder));
  std::string next;
  if (!TakePart(&name, last)) *last = ".";
  while (at.fd() >= 0 && *last != ".." && TakePart(&name, &next)) {
    at = OpenFolderIn(at.fd(), *last);
    *last = next;
  }
  return *last == ".." ? OwnedFile(Fail(ELOOP)) : std::move(at);
}

OwnedFile OpenNamedFolder(const InputPath& input) {
  if (input.held != nullptr) return OwnedFile(openat(input.held->fd(), ".", kFolder));
  return OwnedFile(open(input.path.substr(0, input.named_bytes).c_str(), kFolder));
}

std::string BelowOf(const InputPath& input) { return input.path.substr(input.named_bytes); }

}  // namespace

InputPath InputPath::Below(const std::string& name) const {
  InputPath below = *this;
  if (!path.ends_with('/')) below.path += '/';
  below.path += name;
  return below;
}

InputPath InputPath::Above() const {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"."};
  InputPath above = *this;
  above.path.resize(slash == 0 ? 1 : slash);
  if (named_bytes > above.path.size()) {
    above.named_bytes = above.path.size();
    above.held = nullptr;
  }
  return above;
}

void InputPath::Hold() {
  if (IsNamed() && held != nullptr) return;
  OwnedFile folder(OpenInputFolder(*this));
  if (folder.fd() < 0) return;
  held = std::make_shared<const OwnedFile>(std::move(folder));
  named_bytes = path.size();
}

int OpenBelow(int folder, const std::string& name, struct stat* status) {
  std::string last;
  const OwnedFile around = OpenAround(folder, name, &last);
  if (around.fd() < 0) return -1;
  struct stat of_file, of_folder;
  OwnedFile file(OpenRegular(around.fd(), last.c_str(), O_RDONLY | O_NOFOLLOW, &of_file));
  if (file.fd() < 0 || fstat(around.fd(), &of_folder) != 0) return -1;
  if (of_file.st_nlink > 1 && of_file.st_uid != of_folder.st_uid) return Fail(kForeignName);
  if (status != nullptr) *status = of_file;
  return file.Release();
}

int OpenInput(const InputPath& input, struct stat* status) {
  if (input.IsNamed()) return OpenRegular(AT_FDCWD, input.path.c_str(), O_RDONLY, status);
  const OwnedFile folder = OpenNamedFolder(input);
  return folder.fd() < 0 ? -1 : OpenBelow(folder.fd(), BelowOf(input), status);
}

int OpenInputFolder(const InputPath& input) {
  OwnedFile folder = OpenNamedFolder(input);
  if (input.IsNamed() || folder.fd() < 0) return folder.Release();
  std::string last;
  const OwnedFile around = OpenAround(folder.fd(), BelowOf(input), &last);
  return around.fd() < 0 ? -1 : OpenFolderIn(around.fd(), last).Release();
}

bool StatInput(const InputPath& input, struct stat* status) {
  if (input.IsNamed() && input.held == nullptr) return stat(input.path.c_str(), status) == 0;
  const OwnedFile folder = OpenNamedFolder(input);
  std::string last;
  const OwnedFile around =
      folder.fd() < 0 ? OwnedFile() : OpenAround(folder.fd(), BelowOf(input), &last);
  return around.fd() >= 0 && fstatat(around.fd(), last.c_str(), status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string FileState(const struct stat& status) {
  std::string text = std::to_string(status.st_dev) + "-" + std::to_string(status.st_ino) + "-" +
                     std::to_string(status.st_size);
  for (const timespec& time : {status.st_mtim, status.st_ctim})
    text += "-" + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  return text;
}

}  // namespace gpuprof::codec
