// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of a pickle or of JSON behind one face, so that a reader of dumps is written once. A value
// that is missing is null. Any thread for different readers.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analysis/import/pickle_reader.h"

namespace gpuprof::analysis::import {

inline constexpr size_t kMostNameBytes = 1'000;

class PickleDumpValue {
 public:
  PickleDumpValue() = default;
  PickleDumpValue(const PickleReader* reader, PickleValue value)
      : reader_(reader), value_(reader->Resolve(value)) {}

  bool IsMap() const { return Is(PickleKind::kDict); }
  bool IsList() const {
    return Is(PickleKind::kList) || Is(PickleKind::kTuple) || Is(PickleKind::kSet);
  }
  bool IsNull() const { return reader_ == nullptr || Is(PickleKind::kNone); }
  // Counts the elements of a list, or the members of a map.
  size_t size() const {
    size_t count = 0;
    if (reader_ != nullptr) reader_->Items(value_, &count);
    return IsMap() ? count / 2 : count;
  }
  PickleDumpValue At(size_t i) const { return Item(i); }
  // Calls `take(key, value)` for the members of a map, at most for `most`.
  template <typename Take>
  void ForEachMember(size_t most, const Take& take) const {
    for (size_t i = 0; IsMap() && i < std::min(size(), most); ++i)
      take(Item(2 * i).AsKey(), Item(2 * i + 1));
  }
  PickleDumpValue Find(std::string_view key) const {
    if (!IsMap()) return {};
    for (size_t i = 0; i < std::min(size(), kMostKeys); ++i)
      if (Item(2 * i).Text() == key) return Item(2 * i + 1);
    return {};
  }
  std::string_view Text() const {
    return reader_ == nullptr ? std::string_view() : reader_->Text(value_);
  }
  bool Int(int64_t* number) const { return reader_ != nullptr && reader_->Int(value_, number); }

 private:
  // A map with more keys is none of a dump. Many entries may share it.
  static constexpr size_t kMostKeys = 256;
  bool Is(PickleKind kind) const { return reader_ != nullptr && value_.kind() == kind; }
  PickleDumpValue Item(size_t i) const {
    size_t count = 0;
    const PickleValue* const items = reader_ == nullptr ? nullptr : reader_->Items(value_, &count);
    return items == nullptr || i >= count ? PickleDumpValue() : PickleDumpValue(reader_, items[i]);
  }
  // Returns a key, which may be a number.
  std::string AsKey() const {
    int64_t number = 0;
    if (Text().empty() && Int(&number)) return std::to_string(number);
    return std::string(Text().substr(0, kMostNameBytes));
  }

  const PickleReader* reader_ = nullptr;
  PickleValue value_;
};

class JsonDumpValue {
 public:
  JsonDumpValue() = default;
  explicit JsonDumpValue(const nlohmann::json* json) : json_(json) {}

  bool IsMap() const { return json_ != nullptr && json_->is_object(); }
  bool IsList() const { return json_ != nullptr && json_->is_array(); }
  bool IsNull() const { return json_ == nullptr || json_->is_null(); }
  size_t size() const { return IsMap() || IsList() ? json_->size() : 0; }
  JsonDumpValue At(size_t i) const {
    return IsList() && i < json_->size() ? JsonDumpValue(&(*json_)[i]) : JsonDumpValue();
  }
  template <typename Take>
  void ForEachMember(size_t most, const Take& take) const {
    if (!IsMap()) return;
    for (auto at = json_->begin(); at != json_->end() && most != 0; ++at, --most)
      take(at.key().substr(0, kMostNameBytes), JsonDumpValue(&at.value()));
  }
  JsonDumpValue Find(std::string_view key) const {
    if (!IsMap()) return {};
    const auto found = json_->find(key);
    return found == json_->end() ? JsonDumpValue() : JsonDumpValue(&*found);
  }
  std::string_view Text() const {
    const auto* text =
        json_ == nullptr ? nullptr : json_->get_ptr<const nlohmann::json::string_t*>();
    return text == nullptr ? std::string_view() : std::string_view(*text);
  }
  bool Int(int64_t* number) const {
    if (json_ == nullptr) return false;
    if (json_->is_boolean()) {
      *number = json_->get<bool>() ? 1 : 0;
    } else if (json_->is_number_unsigned()) {
      if (json_->get<uint64_t>() > INT64_MAX) return false;
      *number = static_cast<int64_t>(json_->get<uint64_t>());
    } else if (json_->is_number_integer()) {
      *number = json_->get<int64_t>();
    } else if (json_->is_number_float() && std::abs(json_->get<double>()) < 9.2e18) {
      *number = static_cast<int64_t>(json_->get<double>());
    } else {
      return false;
    }
    return true;
  }

 private:
  const nlohmann::json* json_ = nullptr;
};

}  // namespace gpuprof::analysis::import
