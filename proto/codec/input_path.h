// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens what a user named: a file, or a folder and the files in it. The user chooses the path, so
// links in it are followed. What lies in the folder may be somebody else's: an archive or a
// colleague's folder can hold a link to any file of the reader's. So no link is followed there.
//
// A link to a file by a further name (a hard link) looks like the file itself. A file with several
// names is refused if it belongs to another user than the folder around it.
//
// For readers outside the recorded process. Any thread.

#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "proto/codec/open_regular.h"

namespace gpuprof::codec {

// Separates a path into the part that the user named and what was found below that part.
struct InputPath {
  InputPath() = default;
  // Takes a path that the user named.
  InputPath(std::string named)  // NOLINT(google-explicit-constructor)
      : path(std::move(named)), named_bytes(path.size()) {}
  InputPath(const char* named)  // NOLINT(google-explicit-constructor)
      : InputPath(std::string(named)) {}

  // Returns the path of something in this folder. `name` may have several parts.
  InputPath Below(const std::string& name) const;
  // Returns the path of the folder around.
  InputPath Above() const;
  // Returns whether the user named the whole path.
  bool IsNamed() const { return named_bytes == path.size(); }
  // Holds this folder, if it is one: what is opened below it lies in the same folder from now on,
  // whatever happens to its name.
  void Hold();

  std::string path;
  size_t named_bytes = 0;                 // the part in which links are followed
  std::shared_ptr<const OwnedFile> held;  // the folder of this part; null: it is not held
};

// Opens a regular file for reading and returns its descriptor. -1: errno says why, and
// OpenErrorText (open_regular.h) has the words.
int OpenInput(const InputPath& input, struct stat* status = nullptr);
// Does the same for a file in the folder open as `folder`. `name` may have several parts.
int OpenBelow(int folder, const std::string& name, struct stat* status = nullptr);
// Returns a descriptor that names the folder (O_PATH), or -1.
int OpenInputFolder(const InputPath& input);
// Looks at a file or folder. A link below the named part is reported as a link. False: errno says
// why.
bool StatInput(const InputPath& input, struct stat* status);

// Returns a text that changes when the file changes, for everything that is kept of a file. A
// program can set the time of the last write back, but not that of the last change.
std::string FileState(const struct stat& status);

}  // namespace gpuprof::codec
