// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/payloads.h"

#include <string.h>

#include "inject/ranges/definitions.h"

namespace gpuprof::inject::nvtx {
namespace {

using proto::nvtx::DefinitionHeader;
using ranges::Payload;

// Returns the bytes before the zero, or as many as a record has room for.
uint64_t StringBytes(const char* at, uint32_t unit) {
  uint64_t bytes = 0;
  for (; bytes < proto::kMaxPayloadBytes; bytes += unit) {
    uint32_t character = 0;
    memcpy(&character, at + bytes, unit);
    if (character == 0) break;
  }
  return bytes;
}

// Finds one payload. False: its type or its size is not known.
bool Find(const ranges::Text* domain, const PayloadData& data, Payload* found) {
  *found = {nullptr, 0, 0, static_cast<const char*>(data.payload), false};
  if (found->data == nullptr) return false;
  uint64_t bytes = data.size;
  if (data.schema_id < kFirstSchemaId) {
    const bool is_string = proto::nvtx::IsString(data.schema_id);
    const uint64_t whole = proto::nvtx::TypeBytes(data.schema_id);
    if (!is_string && whole == 0) return false;
    found->type = static_cast<uint32_t>(data.schema_id);
    found->has_handles = data.schema_id == kRegisteredString;
    if (bytes == kUnknownSize)
      bytes = is_string ? StringBytes(found->data, proto::nvtx::UnitOf(data.schema_id)) : whole;
  } else {
    found->definition = ranges::FindDefinition(domain, data.schema_id);
    if (found->definition == nullptr) return false;
    const DefinitionHeader header = ranges::HeaderOf(*found->definition);
    found->has_handles = header.has_handles != 0;
    if (bytes == kUnknownSize || (header.bytes != 0 && header.bytes < bytes)) bytes = header.bytes;
    if (bytes == 0) return false;
  }
  found->bytes =
      static_cast<uint32_t>(bytes < proto::kMaxPayloadBytes ? bytes : proto::kMaxPayloadBytes);
  return true;
}

}  // namespace

void FindPayloads(const ranges::Text* domain, const PayloadData* payloads, uint64_t count,
                  ranges::Payloads* found) noexcept {
  if (payloads == nullptr) {
    found->lost = count != 0 ? 1 : 0;
    return;
  }
  for (uint64_t i = 0; i < count && i < ranges::Payloads::kMost; ++i) {
    if (payloads[i].schema_id == kReferencedPayload) continue;  // others may point into it
    if (Find(domain, payloads[i], &found->payload[found->count])) {
      ++found->count;
    } else {
      ++found->lost;
    }
  }
  if (count > ranges::Payloads::kMost) ++found->lost;
}

}  // namespace gpuprof::inject::nvtx
