// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads named values out of the bytes of NVTX's extended payloads. Bytes and definitions are
// foreign: nothing outside of the payload is read, schemas may lie within themselves, and the work
// for one event is bounded.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/read/payload_definitions.h"

namespace gpuprof::analysis {

struct PayloadValue {
  std::string name;
  RangeValue type = RangeValue::kUint64;
  uint64_t bits = 0;
  std::string text;  // of kText
};

// The payloads of one event become one of these.
struct EventValues {
  // Elements of arrays come last: they may be many, and nothing else is left out for them.
  std::vector<PayloadValue> values;
  std::string message;  // what is marked as the event's message, where that was asked for
  uint64_t lost = 0;    // values that are not among these
  uint64_t visits = 0;  // entries and elements that were looked at
};

// Of one event. More are counted and left out.
inline constexpr size_t kMostEventValues = 256;
inline constexpr uint64_t kMostEventVisits = 8192;

struct PayloadBytes {
  uint32_t definition = 0;  // predefined type, or string id
  std::string_view bytes;
  std::vector<proto::nvtx::HandleText> handles;
};

// Returns the text of a string id; null: it is not there.
using FindString = std::function<const std::string*(uint64_t id)>;

// `wants_message`: the event has none, and what is marked as its message is not a value then.
// `visits_left`: what is beyond them, or kMostEventVisits, is lost.
EventValues ReadPayloads(const std::vector<PayloadBytes>& payloads,
                         const PayloadDefinitions& definitions, const FindString& find_string,
                         bool wants_message, uint64_t visits_left);

}  // namespace gpuprof::analysis
