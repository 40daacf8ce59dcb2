// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_kind.h.

#include "analysis/derived/call_kind.h"

#include <cstddef>

namespace gpuprof::analysis {
namespace {

struct CallRule {
  std::string_view piece;
  CallKind kind;
  bool is_end = false;  // the name ends with the piece
};

// The first rule that holds decides.
constexpr CallRule kRules[] = {
    {"Synchronize", CallKind::kWait, true},
    {"WaitEvent", CallKind::kWait},
    {"WaitExternal", CallKind::kWait},
    {"Launch", CallKind::kLaunch},
    {"Memcpy", CallKind::kCopy},
    {"Memset", CallKind::kCopy},
    {"MemPrefetch", CallKind::kCopy},
    {"Module", CallKind::kCode},
    {"Library", CallKind::kCode},
    {"Link", CallKind::kCode},
    {"FuncGet", CallKind::kCode},
    {"FuncSet", CallKind::kCode},
    {"KernelGet", CallKind::kCode},
    {"KernelSet", CallKind::kCode},
    {"GetFunction", CallKind::kCode},
    {"Occupancy", CallKind::kCode},
    {"Malloc", CallKind::kMemory},
    {"Free", CallKind::kMemory},
    {"HostAlloc", CallKind::kMemory},
    {"HostRegister", CallKind::kMemory},
    {"Array", CallKind::kMemory},
};

// Returns whether a name has "Mem" before another word: MemAlloc, MemGetInfo.
bool NamesMemory(std::string_view name) {
  for (size_t at = name.find("Mem"); at != std::string_view::npos; at = name.find("Mem", at + 1)) {
    if (at + 3 < name.size() && name[at + 3] >= 'A' && name[at + 3] <= 'Z') return true;
  }
  return false;
}

// Returns where the last suffix that begins with an underscore begins, if it is a variant or a
// version; otherwise the length.
size_t SuffixAt(std::string_view name) {
  const size_t at = name.rfind('_');
  if (at == std::string_view::npos || at == 0) return name.size();
  const std::string_view suffix = name.substr(at + 1);
  if (suffix == "ptsz" || suffix == "ptds") return at;
  const bool is_version = suffix.size() > 1 && suffix[0] == 'v' &&
                          suffix.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_version ? at : name.size();
}

}  // namespace

std::string_view PlainCallName(std::string_view name) {
  for (size_t at = SuffixAt(name); at != name.size(); at = SuffixAt(name))
    name = name.substr(0, at);
  return name;
}

CallKind CallKindOf(std::string_view name) {
  const std::string_view plain = PlainCallName(name);
  for (const CallRule& rule : kRules) {
    const size_t at = rule.is_end ? plain.rfind(rule.piece) : plain.find(rule.piece);
    if (at == std::string_view::npos) continue;
    if (!rule.is_end || at + rule.piece.size() == plain.size()) return rule.kind;
  }
  return NamesMemory(plain) ? CallKind::kMemory : CallKind::kOther;
}

std::string_view CallKindWord(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunch:
      return "launch";
    case CallKind::kCopy:
      return "copy";
    case CallKind::kWait:
      return "wait";
    case CallKind::kMemory:
      return "memory";
    case CallKind::kCode:
      return "code";
    case CallKind::kOther:
      break;
  }
  return "other";
}

}  // namespace gpuprof::analysis
