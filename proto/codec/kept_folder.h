// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A folder that stays at hand: its files are reached by a descriptor of it, so that they are found
// when its path no longer leads there (chroot, a renamed bundle). Where the descriptor was closed
// or replaced, or the folder removed, the path decides.
//
// One thread at a time. As the writers that use it, in a foreign process: system calls only, no
// exceptions.

#pragma once

#include <sys/types.h>

#include <cstdint>

namespace gpuprof::codec {

class KeptFolder {
 public:
  KeptFolder() = default;
  ~KeptFolder() { Close(); }
  KeptFolder(const KeptFolder&) = delete;
  KeptFolder& operator=(const KeptFolder&) = delete;

  // The folder in which `path` names a file. Where it cannot be opened, paths decide.
  void Keep(const char* path);
  void Close();

  // As open, unlink, rename and access(F_OK), of files in the folder; `path` is the whole path.
  // Without a kept folder the plain calls. errno as they leave it.
  int Open(const char* path, int flags, mode_t mode = 0);
  bool Unlink(const char* path);
  bool Rename(const char* from, const char* to);
  bool Has(const char* path);

 private:
  // The descriptor to give to the ...at() calls; *name is what to call the file then.
  int At(const char* path, const char** name) const;

  int fd_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  uint64_t path_bytes_ = 0;  // of the folder, with its last slash
};

}  // namespace gpuprof::codec
