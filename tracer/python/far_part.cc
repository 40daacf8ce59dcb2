// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/far_part.h"

#include <cstring>

namespace gpuprof::tracer {

#if defined(__x86_64__)

namespace {

constexpr uint32_t kMostParts = 64;
// Bytes of other instructions may look like a jump.
constexpr uint32_t kFewestJumps = 2;
constexpr uint64_t kMostBytes = 4u << 20;

template <typename Value>
Value At(uint64_t address) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
  return value;
}

// The search table of an object's unwind tables, in the one form that linkers write.
class Table {
 public:
  explicit Table(const CodeObject& object) : object_(object) {
    constexpr uint8_t kUsual[4] = {1, 0x1b, 0x03, 0x3b};
    const uint64_t header = object.eh_frame_hdr;
    if (header != 0 && std::memcmp(reinterpret_cast<const void*>(header), kUsual, 4) == 0)
      count_ = At<uint32_t>(header + 8);
  }

  // Returns the piece of code that has an address, as one entry of the tables tells; or an empty
  // one.
  CodePart Find(uint64_t address) const {
    uint32_t low = 0, high = count_;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (Begin(middle) <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) return {};
    // The entry begins with its length, the description that it follows, and the code's begin and
    // size.
    const uint64_t begin = Begin(low - 1), entry = Word(low - 1, 4);
    if (entry < object_.lo || entry + 16 > object_.hi) return {};
    const bool is_usual = entry + 8 + static_cast<uint64_t>(At<int32_t>(entry + 8)) == begin;
    const CodePart part = {begin, begin + At<uint32_t>(entry + 12)};
    return is_usual && part.Has(address) ? part : CodePart{};
  }

 private:
  uint64_t Word(uint32_t index, uint32_t place) const {
    const uint64_t at = object_.eh_frame_hdr + 12 + uint64_t{index} * 8 + place;
    return object_.eh_frame_hdr + static_cast<uint64_t>(At<int32_t>(at));
  }
  uint64_t Begin(uint32_t index) const { return Word(index, 0); }

  CodeObject object_;
  uint32_t count_ = 0;
};

// Calls with the destination of each direct jump of 32 bits. Looks at every byte: where
// instructions begin is not known.
template <typename Visit>
void VisitJumps(const CodePart& part, Visit&& visit) {
  constexpr uint8_t kJump = 0xe9, kTwoBytes = 0x0f, kJumpIf = 0x80;
  for (uint64_t at = part.begin; at + 6 <= part.end; ++at) {
    const auto byte = At<uint8_t>(at);
    uint64_t end = 0;
    if (byte == kJump) end = at + 5;
    if (byte == kTwoBytes && (At<uint8_t>(at + 1) & 0xf0) == kJumpIf) end = at + 6;
    if (end != 0) visit(end + static_cast<uint64_t>(At<int32_t>(end - 4)));
  }
}

uint32_t JumpsInto(const CodePart& from, const CodePart& to) {
  uint32_t count = 0;
  VisitJumps(from, [&](uint64_t target) { count += to.Has(target) && target != to.begin ? 1 : 0; });
  return count;
}

}  // namespace

CodePart FarPartOf(const CodePart& near, const CodeObject& object) {
  if (near.end - near.begin > kMostBytes || near.begin < object.lo || near.end > object.hi)
    return {};
  const Table table(object);
  struct {
    CodePart part;
    uint32_t jumps;
  } seen[kMostParts];
  uint32_t count = 0;
  VisitJumps(near, [&](uint64_t target) {
    if (near.Has(target) || target < object.lo || target >= object.hi) return;
    const CodePart part = table.Find(target);
    // At its begin a function is called, which may be the last that the caller does.
    if (part.end == 0 || target == part.begin) return;
    uint32_t i = 0;
    while (i < count && seen[i].part.begin != part.begin) ++i;
    if (i == kMostParts) return;
    if (i == count) seen[count++] = {part, 0};
    ++seen[i].jumps;
  });
  CodePart best;
  uint32_t most = kFewestJumps - 1;
  for (uint32_t i = 0; i < count; ++i) {
    if (seen[i].jumps <= most || seen[i].part.end - seen[i].part.begin > kMostBytes ||
        JumpsInto(seen[i].part, near) < kFewestJumps)
      continue;
    best = seen[i].part;
    most = seen[i].jumps;
  }
  return best;
}

#else

CodePart FarPartOf(const CodePart&, const CodeObject&) { return {}; }

#endif

}  // namespace gpuprof::tracer
