// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See work_sums_reader.h.

#include "proto/codec/work_sums_reader.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "proto/codec/pb_reader.h"
#include "proto/codec/tables.h"
#include "proto/codec/varint.h"
#include "proto/schema.h"

namespace gpuprof::codec {
namespace {

namespace f = work_sums_field;

constexpr const char* kNoMessage = "sums of work are no valid message";
constexpr const char* kTooMany = "sums of work are beyond the format's limits";
constexpr int kFields = f::kBytes + 1;

// The fields of one group, as they are stored.
struct Fields {
  uint64_t scalar[kFields] = {};
  std::vector<uint64_t> column[kFields];
};

constexpr uint64_t MostEntries(int number) {
  return number < f::kKey ? proto::kMostBlocksOfSums : proto::kMostKeysOfSums;
}

const char* ReadColumn(const PbField& field, std::vector<uint64_t>* values) {
  if (field.wire_type != 2 || !values->empty()) return kNoMessage;
  // Each value takes one byte at least.
  values->reserve(std::min<uint64_t>(field.bytes, MostEntries(field.number)));
  const uint8_t* const end = field.data + field.bytes;
  for (const uint8_t* at = field.data; at != end;) {
    uint64_t value = 0;
    at = GetVarint(at, end, &value);
    if (at == nullptr) return kNoMessage;
    if (values->size() == MostEntries(field.number)) return kTooMany;
    values->push_back(value);
  }
  return nullptr;
}

const char* ReadFields(const PbField& group, Fields* fields) {
  PbReader reader(group.data, group.bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number >= kFields) continue;  // newer than this reader
    if (field.number >= f::kBlocksBack) {
      if (const char* fault = ReadColumn(field, &fields->column[field.number])) return fault;
    } else {
      if (field.wire_type != 0) return kNoMessage;
      fields->scalar[field.number] = field.value;
    }
  }
  return reader.ok() ? nullptr : kNoMessage;
}

bool HaveOneLength(const Fields& fields) {
  const size_t blocks = fields.column[f::kBlocksBack].size(), keys = fields.column[f::kKey].size();
  if (blocks == 0 || keys == 0 || fields.column[f::kBusy].size() != blocks) return false;
  for (const int number : {f::kRows, f::kTotal, f::kLeast, f::kMost}) {
    if (fields.column[number].size() != keys) return false;
  }
  const size_t bytes = fields.column[f::kBytes].size();
  return bytes == 0 || bytes == keys;
}

// The total lies between that of the least and that of the most duration.
bool CanBeTrue(const KeyedSums::Key& key) {
  constexpr uint64_t kMostRows = uint64_t{proto::kMostBlocksOfSums} * proto::kMaxRowsPerChunk;
  using Wide = unsigned __int128;
  return key.rows != 0 && key.rows <= kMostRows && key.least <= key.most &&
         Wide{key.rows} * key.least <= key.total && key.total <= Wide{key.rows} * key.most;
}

const char* TakeKeys(const Fields& fields, WorkGroup* group) {
  std::unordered_set<uint64_t> known;
  for (size_t i = 0; i < fields.column[f::kKey].size(); ++i) {
    KeyedSums::Key& key = group->keys.emplace_back();
    key.key = fields.column[f::kKey][i];
    key.rows = fields.column[f::kRows][i];
    key.total = fields.column[f::kTotal][i];
    key.least = fields.column[f::kLeast][i];
    key.most = key.least + fields.column[f::kMost][i];
    key.value = fields.column[f::kBytes].empty() ? 0 : fields.column[f::kBytes][i];
    group->rows += key.rows;
    if (!CanBeTrue(key)) return "sums of work cannot be true";
    if (!known.insert(key.key).second) return "sums of work have a key twice";
  }
  return nullptr;
}

const char* ReadGroup(const PbField& field, WorkGroup* group) {
  Fields fields;
  if (const char* fault = ReadFields(field, &fields)) return fault;
  if (!HaveOneLength(fields)) return "sums of work have columns of different length";
  group->kind = static_cast<uint32_t>(fields.scalar[f::kKind]);
  group->track = static_cast<uint32_t>(fields.scalar[f::kTrack]);
  group->lacks_bytes = fields.scalar[f::kLacksBytes] != 0;
  const uint64_t one_in = std::max<uint64_t>(fields.scalar[f::kSampledOneIn], 1);
  if (one_in > proto::kMostSampledOneIn) return "sampling factor makes no sense";
  group->sampled_one_in = static_cast<uint32_t>(one_in);
  group->blocks_back = std::move(fields.column[f::kBlocksBack]);
  group->busy = std::move(fields.column[f::kBusy]);
  return TakeKeys(fields, group);
}

const char* ReadGroups(const PbField& message, std::vector<WorkGroup>* groups) {
  PbReader reader(message.data, message.bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number != f::kGroup) continue;
    if (field.wire_type != 2) return kNoMessage;
    if (const char* fault = ReadGroup(field, &groups->emplace_back())) return fault;
  }
  return reader.ok() ? nullptr : kNoMessage;
}

const char* ReadChunk(const PbField& chunk, std::vector<WorkGroup>* groups) {
  PbReader reader(chunk.data, chunk.bytes);
  PbField field;
  while (reader.Next(&field)) {
    if (field.number != chunk_field::kWorkSums) continue;
    if (field.wire_type != 2) return kNoMessage;
    if (const char* fault = ReadGroups(field, groups)) return fault;
  }
  return reader.ok() ? nullptr : kNoMessage;
}

}  // namespace

const char* ReadWorkSums(const uint8_t* trace, uint64_t bytes, std::vector<WorkGroup>* groups) {
  groups->clear();
  PbReader reader(trace, bytes);
  PbField chunk;
  const bool is_chunk =
      reader.Next(&chunk) && chunk.number == chunk_field::kTraceChunk && chunk.wire_type == 2;
  const char* fault = kNoMessage;
  if (bytes > proto::kMaxRawSumsBytes) {
    fault = kTooMany;
  } else if (is_chunk) {
    fault = ReadChunk(chunk, groups);
  }
  if (fault != nullptr) groups->clear();
  return fault;
}

}  // namespace gpuprof::codec
