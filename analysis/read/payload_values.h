// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads named values out of the bytes of NVTX's extended payloads. Bytes and definitions are
// foreign. Nothing outside of the payload is read. Schemas may lie within themselves. The work for
// one event is bounded.

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

// The values of all payloads of one event.
struct EventValues {
  // Elements of arrays come last. They may be many, and they displace no other value.
  std::vector<PayloadValue> values;
  std::string message;  // the text marked as the event's message, if the caller wants it
  uint64_t lost = 0;    // values that could not be read
  uint64_t visits = 0;  // entries and elements that were looked at
};

// An event has no more values and visits. Further ones are counted as lost.
inline constexpr size_t kMostEventValues = 256;
inline constexpr uint64_t kMostEventVisits = 8192;

struct PayloadBytes {
  uint32_t definition = 0;  // predefined type, or string id
  std::string_view bytes;
  std::vector<proto::nvtx::HandleText> handles;
};

// Returns the text of a string id; null: there is no text.
using FindString = std::function<const std::string*(uint64_t id)>;

// Reads the payloads of one event. `wants_message`: the event has no message of its own; the text
// marked as its message is then not a value. Values beyond `visits_left` visits are lost.
EventValues ReadPayloads(const std::vector<PayloadBytes>& payloads,
                         const PayloadDefinitions& definitions, const FindString& find_string,
                         bool wants_message, uint64_t visits_left);

}  // namespace gpuprof::analysis
