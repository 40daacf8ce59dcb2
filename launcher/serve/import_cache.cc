// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See import_cache.h. An entry is a folder: a bundle, and a file that says what the bundle is of.
// An entry gets its final name when it is whole. Who uses an entry holds a shared lock on its
// folder.

#include "launcher/serve/import_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "launcher/base/version.h"
#include "launcher/record/bundle.h"
#include "proto/codec/open_regular.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

constexpr char kSourceFile[] = "source.json";
constexpr char kEntryPrefix[] = "trace-";
constexpr char kNewPrefix[] = "new-";
constexpr off_t kMostSourceBytes = off_t{16} << 20;
constexpr FolderWords kWords = {"the imported traces", "XDG_CACHE_HOME"};

// Returns "" if there is no place.
std::string CacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  // The specification of the variable says that relative paths do not count.
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/gpuprof/imports";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/.cache/gpuprof/imports";
}

// The path of an open folder, whatever happens to its name.
std::string PathOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

int64_t NanosecondsOf(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void AddStatus(const analysis::InputPath& path, std::string* key) {
  struct stat status = {};
  codec::StatInput(path, &status);
  *key += " " + codec::FileState(status);
}

// Tells which files a bundle was made of, and by which gpuprof. Another build may read other
// things.
std::string KeyOf(const analysis::ForeignInput& input) {
  std::string key = std::string("2 ") + kVersion;
  AddStatus("/proc/self/exe", &key);
  for (const analysis::InputPath& file : input.files) AddStatus(file, &key);
  return key;
}

// FNV-1a. The name only finds an entry: the key in the entry decides.
std::string NameOf(const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string name = kEntryPrefix;
  for (int shift = 60; shift >= 0; shift -= 4) name += "0123456789abcdef"[hash >> shift & 15];
  return name;
}

// Reads what an entry is of. Returns false if it cannot be read.
bool ReadSource(int folder, std::string* key, std::map<std::string, uint64_t>* file_bytes) {
  struct stat status;
  const codec::OwnedFile file(
      codec::OpenRegular(folder, kSourceFile, O_RDONLY | O_NOFOLLOW, &status));
  if (file.fd() < 0 || status.st_size > kMostSourceBytes) return false;
  std::string text(static_cast<size_t>(status.st_size), '\0');
  if (pread(file.fd(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return false;
  const nlohmann::json source = nlohmann::json::parse(text, nullptr, false);
  if (!source.is_object() || !source.contains("key") || !source["key"].is_string() ||
      !source.contains("file_bytes") || !source["file_bytes"].is_object())
    return false;
  *key = source["key"].get<std::string>();
  for (const auto& [name, bytes] : source["file_bytes"].items()) {
    if (bytes.is_number_unsigned()) (*file_bytes)[name] = bytes.get<uint64_t>();
  }
  return true;
}

uint64_t BytesIn(const TrustedFolder& folder) {
  uint64_t bytes = 0;
  struct stat status;
  for (const std::string& name : folder.List()) {
    if (fstatat(folder.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes;
}

void Empty(const TrustedFolder& folder) {
  for (const std::string& name : folder.List()) folder.Remove(name);
}

analysis::Error WriteBundleIn(const analysis::Trace& trace, const std::string& folder,
                              analysis::ImportReport* report) {
  analysis::ImportOptions options;
  options.folder = folder;
  options.writer_version = std::string("gpuprof ") + kVersion;
  return analysis::WriteBundle(trace, options, report);
}

}  // namespace

ImportedTrace::~ImportedTrace() { Remove(); }

void ImportedTrace::Remove() {
  temporary.Remove();
  if (above == nullptr || is_kept) return;
  Empty(folder);
  unlinkat(above->fd(), name.c_str(), AT_REMOVEDIR);
  above = nullptr;
}

ImportCache::ImportCache(uint64_t most_bytes) : most_bytes_(most_bytes), folder_(kWords) {}

std::string ImportCache::Open() {
  const std::string path = CacheFolder();
  const std::string after = "; traces of other tools are read again each time";
  if (path.empty()) return "HOME is not set" + after;
  const int error = folder_.Make(path, TrustedFolder::Last::kAny);
  if (error == ELOOP) return path + " is a link" + after;
  if (error != 0) return path + " cannot be made: " + std::strerror(error) + after;
  if (const std::string fault = folder_.Claim(path); !fault.empty()) return fault;
  struct stat status;
  if (fstat(folder_.fd(), &status) == 0 && (status.st_mode & 077) != 0) fchmod(folder_.fd(), 0700);
  if (faccessat(folder_.fd(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return path + " cannot be written to: " + std::strerror(errno) + after;
  is_open_ = true;
  RemoveLeftovers();
  return "";
}

std::shared_ptr<const ImportedTrace> ImportCache::Find(const analysis::InputPath& path,
                                                       const analysis::ForeignInput& input) {
  return is_open_ ? OpenKept(path.path, KeyOf(input)) : nullptr;
}

std::shared_ptr<const ImportedTrace> ImportCache::Make(const analysis::InputPath& path,
                                                       const analysis::ForeignInput& input,
                                                       std::atomic<uint64_t>* bytes_read,
                                                       analysis::Error* error) {
  // Before the files are read: if they change meanwhile, the bundle is of the old ones.
  const std::string key = KeyOf(input);
  analysis::OpenOptions open;
  open.bytes_read = bytes_read;
  std::shared_ptr<const analysis::Trace> trace;
  *error = analysis::Open(path, open, &trace);
  std::shared_ptr<ImportedTrace> made;
  if (!*error && is_open_) made = MakeKept(path.path, key, *trace);
  if (!*error && made == nullptr) made = MakeTemporary(path.path, *trace, error);
  trace = nullptr;
  malloc_trim(0);
  return made;
}

void ImportCache::RemoveUnfinished() {
  const std::lock_guard lock(mutex_);
  for (const std::weak_ptr<ImportedTrace>& each : unkept_) {
    if (const std::shared_ptr<ImportedTrace> made = each.lock()) made->Remove();
  }
}

std::shared_ptr<ImportedTrace> ImportCache::OpenKept(const std::string& path,
                                                     const std::string& key) {
  auto kept = std::make_shared<ImportedTrace>();
  kept->is_kept = true;
  const int folder = folder_.fd();
  if (kept->folder.Open(PathOf(folder) + "/" + NameOf(key)) != 0) return nullptr;
  const int fd = kept->folder.fd();
  std::string found;
  if (!kept->folder.WhyForeign(path).empty() || flock(fd, LOCK_SH | LOCK_NB) != 0 ||
      !ReadSource(fd, &found, &kept->bundle.origin.file_bytes) || found != key ||
      faccessat(fd, proto::kBundleFile, R_OK, 0) != 0)
    return nullptr;
  futimens(fd, nullptr);  // the entry that was not used for longest goes first
  kept->bundle.path = PathOf(fd);
  kept->bundle.origin.path = path;
  return kept;
}

// Makes an empty entry that is not kept yet. Null: it cannot be made.
std::shared_ptr<ImportedTrace> ImportCache::NewEntry() {
  auto made = std::make_shared<ImportedTrace>();
  made->name = kNewPrefix + RandomLetters();
  if (mkdirat(folder_.fd(), made->name.c_str(), 0700) != 0) return nullptr;
  made->above = &folder_;
  if (made->folder.Open(PathOf(folder_.fd()) + "/" + made->name) != 0) return nullptr;
  flock(made->folder.fd(), LOCK_SH | LOCK_NB);
  made->bundle.path = PathOf(made->folder.fd());
  Remember(made);
  return made;
}

std::shared_ptr<ImportedTrace> ImportCache::MakeKept(const std::string& path,
                                                     const std::string& key,
                                                     const analysis::Trace& trace) {
  const std::shared_ptr<ImportedTrace> made = NewEntry();
  analysis::ImportReport report;
  if (made == nullptr || WriteBundleIn(trace, made->bundle.path.path, &report)) return nullptr;
  const nlohmann::json source = {{"key", key}, {"path", path}, {"file_bytes", report.file_bytes}};
  const std::string text =
      source.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (made->folder.Replace(kSourceFile, text) != 0 ||
      made->folder.Replace(proto::kBundleFile, report.manifest) != 0)
    return nullptr;
  made->bundle.origin = {path, std::move(report.file_bytes)};
  const uint64_t bytes = BytesIn(made->folder);
  // What has no room is used once.
  if (bytes > most_bytes_) return made;
  MakeRoom(bytes);
  const std::string name = NameOf(key);
  const std::lock_guard lock(mutex_);
  // Another command may have been faster.
  if (renameat(folder_.fd(), made->name.c_str(), folder_.fd(), name.c_str()) == 0)
    made->is_kept = true;
  return made;
}

std::shared_ptr<ImportedTrace> ImportCache::MakeTemporary(const std::string& path,
                                                          const analysis::Trace& trace,
                                                          analysis::Error* error) {
  auto made = std::make_shared<ImportedTrace>();
  if (std::string fault = made->temporary.Make(); !fault.empty()) {
    *error = {analysis::ErrorKind::kUnreadable, std::move(fault)};
    return nullptr;
  }
  Remember(made);
  analysis::ImportReport report;
  *error = WriteBundleIn(trace, made->temporary.path(), &report);
  if (*error) return nullptr;
  TrustedFolder folder;
  int fault = folder.Open(made->temporary.path());
  if (fault == 0) fault = folder.Replace(proto::kBundleFile, report.manifest);
  if (fault != 0) {
    *error = {analysis::ErrorKind::kUnreadable,
              made->temporary.path() + " cannot be written to: " + std::strerror(fault) +
                  "; name another place in TMPDIR"};
    return nullptr;
  }
  made->bundle = {made->temporary.path(), {path, std::move(report.file_bytes)}};
  return made;
}

void ImportCache::Remember(const std::shared_ptr<ImportedTrace>& made) {
  const std::lock_guard lock(mutex_);
  std::erase_if(unkept_, [](const auto& each) { return each.expired(); });
  unkept_.push_back(made);
}

// Removes an entry, unless a command uses it. Returns whether it is gone.
bool ImportCache::RemoveEntry(const std::string& name) const {
  TrustedFolder entry;
  if (entry.Open(PathOf(folder_.fd()) + "/" + name) != 0) return false;
  if (flock(entry.fd(), LOCK_EX | LOCK_NB) != 0) return false;
  Empty(entry);
  return unlinkat(folder_.fd(), name.c_str(), AT_REMOVEDIR) == 0;
}

void ImportCache::RemoveLeftovers() const {
  for (const std::string& name : folder_.List()) {
    if (name.starts_with(kNewPrefix)) RemoveEntry(name);
  }
}

// Removes the oldest entries until so many bytes have room.
void ImportCache::MakeRoom(uint64_t bytes) const {
  struct Entry {
    int64_t used_ns;
    std::string name;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  for (const std::string& name : folder_.List()) {
    TrustedFolder entry;
    struct stat status;
    if (!name.starts_with(kEntryPrefix) || entry.Open(PathOf(folder_.fd()) + "/" + name) != 0 ||
        fstat(entry.fd(), &status) != 0)
      continue;
    entries.push_back({NanosecondsOf(status.st_mtim), name, BytesIn(entry)});
    bytes += entries.back().bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return x.used_ns < y.used_ns; });
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) return;
    if (RemoveEntry(entry.name)) bytes -= entry.bytes;
  }
}

}  // namespace gpuprof::launcher
