// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values that copies share until one of them changes. One thread changes a value, before others
// read it.

#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

namespace gpuprof::analysis {

template <typename T>
class Shared {
 public:
  const T& operator*() const {
    static const T none;
    return value_ == nullptr ? none : *value_;
  }
  const T* operator->() const { return &**this; }
  // Returns the value for a change. Copies that were made before keep the old one.
  T& Own() {
    if (value_ == nullptr) value_ = std::make_shared<T>();
    if (value_.use_count() != 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<T> value_;  // null: the first value of a T
};

// A map with the standard's interface, as far as it is used.
template <typename Key, typename Value>
class SharedMap {
 public:
  using Map = std::unordered_map<Key, Value>;

  // Reads as a map of the standard does. NOLINTBEGIN(readability-identifier-naming)
  typename Map::const_iterator begin() const { return map_->begin(); }
  typename Map::const_iterator end() const { return map_->end(); }
  typename Map::const_iterator find(const Key& key) const { return map_->find(key); }
  size_t size() const { return map_->size(); }
  bool empty() const { return map_->empty(); }
  size_t count(const Key& key) const { return map_->count(key); }
  const Value& at(const Key& key) const { return map_->at(key); }
  Value& operator[](const Key& key) { return map_.Own()[key]; }
  template <typename Given>
  bool emplace(const Key& key, Given&& value) {
    return map_.Own().emplace(key, std::forward<Given>(value)).second;
  }
  // NOLINTEND(readability-identifier-naming)

  friend bool operator==(const SharedMap& x, const SharedMap& y) { return *x.map_ == *y.map_; }

 private:
  Shared<Map> map_;
};

}  // namespace gpuprof::analysis
