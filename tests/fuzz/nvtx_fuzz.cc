// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Definitions and extended payloads of NVTX. The input is a run of parts: strings that may be
// definitions, payloads with a range for each, and rows as no recorder writes them. Every value
// must belong to a range. The strings of its name and text must exist.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "analysis/model/trace.h"
#include "analysis/read/payload_values.h"
#include "analysis/read/range_payloads.h"
#include "proto/schema.h"
#include "tests/fuzz/check.h"

namespace analysis = gpuprof::analysis;
namespace proto = gpuprof::proto;
using gpuprof::fuzz::Check;

namespace {

constexpr uint32_t kFirstString = 0x20000000;
constexpr int32_t kTid = 7;

class Input {
 public:
  Input() {
    process_.tracks.emplace_back();
    process_.tracks[0].tid = kTid;
  }

  // Adds a part. `about`: a string counted from the first, or a predefined type.
  void Add(uint8_t kind, uint8_t about, std::string_view bytes) {
    if (kind % 4 == 0) {
      const auto id = static_cast<uint32_t>(kFirstString + process_.strings.size());
      process_.strings.emplace(id, bytes);
    } else if (kind % 4 == 3) {
      for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
        uint32_t numbers[2];
        uint64_t value;
        std::memcpy(numbers, bytes.data(), sizeof numbers);
        std::memcpy(&value, bytes.data() + sizeof numbers, sizeof value);
        Row(numbers[0], numbers[1], value);
      }
    } else {
      AddPayload(kind, about < 128 ? about : kFirstString + about - 128, bytes);
    }
  }

  analysis::Process& process() { return process_; }

 private:
  void Row(uint32_t operation, uint32_t definition, uint64_t value) {
    analysis::RangePayloadTable& table = process_.tracks[0].range_payload;
    table.time_ns.push_back(time_);
    table.operation.push_back(operation);
    table.domain.push_back(0);
    table.definition.push_back(definition);
    table.value.push_back(value);
  }

  // Adds a payload. The upper bits of the kind count the handles among the last words.
  void AddPayload(uint8_t kind, uint32_t definition, std::string_view bytes) {
    const bool goes_on = kind % 4 == 2;
    const uint64_t words = (bytes.size() + 7) / 8;
    if (!goes_on) AddRange();
    const uint32_t handles = std::min<uint32_t>(kind >> 4, static_cast<uint32_t>(words / 2));
    Row(proto::PayloadOperation(proto::RangeKind::kPushPop, false, kind >> 2, handles, !goes_on),
        definition, words * 8);
    for (uint64_t i = 0; i < words; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * 8, std::min<size_t>(8, bytes.size() - i * 8));
      Row(0, 0, word);
    }
  }

  void AddRange() {
    time_ += 10;
    analysis::RangeTable& table = process_.tracks[0].range;
    table.end_ns.push_back(time_ + 5);
    table.duration_ns.push_back(5);
    table.name.push_back(0);
    table.operation.push_back(static_cast<uint32_t>(proto::RangeKind::kPushPop));
    table.domain.push_back(0);
    table.style.push_back(0);
    table.payload.push_back(0);
    table.begin_thread.push_back(0);
  }

  analysis::Process process_;
  int64_t time_ = 1000;
};

void CheckValues(const analysis::Process& process) {
  const analysis::Track& track = process.tracks[0];
  const analysis::RangeValueTable& values = track.range_value;
  Check(track.range_payload.rows() == 0);
  Check(values.rows() <= track.range.rows() * analysis::kMostEventValues);
  size_t range = 0;
  for (size_t row = 0; row < values.rows(); ++row) {
    while (range < track.range.rows() && track.range.end_ns[range] < values.end_ns[row]) ++range;
    Check(range < track.range.rows() && track.range.end_ns[range] == values.end_ns[row]);
    const uint32_t operation = values.operation[row];
    const analysis::RangeValue type = analysis::RangeValueOf(operation);
    Check(proto::RangeKindOf(operation) == proto::RangeKind::kPushPop);
    Check(type >= analysis::RangeValue::kUint64 && type <= analysis::RangeValue::kText);
    Check(process.strings.count(values.name[row]) != 0);
    if (type == analysis::RangeValue::kText && values.value[row] != 0)
      Check(process.strings.count(static_cast<uint32_t>(values.value[row])) != 0);
    const bool is_first = row == 0 || values.end_ns[row - 1] != values.end_ns[row];
    const int place = analysis::RangeValuePlaceOf(operation);
    Check(is_first ? place == 0
                   : place == analysis::RangeValuePlaceOf(values.operation[row - 1]) + 1);
  }
  for (const uint32_t name : track.range.name) Check(name == 0 || process.strings.count(name) != 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 4;  // kind, about, bytes
  Input input;
  while (size > kHead) {
    const size_t wanted = data[2] | size_t{data[3]} << 8;
    const size_t bytes = std::min(wanted, size - kHead);
    input.Add(data[0], data[1], {reinterpret_cast<const char*>(data) + kHead, bytes});
    data += kHead + bytes;
    size -= kHead + bytes;
  }
  analysis::ReadRangePayloads(&input.process());
  CheckValues(input.process());
  return 0;
}
