// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_outlines.h.

#include "launcher/serve/page_outlines.h"

#include <malloc.h>

#include <charconv>
#include <utility>

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostKept = 256;
constexpr size_t kMostTables = 16;
constexpr char kFirstClass = 'a', kLastClass = 'z';

// Takes a number and the letter of a class from the front of a text.
bool TakePair(std::string_view* text, uint32_t* number, uint8_t* cls) {
  const auto read = std::from_chars(text->data(), text->data() + text->size(), *number);
  text->remove_prefix(static_cast<size_t>(read.ptr - text->data()));
  if (read.ec != std::errc() || text->empty()) return false;
  const char letter = text->front();
  if (letter < kFirstClass || letter > kLastClass) return false;
  *cls = static_cast<uint8_t>(letter - kFirstClass);
  text->remove_prefix(1);
  return true;
}

// Takes a character that must be there.
bool TakeOne(std::string_view* text, char wanted) {
  if (!text->starts_with(wanted)) return false;
  text->remove_prefix(1);
  return true;
}

bool ReadTable(std::string_view* text, analysis::OutlineTable* table) {
  if (!TakePair(text, &table->kind, &table->cls)) return false;
  while (TakeOne(text, '.')) {
    uint32_t key = 0;
    uint8_t cls = 0;
    if (!TakePair(text, &key, &cls)) return false;
    table->classes[key] = cls;
  }
  return true;
}

}  // namespace

bool PageOutlines::Read(std::string_view text, analysis::OutlineRequest* request) {
  const size_t tables_at = text.rfind('/');
  if (tables_at == std::string_view::npos || tables_at == 0) return false;
  const size_t track_at = text.rfind('/', tables_at - 1);
  if (track_at == std::string_view::npos) return false;
  request->file = text.substr(0, track_at);
  const std::string_view track = text.substr(track_at + 1, tables_at - track_at - 1);
  const auto read = std::from_chars(track.data(), track.data() + track.size(), request->track);
  if (read.ec != std::errc() || read.ptr != track.data() + track.size()) return false;
  text.remove_prefix(tables_at + 1);
  do {
    if (request->tables.size() == kMostTables) return false;
    if (!ReadTable(&text, &request->tables.emplace_back())) return false;
  } while (TakeOne(&text, ','));
  return text.empty();
}

std::shared_ptr<const analysis::Outlines> PageOutlines::Open(std::string* fault) {
  const std::lock_guard lock(mutex_);
  if (outlines_ != nullptr) return outlines_;
  std::unique_ptr<analysis::Outlines> opened;
  if (const analysis::Error error = analysis::Outlines::Open(input_, &opened)) {
    *fault = error.message;
    return nullptr;
  }
  return outlines_ = std::move(opened);
}

PageAnswer PageOutlines::Make(const analysis::OutlineRequest& request) {
  PageAnswer answer;
  const std::shared_ptr<const analysis::Outlines> outlines = Open(&answer.fault);
  if (outlines == nullptr) return answer;
  std::string bytes;
  if (const analysis::Error error = outlines->Make(request, &bytes)) {
    answer.fault = error.message;
    return answer;
  }
  return KeepResult(bytes);
}

std::shared_ptr<const PageAnswer> PageOutlines::Find(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto known = kept_.find(text);
  return known == kept_.end() ? nullptr : known->second;
}

std::shared_ptr<const PageAnswer> PageOutlines::Get(const std::string& text,
                                                    const analysis::OutlineRequest& request) {
  if (auto known = Find(text)) return known;
  const std::lock_guard turn(making_);
  // Another thread may have made it meanwhile.
  if (auto known = Find(text)) return known;
  is_busy_ = true;
  auto answer = std::make_shared<const PageAnswer>(Make(request));
  is_busy_ = false;
  // The rows are gone: their memory goes back to the machine.
  malloc_trim(0);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_[text] = answer;
  return answer;
}

}  // namespace gpuprof::launcher
