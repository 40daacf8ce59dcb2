// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See space.h.

#include "analysis/xprof/space.h"

#include <algorithm>
#include <bit>

namespace gpuprof::analysis::xprof {

uint64_t Span::Overlap(const Span& other) const {
  if (begin > other.end() || other.begin > end()) return 0;
  return std::min(end(), other.end()) - std::max(begin, other.begin);
}

void Span::Extend(const Span& other) {
  *this = Between(std::min(begin, other.begin), std::max(end(), other.end()));
}

double Stat::Double() const { return kind == Kind::kDouble ? std::bit_cast<double>(bits) : 0; }

namespace {

const Stat* FindIn(std::span<const Stat> stats, StatKey key) {
  const auto at =
      std::find_if(stats.begin(), stats.end(), [&](const Stat& stat) { return stat.key == key; });
  return at == stats.end() ? nullptr : &*at;
}

}  // namespace

const Stat* Plane::Find(const Event& event, StatKey key) const {
  return FindIn(StatsOf(event), key);
}

const Stat* Plane::Find(StatKey key) const { return FindIn(stats, key); }

std::vector<Plane*> Space::PlanesWithPrefix(std::string_view prefix) {
  std::vector<Plane*> found;
  for (Plane& plane : planes)
    if (plane.name.starts_with(prefix)) found.push_back(&plane);
  return found;
}

Plane* Space::FindPlane(std::string_view name) {
  const auto at = std::find_if(planes.begin(), planes.end(),
                               [&](const Plane& plane) { return plane.name == name; });
  return at == planes.end() ? nullptr : &*at;
}

bool IsDerivedLine(int64_t id) {
  // Steps and launches, eight kinds of annotations, operations off the device, operations of a
  // host, and those of single streams.
  constexpr int32_t kLines = 389;
  const auto first = static_cast<int32_t>(kStepsLine);
  const auto line = static_cast<int32_t>(id);
  return line >= first && line <= first + kLines;
}

}  // namespace gpuprof::analysis::xprof
