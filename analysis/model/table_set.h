// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which tables of events somebody needs. Somebody who needs the calls of CUDA (kApi) may need only
// their ids. There are as many calls as kernels, and most of a call is in its other columns.

#pragma once

#include <bitset>
#include <initializer_list>

#include "proto/table_spec.h"

namespace gpuprof::analysis {

class TableSet {
 public:
  TableSet() = default;
  TableSet(std::initializer_list<proto::ChunkKind> kinds) {
    for (const proto::ChunkKind kind : kinds) {
      parts_.set(static_cast<size_t>(kind));
      if (kind == proto::ChunkKind::kApi) parts_.set(kCallIds);
    }
  }
  static TableSet All() {
    TableSet all;
    all.parts_.set();
    return all;
  }
  // Returns the set that has the ids of calls: ApiTable::correlation, and Track::late_api whole.
  static TableSet CallIds() {
    TableSet ids;
    ids.parts_.set(kCallIds);
    return ids;
  }

  // Returns whether all columns of a table are needed.
  bool Has(proto::ChunkKind kind) const {
    return static_cast<size_t>(kind) < kCallIds && parts_.test(static_cast<size_t>(kind));
  }
  bool HasCallIds() const { return parts_.test(kCallIds); }
  bool Intersects(const TableSet& other) const { return (other.parts_ & parts_).any(); }
  bool Contains(const TableSet& other) const { return (other.parts_ & ~parts_).none(); }
  // Returns the set without the tables of `other`. Without the calls, their ids are not needed
  // either.
  TableSet Without(const TableSet& other) const {
    TableSet rest = *this;
    rest.parts_ &= ~other.parts_;
    return rest;
  }
  friend TableSet operator|(TableSet x, const TableSet& y) {
    x.parts_ |= y.parts_;
    return x;
  }

 private:
  static constexpr size_t kCallIds = proto::kMostKinds;
  std::bitset<proto::kMostKinds + 1> parts_;  // by ChunkKind, then the ids of calls
};

}  // namespace gpuprof::analysis
