// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/module_map.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "proto/codec/tables.h"

namespace gpuprof::tracer {

struct ModuleMap::Scan {
  ModuleMap* map;
  uint64_t now;
  std::vector<uint8_t>* out;
  uint32_t changed;
  bool first;
};

namespace {

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

void FindPath(const dl_phdr_info& info, bool first, std::vector<char>* path) {
  if (info.dlpi_name != nullptr && info.dlpi_name[0] != 0) {
    path->assign(info.dlpi_name, info.dlpi_name + strlen(info.dlpi_name));
    return;
  }
  if (!first) return;  // only the executable itself has no name
  char target[1024];
  const ssize_t n = readlink("/proc/self/exe", target, sizeof(target));
  if (n > 0) path->assign(target, target + n);
}

}  // namespace

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

int ModuleMap::Visit(dl_phdr_info* info, unsigned long, void* opaque) {
  Scan* scan = static_cast<Scan*>(opaque);
  ModuleMap* map = scan->map;
  const bool first = scan->first;
  if (first) {
    if (info->dlpi_adds == map->adds_ && info->dlpi_subs == map->subs_)
      return 1;  // nothing happened
    map->adds_ = info->dlpi_adds;
    map->subs_ = info->dlpi_subs;
    for (Module& module : map->modules_) module.mapped = false;
  }
  scan->first = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t start = info->dlpi_addr + segment.p_vaddr;
    const uint64_t end = start + segment.p_memsz;
    bool known = false;
    for (Module& module : map->modules_) {
      if (module.start != start || module.end != end || module.bias != info->dlpi_addr) continue;
      module.mapped = known = true;
    }
    if (known) continue;
    Module module = {start, end, info->dlpi_addr, scan->now, {}, {}, true};
    FindPath(*info, first, &module.path);
    for (int j = 0; j < info->dlpi_phnum && module.build_id.empty(); ++j) {
      const ElfW(Phdr)& note = info->dlpi_phdr[j];
      if (note.p_type != PT_NOTE) continue;
      const char* at = reinterpret_cast<const char*>(info->dlpi_addr + note.p_vaddr);
      FindBuildId(at, at + note.p_memsz, &module.build_id);
    }
    Append(module, 0, scan->out);
    ++scan->changed;
    map->modules_.push_back(module);
  }
  return 0;
}

uint32_t ModuleMap::Update(uint64_t now_ticks, std::vector<uint8_t>* out) {
  Scan scan = {this, now_ticks, out, 0, true};
  const bool complete = dl_iterate_phdr(&ModuleMap::Visit, &scan) == 0;
  if (!complete) return 0;
  for (size_t i = 0; i < modules_.size();) {
    if (modules_[i].mapped) {
      ++i;
      continue;
    }
    Append(modules_[i], now_ticks, out);
    ++scan.changed;
    if (i + 1 != modules_.size()) modules_[i] = modules_.back();
    modules_.pop_back();
  }
  return scan.changed;
}

}  // namespace gpuprof::tracer
