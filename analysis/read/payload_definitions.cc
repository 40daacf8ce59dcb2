// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/payload_definitions.h"

#include <algorithm>
#include <cstring>

namespace gpuprof::analysis {
namespace {

namespace nvtx = proto::nvtx;

// Reads the entries behind a definition's header.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : left_(bytes) {}

  bool Number(uint64_t* number) {
    *number = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      *number |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Name(std::string* name) {
    const size_t end = left_.find('\0');
    if (end == std::string_view::npos) return false;
    name->assign(left_.substr(0, end));
    left_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view left_;
};

bool IsSane(const nvtx::DefinitionHeader& header) {
  constexpr uint32_t kMostAlign = 4096;
  const bool is_integer = header.bytes == 0 || header.bytes == 1 || header.bytes == 2 ||
                          header.bytes == 4 || header.bytes == 8;
  return header.zero == 0 && header.type <= nvtx::kUnionWithSelector &&
         header.id >= nvtx::kFirstSchemaId && header.bytes <= nvtx::kMostLaidOut &&
         header.align >= 1 && header.align <= kMostAlign && header.kept <= header.count &&
         (header.type != nvtx::kEnumeration || is_integer);
}

}  // namespace

void PayloadDefinitions::Add(uint32_t string_id, std::string_view bytes) {
  PayloadDefinition made;
  if (bytes.size() < sizeof(made.header) || bytes.front() != 0) return;
  std::memcpy(&made.header, bytes.data(), sizeof(made.header));
  if (!IsSane(made.header)) return;
  made.string_id = string_id;
  EntryReader reader(bytes.substr(sizeof(made.header)));
  for (uint32_t i = 0; i < made.header.kept; ++i) {
    if (made.is_enumeration()) {
      NamedNumber number = {};
      uint64_t is_flag = 0;
      if (!reader.Number(&number.number) || !reader.Number(&is_flag) || !reader.Name(&number.name))
        return;
      number.is_flag = is_flag != 0;
      made.numbers.push_back(std::move(number));
    } else {
      SchemaEntry entry = {};
      if (!reader.Number(&entry.flags) || !reader.Number(&entry.type) ||
          !reader.Number(&entry.detail) || !reader.Number(&entry.offset) ||
          !reader.Name(&entry.name))
        return;
      made.entries.push_back(std::move(entry));
    }
  }
  std::vector<uint32_t>& ids = by_id_[{made.header.domain, made.header.id}];
  ids.insert(std::upper_bound(ids.begin(), ids.end(), string_id), string_id);
  by_string_[string_id] = std::move(made);
}

const PayloadDefinition* PayloadDefinitions::Find(uint32_t string_id) const {
  const auto found = by_string_.find(string_id);
  return found != by_string_.end() ? &found->second : nullptr;
}

const PayloadDefinition* PayloadDefinitions::Named(uint64_t type,
                                                   const PayloadDefinition& from) const {
  const auto found = by_id_.find({from.header.domain, type});
  if (found == by_id_.end()) return nullptr;
  const std::vector<uint32_t>& ids = found->second;
  auto at = std::lower_bound(ids.begin(), ids.end(), from.string_id);
  if (at != ids.begin()) return Find(*(at - 1));
  if (*at == from.string_id) ++at;  // a schema does not hold itself
  return at != ids.end() ? Find(*at) : nullptr;
}

}  // namespace gpuprof::analysis
