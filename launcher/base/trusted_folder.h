// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A folder that is opened once and then held by its descriptor: nothing that happens to its name
// afterwards changes where files go. Files are made with O_EXCL and O_NOFOLLOW, so that no link of
// another user's is followed and no file is written over. Used for the bundle's folder, for the
// folder of baselines and for imported traces.
//
// One thread: Make sets the umask for a moment.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gpuprof::launcher {

// What messages call the folder's content, and the option that names another folder.
struct FolderWords {
  const char* content = "the bundle";
  const char* option = "-o DIR";
};

class TrustedFolder {
 public:
  explicit TrustedFolder(FolderWords words = {}) : words_(words) {}
  ~TrustedFolder();
  TrustedFolder(const TrustedFolder&) = delete;
  TrustedFolder& operator=(const TrustedFolder&) = delete;

  // kNew: a folder that is there already is EEXIST. kAny: the folder may be there.
  enum class Last { kNew, kAny };
  // Makes the folders of an absolute path that are missing and holds the last. The last has mode
  // 0700 whatever the umask. Closes the folder held before. Returns an errno, or 0. ELOOP: the last
  // part is a link.
  int Make(const std::string& path, Last last);
  // Holds a folder that exists. Returns an errno, or 0. ELOOP: the last part is a link.
  int Open(const std::string& path);

  // Returns why this user may not trust the folder, with the fix, or empty: another user owns it.
  std::string WhyForeign(const std::string& path) const;
  // Takes write permission from other users. Returns what WhyForeign does.
  std::string Claim(const std::string& path) const;
  // Says that other users can still move, remove or change the folder, and who they are. They
  // cannot make this process write elsewhere. Returns empty if they cannot.
  std::string Risk() const;

  int fd() const { return fd_; }
  // Returns whether the path still leads to this folder.
  bool IsAt(const std::string& path) const;
  // Returns the names in the folder, sorted, without "." and "..".
  std::vector<std::string> List() const;
  // Makes an empty file of mode 0600. Returns its descriptor, or -1 and errno.
  int Create(const std::string& name) const;
  // Writes a file of mode 0600 in one step: a reader sees the old or the new file. Returns an
  // errno, or 0.
  int Replace(const std::string& name, const std::string& bytes) const;
  // Writes a file of mode 0600 if none has this name: of several writers one wins, also on other
  // hosts. Returns EEXIST to the others, an errno, or 0.
  int CreateWhole(const std::string& name, const std::string& bytes) const;
  void Remove(const std::string& name) const;
  // Removes the folders that Make made, from the innermost, as far as they are empty.
  void RemoveMade();

 private:
  void LetGo();
  int Enter(int above, const std::string& name, bool is_last, Last last, unsigned umask);

  FolderWords words_;
  int fd_ = -1;
  std::vector<std::pair<int, std::string>> made_;  // folder above and name, outermost first
};

}  // namespace gpuprof::launcher
