// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which tables of events somebody needs.

#pragma once

#include <bitset>
#include <initializer_list>

#include "proto/table_spec.h"

namespace gpuprof::analysis {

class TableSet {
 public:
  TableSet() = default;
  TableSet(std::initializer_list<proto::ChunkKind> kinds) {
    for (const proto::ChunkKind kind : kinds) kinds_.set(static_cast<size_t>(kind));
  }
  static TableSet All() {
    TableSet all;
    all.kinds_.set();
    return all;
  }

  bool Has(proto::ChunkKind kind) const {
    return static_cast<size_t>(kind) < kinds_.size() && kinds_.test(static_cast<size_t>(kind));
  }
  bool Intersects(const TableSet& other) const { return (other.kinds_ & kinds_).any(); }
  bool Contains(const TableSet& other) const { return (other.kinds_ & ~kinds_).none(); }
  friend TableSet operator|(TableSet x, const TableSet& y) {
    x.kinds_ |= y.kinds_;
    return x;
  }

 private:
  std::bitset<proto::kMostKinds> kinds_;
};

}  // namespace gpuprof::analysis
