// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/signatures.h"

#include <string.h>

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kFirstId = 2;
constexpr size_t kFirstSlots = 256;
// Longer names are cut. Those of nested templates have thousands of bytes, and where one is cut it
// can no longer be told from its like; so this is against a text without an end alone, and how much
// all names take is the string table's limit.
constexpr size_t kMostNameBytes = 64 << 10;

uint64_t HashBytes(const void* data, size_t bytes) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const auto* at = static_cast<const uint8_t*>(data);
  uint64_t hash = bytes * kMultiplier;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  uint64_t rest = 0;
  memcpy(&rest, at, bytes);
  hash = (hash ^ rest) * kMultiplier;
  return hash ^ hash >> 32;
}

constexpr size_t kWords = sizeof(LaunchSignature) / 8;

uint64_t Word(const LaunchSignature& signature, size_t index) {
  uint64_t word;
  memcpy(&word, reinterpret_cast<const char*>(&signature) + 8 * index, 8);
  return word;
}

// A multiplier for each word, so that none of the products waits for another.
uint64_t HashOf(const LaunchSignature& signature) {
  uint64_t hash = 0, multiplier = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < kWords; ++i) {
    hash += Word(signature, i) * multiplier;
    multiplier += 0xbf58476d1ce4e5b8u;
  }
  return hash ^ hash >> 32;
}

// By words, as one of them was stored by words just now: where more is loaded at once than was
// stored, as memcmp does, the processor waits.
bool AreSame(const LaunchSignature& x, const LaunchSignature& y) {
  for (size_t i = 0; i < kWords; ++i) {
    if (Word(x, i) != Word(y, i)) return false;
  }
  return true;
}

void PutTriple(int field, const uint32_t (&values)[3], codec::PbWriter* writer) {
  const uint64_t mark = writer->Begin(field);
  for (const uint32_t value : values) writer->RawVarint(value);
  writer->End(mark);
}

void Put(uint32_t id, const LaunchSignature& s, uint32_t matrix_ops, codec::PbWriter* writer) {
  const uint64_t mark = writer->Begin(1);
  writer->Varint(1, id);
  writer->Varint(2, s.name);
  writer->Varint(3, s.device);
  writer->Varint(4, s.context);
  PutTriple(5, s.grid, writer);
  PutTriple(6, s.block, writer);
  PutTriple(7, s.cluster, writer);
  writer->Varint(8, s.registers);
  writer->Varint(9, s.static_shared);
  writer->Varint(10, s.dynamic_shared);
  writer->Varint(11, s.shared_executed);
  writer->Varint(12, s.local_per_thread);
  writer->Varint(13, s.local_bytes);
  writer->Varint(14, s.cache_config);
  writer->Varint(15, s.launch_type);
  writer->Varint(16, s.device_launched);
  writer->Varint(17, matrix_ops);
  writer->End(mark);
}

}  // namespace

uint32_t Signatures::Intern(const LaunchSignature& signature, const char* kernel) {
  if (last_ != 0 && AreSame(signatures_[last_ - kFirstId], signature)) return last_;
  if ((signatures_.size() + 1) * 2 > index_.size()) Grow();
  const size_t mask = index_.size() - 1;
  size_t at = HashOf(signature) & mask;
  for (; index_[at] != 0; at = (at + 1) & mask) {
    const uint32_t id = index_[at];
    if (AreSame(signatures_[id - kFirstId], signature)) return last_ = id;
  }
  if (signatures_.size() >= kMost) {
    ++refused_;
    return kOverflowId;
  }
  signatures_.push_back(signature);
  matrix_ops_.push_back(code_ != nullptr ? code_->MatrixOps(kernel) : 0);
  last_ = static_cast<uint32_t>(signatures_.size()) - 1 + kFirstId;
  return index_[at] = last_;
}

void Signatures::Grow() {
  std::vector<uint32_t> index(index_.empty() ? kFirstSlots : index_.size() * 2);
  const size_t mask = index.size() - 1;
  for (size_t i = 0; i < signatures_.size(); ++i) {
    size_t at = HashOf(signatures_[i]) & mask;
    while (index[at] != 0) at = (at + 1) & mask;
    index[at] = static_cast<uint32_t>(i) + kFirstId;
  }
  index_.swap(index);
}

uint32_t Signatures::Take(std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  const uint32_t taken_before = taken_;
  for (; taken_ < signatures_.size(); ++taken_) {
    Put(taken_ + kFirstId, signatures_[taken_], matrix_ops_[taken_], &writer);
  }
  return taken_ - taken_before;
}

uint64_t Signatures::memory_bytes() const {
  return signatures_.capacity() * sizeof(LaunchSignature) +
         (matrix_ops_.capacity() + index_.capacity()) * sizeof(uint32_t);
}

uint32_t NameCache::Check(const char* text) {
  if (entries_.empty()) entries_.resize(kEntries);
  Entry& entry = entries_[PlaceOf(text)];
  const size_t length = strnlen(text, kMostNameBytes);
  const uint64_t hash = HashBytes(text, length);
  if (entry.at != text || entry.length != length || entry.hash != hash) {
    entry = {text, strings_->InternText(text, static_cast<uint32_t>(length)),
             static_cast<uint32_t>(length), hash, 0};
  }
  entry.buffer = buffer_;
  return entry.id;
}

}  // namespace gpuprof::tracer::cupti
