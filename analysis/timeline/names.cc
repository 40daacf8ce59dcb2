// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See names.h.

#include "analysis/timeline/names.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "analysis/base/utf8.h"
#include "analysis/derived/call_name.h"
#include "analysis/model/names.h"
#include "analysis/steps/op_tree.h"
#include "analysis/symbols/kernel_rule_file.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/short_names.h"
#include "proto/operations.h"

namespace gpuprof::analysis::timeline {
namespace {

constexpr size_t kMostLetters = 400;

// Returns the first letters of a long text, with an ellipsis.
std::string Cut(std::string_view text) {
  if (text.size() <= kMostLetters) return std::string(text);
  size_t at = 0;
  for (size_t letters = 0; at < text.size(); ++letters) {
    if (letters == kMostLetters) return std::string(text.substr(0, at)) + "…";
    at += std::max<size_t>(CodePointBytes(text.substr(at)), 1);
  }
  return std::string(text);
}

bool IsLoader(std::string_view name) {
  return KindOfName(name) == NameKind::kLoaderNext ||
         name.find("DataLoader") != std::string_view::npos ||
         name.find("dataloader") != std::string_view::npos;
}

// Says what is waited for.
std::string SyncName(uint32_t operation) {
  const std::string_view kind = SyncKindName(operation & 0xff);
  if (kind == "event") return "wait for an event";
  if (kind == "stream_wait") return "stream waits for an event";
  if (kind == "stream") return "wait for the stream";
  if (kind == "context") return "wait for the device";
  return "wait";
}

std::string WithoutUnderscores(std::string_view word) {
  std::string text(word);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Returns the word of a code, or its number.
std::string WordOr(std::string_view word, uint32_t code) {
  return word.empty() ? std::to_string(code) : std::string(word);
}

}  // namespace

uint32_t NameTable::Add(std::string_view text, SpanClass cls, std::string_view full) {
  std::string cut = Cut(text);
  const bool has_full = full != cut;
  std::string key(1, static_cast<char>(cls));
  key += cut;
  if (has_full) key.append(1, '\0').append(full);
  const auto [at, is_new] = known_.try_emplace(std::move(key), static_cast<uint32_t>(size()));
  if (is_new) names_.push_back({std::move(cut), has_full ? std::string(full) : "", cls});
  return at->second;
}

void KernelNames::FindShortNames() {
  has_short_names_ = true;
  std::set<std::string> full;
  for (const Process& process : trace_->processes) {
    std::unordered_set<uint32_t> signatures;
    for (const Track& track : process.tracks) {
      const Column<uint32_t>::Reader keys(track.kernel.signature);
      uint32_t last = 0;
      for (size_t row = 0; row < track.kernel.rows(); ++row) {
        const uint32_t key = keys[row];
        if (row != 0 && key == last) continue;
        signatures.insert(last = key);
      }
    }
    for (const uint32_t id : signatures) {
      const auto found = process.signatures.find(id);
      full.insert(Demangle(
          process.String(found == process.signatures.end() ? 0 : found->second.name()).c_str()));
    }
  }
  short_names_ = ShortKernelNames(full);
}

KernelNames::Name KernelNames::Of(const Process& process, uint32_t signature) {
  if (!has_short_names_) FindShortNames();
  const auto found = process.signatures.find(signature);
  Name name;
  const uint32_t id = found == process.signatures.end() ? 0 : found->second.name();
  name.full = Demangle(process.String(id).c_str());
  const auto known = short_names_.find(name.full);
  name.short_name = known == short_names_.end() ? name.full : known->second;
  name.cls = ClassOfFamily(FamilyOf(process, name.full));
  return name;
}

std::string KeyNames::Text(uint32_t id, const char* none) const {
  std::string text = process_->String(id);
  return text.empty() ? none : text;
}

uint32_t KeyNames::Find(uint32_t key) {
  constexpr uint32_t kFew = 65536;
  if (key < kFew) {
    if (key >= few_.size()) few_.resize(std::max<size_t>(key + 1, 2 * few_.size()), kUnknown);
    few_[key] = Make(key);
    return few_[key];
  }
  const auto known = many_.find(key);
  if (known != many_.end()) return known->second;
  const uint32_t name = Make(key);
  many_.emplace(key, name);
  return name;
}

uint32_t KeyNames::Make(uint32_t key) {
  using proto::ChunkKind;
  switch (kind_) {
    case ChunkKind::kKernel: {
      const KernelNames::Name name = kernels_->Of(*process_, key);
      if (name.short_name.empty())
        return names_->Add("(kernel without a name)", name.cls, name.full);
      return names_->Add(name.short_name, name.cls, name.full);
    }
    case ChunkKind::kMemcpy:
      return names_->Add("Memcpy " + std::string(CopyKindName(key & 0xff)), SpanClass::kMemcpy);
    case ChunkKind::kMemset:
      return names_->Add("Memset " + std::string(MemoryKindName(key >> 16 & 0xff)),
                         SpanClass::kMemset);
    case ChunkKind::kGraphLaunch:
      return names_->Add("CUDA graph " + std::to_string(key), SpanClass::kOther);
    case ChunkKind::kApi: {
      const std::string name = ApiFunctionName(*process_, key);
      const bool is_wait = name.find("Synchronize") != std::string::npos;
      return names_->Add(name, is_wait ? SpanClass::kSync : SpanClass::kApi);
    }
    case ChunkKind::kOp: {
      const std::string name = Text(key, "(operation without a name)");
      return names_->Add(name, IsLoader(name) ? SpanClass::kInput : SpanClass::kOp);
    }
    case ChunkKind::kPython:
      return names_->Add(Text(key, "(function without a name)"), SpanClass::kPython);
    case ChunkKind::kGcPause:
      return names_->Add("garbage collection " + std::to_string(key), SpanClass::kOther);
    case ChunkKind::kRange:
      return names_->Add(Text(key, "(range without a message)"), SpanClass::kRange);
    case ChunkKind::kHostFunction:
      return names_->Add("host function", SpanClass::kSync);
    case ChunkKind::kSync:
      return names_->Add(SyncName(key), SpanClass::kSync);
    case ChunkKind::kOverhead:
      return names_->Add(WithoutUnderscores(WordOr(OverheadName(key), key)), SpanClass::kOther);
    case ChunkKind::kWait:
      return names_->Add(WordOr(WaitKindName(key & 0xff), key & 0xff) + " wait", SpanClass::kWait);
    case ChunkKind::kFileRead:
      return names_->Add(Text(key, "(file not known)"), SpanClass::kFile);
    default:
      return names_->Add("step " + std::to_string(key), SpanClass::kRange);
  }
}

}  // namespace gpuprof::analysis::timeline
