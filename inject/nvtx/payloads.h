// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From the bytes of an extended payload to values, while the call that brings it has not returned:
// the memory may be gone afterwards. On the program's threads: no lock, no allocation. Nothing is
// read outside of what the program said a payload's size is, and no pointer in it is followed.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/values.h"

namespace gpuprof::inject::nvtx {

struct DecodedPayload {
  ranges::Values values;
  ranges::Text* message;  // the first that is marked as the event's, where it was asked for
  uint64_t lost;          // values that are not among these; of a payload of no known schema, one
};

// `wants_message`: the event has no other, and what is marked as its message is no value then.
void DecodePayloads(ranges::Text* domain, const PayloadData* payloads, uint64_t count,
                    bool wants_message, DecodedPayload* decoded) noexcept;

}  // namespace gpuprof::inject::nvtx
