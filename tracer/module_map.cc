// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/module_map.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "proto/codec/tables.h"
#include "tracer/mapped_path.h"

namespace gpuprof::tracer {

struct ModuleMap::Scan {
  ModuleMap* map;
  proto::ClockKind clock;
  uint64_t now;
  std::vector<uint8_t>* out;
  uint32_t changed;
  size_t next;  // where the next module is likely to be found
  bool first;
};

namespace {

constexpr size_t kMostPathBytes = 4096;

// The newest map's adds_ and subs_, for threads that have no map.
std::atomic<uint64_t> g_adds{0}, g_subs{0};

uint64_t Align4(uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; }

// The GNU build id among the notes of one segment.
void FindBuildId(const char* note, const char* end, std::vector<char>* build_id) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    memcpy(&header, note, sizeof(header));
    const char* name = note + sizeof(header);
    const char* content = name + Align4(header.n_namesz);
    const char* next = content + Align4(header.n_descsz);
    if (next > end || next <= note) return;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      build_id->assign(content, content + header.n_descsz);
      return;
    }
    note = next;
  }
}

void FindBuildId(const dl_phdr_info& info, std::vector<char>* build_id) {
  for (int i = 0; i < info.dlpi_phnum && build_id->empty(); ++i) {
    const ElfW(Phdr)& note = info.dlpi_phdr[i];
    if (note.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + note.p_vaddr);
    FindBuildId(at, at + note.p_memsz, build_id);
  }
}

// A library that was asked for by a relative path has one in the loader's list, and the program may
// have gone elsewhere since: the kernel knows where it is. What has no folder at all is no file
// (linux-vdso.so.1).
void FindPath(uint64_t start, const std::vector<char>& name, bool first, std::vector<char>* path) {
  char target[kMostPathBytes];
  if (!name.empty()) {
    *path = name;
    if (name[0] == '/' || memchr(name.data(), '/', name.size()) == nullptr) return;
    const uint32_t bytes = MappedPath(start, target, sizeof(target));
    if (bytes != 0) path->assign(target, target + bytes);
    return;
  }
  if (!first) return;  // only the executable itself has no name
  const ssize_t n = readlink("/proc/self/exe", target, sizeof(target));
  if (n > 0) path->assign(target, target + n);
}

}  // namespace

ModuleMap::ModuleMap() {
  g_adds.store(0, std::memory_order_relaxed);
  g_subs.store(0, std::memory_order_relaxed);
}

void ModuleMap::Append(const Module& module, uint64_t last_seen, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  const uint64_t mark = writer.Begin(1);
  writer.Bytes(1, module.path.data(), module.path.size());
  writer.Fixed64(2, module.start);
  writer.Fixed64(3, module.end);
  writer.Fixed64(4, module.bias);
  writer.Bytes(5, module.build_id.data(), module.build_id.size());
  writer.Varint(6, module.first_seen);
  if (last_seen != 0) writer.Varint(7, last_seen);
  writer.End(mark);
}

// The loader mostly lists modules in the order in which they came: a thousand of them are not to be
// compared with a thousand.
bool ModuleMap::FindKnown(const Module& module, size_t* next) {
  for (size_t i = 0; i < modules_.size(); ++i) {
    const size_t at = (*next + i) % modules_.size();
    Module& known = modules_[at];
    if (known.start != module.start || known.end != module.end || known.bias != module.bias)
      continue;
    // Another of the same size may have come in its place.
    if (known.name != module.name || known.build_id != module.build_id) continue;
    *next = at + 1;
    return known.mapped = true;
  }
  return false;
}

int ModuleMap::Visit(dl_phdr_info* info, unsigned long, void* opaque) {
  Scan* scan = static_cast<Scan*>(opaque);
  ModuleMap* map = scan->map;
  const bool first = scan->first;
  if (first) {
    if (info->dlpi_adds == map->adds_ && info->dlpi_subs == map->subs_)
      return 1;  // nothing happened
    map->adds_ = info->dlpi_adds;
    map->subs_ = info->dlpi_subs;
    g_adds.store(map->adds_, std::memory_order_relaxed);
    g_subs.store(map->subs_, std::memory_order_relaxed);
    for (Module& module : map->modules_) module.mapped = false;
    // Not before the loader's lock was had: what is missing from here on has gone by now.
    scan->now = proto::ReadTicks(scan->clock);
  }
  scan->first = false;
  Module module = {0, 0, info->dlpi_addr, scan->now, {}, {}, {}, true};
  if (info->dlpi_name != nullptr)
    module.name.assign(info->dlpi_name, info->dlpi_name + strlen(info->dlpi_name));
  FindBuildId(*info, &module.build_id);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    module.start = info->dlpi_addr + segment.p_vaddr;
    module.end = module.start + segment.p_memsz;
    if (map->FindKnown(module, &scan->next)) continue;
    if (module.path.empty()) FindPath(module.start, module.name, first, &module.path);
    Append(module, 0, scan->out);
    ++scan->changed;
    map->modules_.push_back(module);
  }
  return 0;
}

uint32_t ModuleMap::Update(proto::ClockKind clock, std::vector<uint8_t>* out) {
  Scan scan = {this, clock, 0, out, 0, 0, true};
  const bool complete = dl_iterate_phdr(&ModuleMap::Visit, &scan) == 0;
  if (!complete) return 0;
  for (size_t i = 0; i < modules_.size();) {
    if (modules_[i].mapped) {
      ++i;
      continue;
    }
    Append(modules_[i], scan.now, out);
    ++scan.changed;
    // In their order: see FindKnown.
    modules_.erase(modules_.begin() + static_cast<ptrdiff_t>(i));
  }
  return scan.changed;
}

bool ModuleMap::IsCurrent() {
  struct Counters {
    uint64_t adds = 0;
    uint64_t subs = 0;
  } counters;
  dl_iterate_phdr(
      [](dl_phdr_info* info, unsigned long, void* opaque) {
        *static_cast<Counters*>(opaque) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &counters);
  return counters.adds == g_adds.load(std::memory_order_relaxed) &&
         counters.subs == g_subs.load(std::memory_order_relaxed);
}

}  // namespace gpuprof::tracer
