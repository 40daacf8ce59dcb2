// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The way of a payload. Definitions and payloads of a program go through the recorder's own
// functions, as into a trace, and then become values. Payloads stand at the end of a page with
// nothing behind it, so that one byte read too far is fatal.

#pragma once

#include "analysis/read/payload_values.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/nvtx/definitions.h"
#include "inject/nvtx/payloads.h"
#include "inject/ranges/definitions.h"
#include "proto/kept_name.h"

namespace gpuprof::analysis {

namespace ranges = inject::ranges;
using inject::nvtx::DefineEnum;
using inject::nvtx::DefineSchema;
using inject::nvtx::EnumAttributes;
using inject::nvtx::EnumEntry;
using inject::nvtx::EnumField;
using inject::nvtx::kUnknownSize;
using inject::nvtx::PayloadData;
using inject::nvtx::SchemaAttributes;
using inject::nvtx::SchemaField;
using proto::nvtx::HandleText;
using proto::nvtx::kFirstDynamicId;
using proto::nvtx::kFirstSchemaId;
using proto::nvtx::kReferencedPayload;
using enum inject::nvtx::EnumField;
using enum inject::nvtx::SchemaField;
using enum proto::nvtx::EntryArray;
using enum proto::nvtx::EntryFlag;
using enum proto::nvtx::EntryType;
using enum proto::nvtx::SchemaType;
using RegisteredEntry = inject::nvtx::SchemaEntry;

inline constexpr size_t kPage = 4096;

inline std::string CharsOf(const ranges::Text* text) {
  return text == nullptr ? "" : std::string(text->chars, text->bytes);
}

inline RegisteredEntry Entry(uint64_t type, const char* name, uint64_t offset = 0,
                             uint64_t flags = 0, uint64_t detail = 0) {
  return {flags, type, name, nullptr, detail, offset, nullptr, nullptr};
}

class NvtxPayloads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ranges::PrepareMessages());
    void* mapped =
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    page_ = static_cast<char*>(mapped);
    ASSERT_EQ(mprotect(page_ + kPage, kPage, PROT_NONE), 0);
  }
  void TearDown() override { munmap(page_, 2 * kPage); }

  // Copies the bytes to the page's end.
  const void* Put(const void* bytes, size_t size) {
    std::memcpy(page_ + kPage - size, bytes, size);
    return page_ + kPage - size;
  }

  uint64_t Define(const std::vector<RegisteredEntry>& entries, size_t static_size = 0,
                  uint64_t type = kStaticSchema, size_t pack = 0, uint64_t id = 0,
                  ranges::Text* domain = nullptr) {
    SchemaAttributes attributes = {};
    attributes.fields = kSchemaType | kSchemaEntries | kSchemaEntryCount | kSchemaStaticSize |
                        kSchemaAlignment | (id != 0 ? kSchemaId : uint64_t{0});
    attributes.type = type;
    attributes.entries = entries.data();
    attributes.entry_count = entries.size();
    attributes.static_size = static_size;
    attributes.pack_align = pack;
    attributes.id = id;
    return Kept(domain, DefineSchema(domain, &attributes, 0));
  }

  // Adds the definition as the trace has it, and returns its id.
  uint64_t Kept(ranges::Text* domain, uint64_t id) {
    const ranges::Text* text = ranges::FindDefinition(domain, id);
    if (text != nullptr) definitions_.Add(text->id, {text->chars, text->bytes});
    return id;
  }

  uint64_t DefineNames(const std::vector<EnumEntry>& entries, size_t size, uint64_t id = 0) {
    EnumAttributes attributes = {};
    attributes.fields = kEnumEntries | kEnumEntryCount | kEnumSize;
    attributes.entries = entries.data();
    attributes.entry_count = entries.size();
    attributes.size = size;
    attributes.id = id;
    if (id != 0) attributes.fields |= kEnumId;
    return Kept(nullptr, DefineEnum(nullptr, &attributes, 0));
  }

  // Returns values by name, as text.
  std::map<std::string, std::string> Decode(const std::vector<PayloadData>& payloads,
                                            ranges::Text* domain = nullptr,
                                            bool wants_message = false) {
    ranges::Payloads recorded;
    FindPayloads(domain, payloads.data(), payloads.size(), &recorded);
    std::vector<PayloadBytes> bytes;
    for (uint32_t i = 0; i < recorded.count; ++i) bytes.push_back(BytesOf(recorded.payload[i]));
    const FindString find = [this](uint64_t id) { return &texts_[id]; };
    decoded_ = ReadPayloads(bytes, definitions_, find, wants_message, 1 << 20);
    decoded_.lost += recorded.lost;
    std::map<std::string, std::string> found;
    for (const PayloadValue& value : decoded_.values) {
      double wide;
      std::memcpy(&wide, &value.bits, sizeof wide);
      found[value.name] =
          value.type == RangeValue::kText     ? value.text
          : value.type == RangeValue::kDouble ? std::to_string(wide)
          : value.type == RangeValue::kInt64
              ? std::to_string(static_cast<int64_t>(value.bits))
              : (value.type == RangeValue::kAddress ? "@" : "") + std::to_string(value.bits);
    }
    return found;
  }

  // Returns the payload with the texts of its handles.
  PayloadBytes BytesOf(const ranges::Payload& payload) {
    const uint32_t definition =
        payload.definition != nullptr ? payload.definition->id : payload.type;
    PayloadBytes bytes = {definition, {payload.data, payload.bytes}, {}};
    for (uint32_t at = 0; payload.has_handles && at + 8 <= payload.bytes; ++at) {
      uint64_t word;
      std::memcpy(&word, payload.data + at, sizeof word);
      const auto* text = ranges::RegisteredText(reinterpret_cast<const void*>(word));
      if (text == nullptr) continue;
      bytes.handles.push_back({word, text->id});
      texts_[text->id] = CharsOf(text);
    }
    return bytes;
  }

  using Found = std::map<std::string, std::string>;
  char* page_ = nullptr;
  EventValues decoded_;
  PayloadDefinitions definitions_;
  std::map<uint64_t, std::string> texts_;
};

}  // namespace gpuprof::analysis
