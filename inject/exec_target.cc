// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>

#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/text.h"
#include "proto/contract.h"
#include "proto/watching_tools.h"

extern "C" char** environ;

namespace gpuprof::inject {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr size_t kPreloadBytes = sizeof(kPreload) - 1;
constexpr int kMostInterpreters = 4;

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#else
constexpr unsigned kMachine = EM_AARCH64;
#endif

bool IsPreload(const char* entry) { return __builtin_strncmp(entry, kPreload, kPreloadBytes) == 0; }

bool IsSeparator(char c) { return c == ':' || c == ' '; }

const char* ItemEnd(const char* item) {
  while (*item != 0 && !IsSeparator(*item)) ++item;
  return item;
}

// Whether the path [begin, end) is the object's.
bool IsObject(const char* begin, const char* end) {
  constexpr size_t kBytes = sizeof(proto::kInjectObject) - 1;
  const auto bytes = static_cast<size_t>(end - begin);
  return bytes >= kBytes && Equal(proto::kInjectObject, end - kBytes, kBytes) &&
         (bytes == kBytes || end[-static_cast<long>(kBytes) - 1] == '/');
}

// The item of LD_PRELOAD that is the object; null: there is none.
const char* FindObject(const char* entry) {
  for (const char* item = entry + kPreloadBytes; *item != 0;) {
    const char* end = ItemEnd(item);
    if (IsObject(item, end)) return item;
    item = *end == 0 ? end : end + 1;
  }
  return nullptr;
}

// Whether `text` begins with one of `words`.
template <size_t kCount>
bool BeginsWith(const char* text, const char* const (&words)[kCount]) {
  for (const char* word : words)
    if (__builtin_strncmp(text, word, Length(word)) == 0) return true;
  return false;
}

// Whether an item of LD_PRELOAD is the library of a tool that watches the program.
bool NamesWatcher(const char* entry) {
  for (const char* item = entry + kPreloadBytes; *item != 0;) {
    const char* end = ItemEnd(item);
    const char* name = item;
    for (const char* p = item; p < end; ++p)
      if (*p == '/') name = p + 1;
    if (BeginsWith(name, proto::kWatchingPreloads)) return true;
    item = *end == 0 ? end : end + 1;
  }
  return false;
}

bool NamesSanitizer(const char* list) {
  constexpr const char* kSanitizers[] = {"libasan", "libtsan", "libclang_rt"};
  for (; *list != 0; ++list)
    for (const char* name : kSanitizers)
      if (__builtin_strncmp(list, name, Length(name)) == 0) return true;
  return false;
}

bool IsReadable(const char* item) {
  char path[1024];
  Text text(path, sizeof(path));
  text.Add(item, static_cast<size_t>(ItemEnd(item) - item));
  // Without a folder the loader looks for it in its own.
  if (text.cut() || path[0] != '/') return true;
  const long answer = raw::Call(SYS_faccessat2, AT_FDCWD, raw::Arg(path), R_OK, AT_EACCESS);
  return answer != -ENOENT && answer != -EACCES && answer != -ENOTDIR;
}

struct Head {
  alignas(Elf64_Ehdr) char bytes[1024];
  long size;
};

// An executable of this machine, by reading. Nothing in it is trusted: what cannot be read is
// empty.
class Executable {
 public:
  Executable(long fd, const Elf64_Ehdr& header) : fd_(fd) {
    count_ = header.e_phnum < kMostSegments ? header.e_phnum : kMostSegments;
    const auto bytes = static_cast<long>(count_ * sizeof(Elf64_Phdr));
    if (header.e_phentsize != sizeof(Elf64_Phdr) || !Read(segments_, bytes, header.e_phoff))
      count_ = 0;
  }

  // The loader that it names; "": none.
  void Interpreter(char* path, size_t capacity) const {
    path[0] = 0;
    const Elf64_Phdr* segment = Find(PT_INTERP);
    if (segment == nullptr || segment->p_filesz == 0 || segment->p_filesz >= capacity) return;
    const auto bytes = static_cast<long>(segment->p_filesz);
    path[Read(path, bytes, segment->p_offset) ? bytes : 0] = 0;
  }

