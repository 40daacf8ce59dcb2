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

// The interpreter of an ELF file; "" if it has none. False: it cannot be found out.
bool ReadInterpreter(long fd, const Elf64_Ehdr& header, char* path, size_t capacity) {
  path[0] = 0;
  for (unsigned i = 0; i < header.e_phnum && i < 64; ++i) {
    Elf64_Phdr segment;
    const auto at = static_cast<long>(header.e_phoff + i * sizeof(segment));
    if (raw::Call(SYS_pread64, fd, raw::Arg(&segment), sizeof(segment), at) !=
        static_cast<long>(sizeof(segment)))
      return false;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz >= capacity) return false;
    const long n = raw::Call(SYS_pread64, fd, raw::Arg(path), static_cast<long>(segment.p_filesz),
                             static_cast<long>(segment.p_offset));
    path[n > 0 ? n : 0] = 0;
    return n > 0;
  }
  return true;
}

ExecObstacle OfElf(long fd, const Head& head) {
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(head.bytes);
  if (head.size < static_cast<long>(sizeof(header))) return ExecObstacle::kNone;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine)
    return ExecObstacle::kWordSize;
  char interpreter[256];
  if (!ReadInterpreter(fd, header, interpreter, sizeof(interpreter))) return ExecObstacle::kNone;
  const char* name = BaseName(interpreter);
  const bool is_musl = __builtin_strncmp(name, "ld-musl", sizeof("ld-musl") - 1) == 0;
  return is_musl ? ExecObstacle::kOtherLibc : ExecObstacle::kNone;
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
  for (char* const* entry = envp; *entry != nullptr && item == nullptr; ++entry)
    if (IsPreload(*entry)) item = FindObject(*entry);
  if (item == nullptr) return ExecObstacle::kNone;
  if (!IsReadable(item)) return ExecObstacle::kUnreachable;
  return path == nullptr ? ExecObstacle::kNone : OfFile(path, 0);
}

bool HasLostObject(const char* path, char* const envp[]) noexcept {
  if (envp == nullptr || InjectPath()[0] != '/') return false;
  constexpr size_t kBundleBytes = sizeof(proto::kEnvBundle) - 1;
  const char* preload = nullptr;
  bool is_recorded = false;
  for (char* const* entry = envp; *entry != nullptr; ++entry) {
    if (IsPreload(*entry)) preload = *entry;
    is_recorded |= __builtin_strncmp(*entry, proto::kEnvBundle, kBundleBytes) == 0 &&
                   (*entry)[kBundleBytes] == '=' && (*entry)[kBundleBytes + 1] != 0;
  }
  if (!is_recorded || preload == nullptr || preload[kPreloadBytes] == 0) return false;
  if (FindObject(preload) != nullptr || !IsReadable(InjectPath())) return false;
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
