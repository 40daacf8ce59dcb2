// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Joins files that are recordings of one process; see kineto_importer.h.

#include <algorithm>

#include "analysis/import/kineto_importer.h"

namespace gpuprof::analysis::import {

const RecordedLife& KinetoImporter::LifeOf(Host* host) {
  if (host->life) return *host->life;
  RecordedLife& life = host->life.emplace();
  if (!host->builder->Bounds(&life.bounds)) life.bounds = {1, 0};
  for (uint32_t t = 0; t < host->builder->timelines(); ++t) {
    for (const CallRow& call : host->builder->calls(t)) {
      if (call.correlation == 0) continue;
      life.first_call = std::min(life.first_call, call.correlation);
      life.last_call = std::max(life.last_call, call.correlation);
    }
  }
  return life;
}

// A program that runs again in a container has the same number and host. Its calls are counted from
// the start.
bool KinetoImporter::IsContinuedBy(const KinetoImporter& later, Host* host, Host* other) const {
  if (host->entity != other->entity) return false;
  const RecordedLife &own = LifeOf(host), &others = LifeOf(other);
  const bool has_rows =
      own.bounds.start <= own.bounds.end && others.bounds.start <= others.bounds.end;
  return has_rows && base_ns_ + own.bounds.end < later.base_ns_ + others.bounds.start &&
         own.last_call != 0 && own.last_call < others.first_call && others.last_call != 0;
}

bool KinetoImporter::Follow(KinetoImporter* later) {
  if (!IsWallClock() || !later->IsWallClock() || host_name_.empty() ||
      host_name_ != later->host_name_ || environment_ != later->environment_)
    return false;
  bool has_joined = false;
  const int64_t shift = later->base_ns_ - base_ns_;
  for (Host* host : host_order_) {
    for (Host* other : later->host_order_) {
      if (!IsContinuedBy(*later, host, other)) continue;
      host->builder->Follow(other->builder.get(), shift);
      host->life->bounds.end = other->life->bounds.end + shift;
      host->life->last_call = other->life->last_call;
      other->life.emplace().bounds = {1, 0};
      has_joined = true;
    }
  }
  return has_joined;
}

}  // namespace gpuprof::analysis::import