  // Calls visit(name) for each library that it needs, with the first bytes of the name, until it
  // answers false.
  template <typename Visit>
  void ForEachNeeded(Visit visit) const {
    const Elf64_Phdr* segment = Find(PT_DYNAMIC);
    if (segment == nullptr) return;
    const uint64_t names = OffsetOf(*segment, DT_STRTAB);
    ForEachEntry(*segment, [&](const Elf64_Dyn& entry) {
      char name[32];
      if (entry.d_tag != DT_NEEDED || names == 0) return true;
      const long n = raw::Call(SYS_pread64, fd_, raw::Arg(name), sizeof(name) - 1,
                               static_cast<long>(names + entry.d_un.d_val));
      name[n > 0 ? n : 0] = 0;
      return visit(name);
    });
  }

  // Whether the file defines and exports one of these functions. By the GNU hash section: counts, a
  // Bloom filter, buckets, and chains of hashes whose lowest bit ends a chain. Two names with one
  // hash are not told apart: no program has such a name by chance.
  template <size_t kCount>
  bool Exports(const char* const (&names)[kCount]) const {
    const Elf64_Phdr* dynamic = Find(PT_DYNAMIC);
    const uint64_t table = dynamic == nullptr ? 0 : OffsetOf(*dynamic, DT_GNU_HASH);
    HashTable head;
    if (table == 0 || !Read(&head, sizeof(head), table) || head.buckets == 0 || head.words == 0 ||
        head.shift > 31)
      return false;
    for (const char* name : names)
      if (HasHash(head, table + sizeof(head), HashOf(name))) return true;
    return false;
  }

 private:
  struct HashTable {
    uint32_t buckets, first, words, shift;
  };
  static constexpr uint32_t kMostChain = 64;

  static uint32_t HashOf(const char* name) {
    uint32_t hash = 5381;
    for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
  }

  bool HasHash(const HashTable& head, uint64_t filter, uint32_t hash) const {
    uint64_t word = 0;
    if (!Read(&word, sizeof(word), filter + hash / 64 % head.words * sizeof(word))) return false;
    if ((word >> hash % 64 & word >> (hash >> head.shift) % 64 & 1) == 0) return false;
    const uint64_t buckets = filter + head.words * sizeof(word);
    uint32_t index = 0;
    Read(&index, sizeof(index), buckets + hash % head.buckets * sizeof(index));
    if (index < head.first) return false;
    const uint64_t chains = buckets + head.buckets * sizeof(index);
    for (uint32_t i = 0; i < kMostChain; ++i) {
      uint32_t entry = 1;
      Read(&entry, sizeof(entry), chains + (uint64_t{index} - head.first + i) * sizeof(entry));
      if ((entry | 1) == (hash | 1)) return true;
      if ((entry & 1) != 0) return false;
    }
    return false;
  }

  static constexpr size_t kMostSegments = 32;
  static constexpr size_t kMostEntries = 1024;

  bool Read(void* to, long bytes, uint64_t offset) const {
    return raw::Call(SYS_pread64, fd_, raw::Arg(static_cast<char*>(to)), bytes,
                     static_cast<long>(offset)) == bytes;
  }

  const Elf64_Phdr* Find(uint32_t type) const {
    for (size_t i = 0; i < count_; ++i)
      if (segments_[i].p_type == type) return &segments_[i];
    return nullptr;
  }

  template <typename Visit>
  void ForEachEntry(const Elf64_Phdr& segment, Visit visit) const {
    Elf64_Dyn entries[32];
    size_t left = segment.p_filesz / sizeof(Elf64_Dyn);
    if (left > kMostEntries) left = kMostEntries;
    for (uint64_t at = segment.p_offset; left > 0; at += sizeof(entries)) {
      const size_t count = left < 32 ? left : 32;
      if (!Read(entries, static_cast<long>(count * sizeof(Elf64_Dyn)), at)) return;
      for (size_t i = 0; i < count; ++i)
        if (entries[i].d_tag == DT_NULL || !visit(entries[i])) return;
      left -= count;
    }
  }

  // Where a table of the loader is in the file; 0: not known.
  uint64_t OffsetOf(const Elf64_Phdr& dynamic, int64_t tag) const {
    uint64_t address = 0;
    ForEachEntry(dynamic, [&](const Elf64_Dyn& entry) {
      if (entry.d_tag == tag) address = entry.d_un.d_ptr;
      return address == 0;
    });
    for (size_t i = 0; i < count_; ++i) {
      const Elf64_Phdr& segment = segments_[i];
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    }
    return 0;
  }

  long fd_;
  size_t count_ = 0;
  Elf64_Phdr segments_[kMostSegments];
};

[[gnu::noinline]] ExecObstacle OfElf(long fd, const Head& head) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(head.bytes);
  if (head.size < static_cast<long>(sizeof(header))) return ExecObstacle::kNone;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine)
    return ExecObstacle::kWordSize;
  const Executable executable(fd, header);
  char interpreter[256];
  executable.Interpreter(interpreter, sizeof(interpreter));
  if (interpreter[0] != 0 && !BeginsWith(BaseName(interpreter), proto::kGlibcLoaders))
    return ExecObstacle::kOtherLibc;
  ExecObstacle obstacle = ExecObstacle::kNone;
  executable.ForEachNeeded([&](const char* name) {
    if (BeginsWith(name, proto::kSanitizerRuntimes)) obstacle = ExecObstacle::kSanitizer;
    return obstacle == ExecObstacle::kNone;
  });
  if (obstacle == ExecObstacle::kNone && executable.Exports(proto::kSanitizerFunctions))
    obstacle = ExecObstacle::kSanitizer;
  return obstacle;
}

// The program behind "#!", if the file is a script. Its end is a space, a tab or a newline.
bool ReadScript(const Head& head, char* interpreter, size_t capacity) {
  if (head.size < 2 || head.bytes[0] != '#' || head.bytes[1] != '!') return false;
  long at = 2;
  const auto is_blank = [&](long i) { return head.bytes[i] == ' ' || head.bytes[i] == '\t'; };
  while (at < head.size && is_blank(at)) ++at;
  const long begin = at;
  while (at < head.size && !is_blank(at) && head.bytes[at] != '\n') ++at;
  Text text(interpreter, capacity);
  text.Add(head.bytes + begin, static_cast<size_t>(at - begin));
  return at < head.size && !text.cut();
}

// Finds the obstacle of a file, whatever the environment says.
ExecObstacle OfFile(const char* path, int depth) {
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ExecObstacle::kNone;
  Head head;
  head.size = raw::Call(SYS_read, fd, raw::Arg(head.bytes), sizeof(head.bytes));
  const bool is_elf = head.size > EI_CLASS && __builtin_memcmp(head.bytes, ELFMAG, SELFMAG) == 0;
  ExecObstacle obstacle = is_elf ? OfElf(fd, head) : ExecObstacle::kNone;
  raw::Call(SYS_close, fd);
  char interpreter[256];
  if (depth < kMostInterpreters && ReadScript(head, interpreter, sizeof(interpreter)))
    obstacle = OfFile(interpreter, depth + 1);
  return obstacle;
}

}  // namespace

ExecObstacle FindObstacle(const char* path, char* const envp[]) noexcept {
  if (envp == nullptr) return ExecObstacle::kNone;
  const char* item = nullptr;
  bool is_watched = false;
  bool has_sanitizer = false;
  for (char* const* entry = envp; *entry != nullptr; ++entry) {
    is_watched |= BeginsWith(*entry, proto::kWatchingVariables);
    if (!IsPreload(*entry) || item != nullptr) continue;
    item = FindObject(*entry);
    is_watched |= NamesWatcher(*entry);
    has_sanitizer = NamesSanitizer(*entry + kPreloadBytes);
  }
  if (item == nullptr) return ExecObstacle::kNone;
  if (!IsReadable(item)) return ExecObstacle::kUnreachable;
  if (is_watched) return ExecObstacle::kOtherTool;
  const ExecObstacle obstacle = path == nullptr ? ExecObstacle::kNone : OfFile(path, 0);
  // Its runtime comes first, as `gpuprof run` puts it for the command itself.
  const bool is_first = obstacle == ExecObstacle::kSanitizer && has_sanitizer;
  return is_first ? ExecObstacle::kNone : obstacle;
}

bool IsWatched() noexcept {
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (IsPreload(*entry) && NamesWatcher(*entry)) return true;
  return false;
}

bool HasLostObject(const char* path, char* const envp[]) noexcept {
  if (envp == nullptr || InjectPath()[0] != '/') return false;
  constexpr size_t kBundleBytes = sizeof(proto::kEnvBundle) - 1;
  const char* preload = nullptr;
  bool is_recorded = false;
  for (char* const* entry = envp; *entry != nullptr; ++entry) {
    if (IsPreload(*entry)) preload = *entry;
    if (BeginsWith(*entry, proto::kWatchingVariables)) return false;
    is_recorded |= __builtin_strncmp(*entry, proto::kEnvBundle, kBundleBytes) == 0 &&
                   (*entry)[kBundleBytes] == '=' && (*entry)[kBundleBytes + 1] != 0;
  }
  if (!is_recorded || preload == nullptr || preload[kPreloadBytes] == 0) return false;
  if (FindObject(preload) != nullptr || NamesWatcher(preload) || !IsReadable(InjectPath()))
    return false;
  return path == nullptr || OfFile(path, 0) == ExecObstacle::kNone;
}

EnvironmentSize SizeOf(char* const envp[]) noexcept {
  EnvironmentSize size = {1, Length(InjectPath()) + 2};
  for (char* const* entry = envp; *entry != nullptr; ++entry, ++size.entries)
    if (IsPreload(*entry)) size.preload_bytes += Length(*entry) + 1;
  return size;
}

void WithObject(char* const envp[], char** entries, char* preload) noexcept {
  size_t count = 0;
  bool is_done = false;
  for (char* const* entry = envp; *entry != nullptr; ++entry) {
    if (!IsPreload(*entry) || is_done) {
      entries[count++] = *entry;
      continue;
    }
    is_done = true;
    const char* others = *entry + kPreloadBytes;
    const bool is_last = NamesSanitizer(others);
    const size_t bytes = kPreloadBytes + Length(others) + Length(InjectPath()) + 2;
    Text text(preload, bytes);
    text.Add(kPreload).Add(is_last ? others : InjectPath()).Add(":");
    text.Add(is_last ? InjectPath() : others);
    entries[count++] = preload;
  }
  entries[count] = nullptr;
}

void WithoutObject(char* const envp[], char** entries, char* preload) noexcept {
  size_t count = 0;
  for (char* const* entry = envp; *entry != nullptr; ++entry) {
    const char* end = *entry + Length(*entry);
    if (!IsPreload(*entry)) {
      // The variables by which CUDA, NVTX and ITT load the object.
      if (!IsObject(*entry, end)) entries[count++] = *entry;
      continue;
    }
    char* at = preload;
    __builtin_memcpy(at, kPreload, kPreloadBytes);
    at += kPreloadBytes;
    for (const char* item = *entry + kPreloadBytes; *item != 0;) {
      const char* item_end = ItemEnd(item);
      if (item_end != item && !IsObject(item, item_end)) {
        if (at != preload + kPreloadBytes) *at++ = ':';
        __builtin_memcpy(at, item, static_cast<size_t>(item_end - item));
        at += item_end - item;
      }
      item = *item_end == 0 ? item_end : item_end + 1;
    }
    *at++ = 0;
    if (preload[kPreloadBytes] != 0) entries[count++] = preload;
    preload = at;
  }
  entries[count] = nullptr;
}

}  // namespace gpuprof::inject
