// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/payload_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/read/payload_numbers.h"

namespace gpuprof::analysis {
namespace {

namespace nvtx = proto::nvtx;

constexpr int kMostDepth = 8;                // of schemas within schemas
constexpr uint64_t kMostCounted = 1u << 20;  // values that one entry can lose

// The place of an entry's bytes, and the name of its values.
struct Place {
  uint64_t at;
  std::string name;
  bool is_element;
  bool is_message;
};

// The integers of the entries before: lengths of arrays, and numbers of union members.
using Integers = std::vector<std::optional<uint64_t>>;

std::string InnerName(const std::string& outer, const std::string& inner) {
  if (outer.empty()) return inner;
  return inner.empty() ? outer : outer + "." + inner;
}

// Reads one payload of an event.
class PayloadReader {
 public:
  PayloadReader(const PayloadBytes& payload, const PayloadDefinitions& definitions,
                const FindString& find_string, bool wants_message, EventValues* to,
                std::vector<PayloadValue>* elements, uint64_t most_visits)
      : payload_(payload),
        definitions_(definitions),
        find_string_(find_string),
        wants_message_(wants_message),
        to_(to),
        elements_(elements),
        most_visits_(most_visits) {}

  void Read() {
    const uint64_t type = payload_.definition;
    if (type < nvtx::kFirstSchemaId) {
      const bool is_text = nvtx::IsString(type);
      return is_text ? AddText({0, "", false, true}, TextOf(payload_.bytes, nvtx::UnitOf(type)))
                     : ReadSingle(type, {0, "", false, false});
    }
    const PayloadDefinition* definition = definitions_.Find(payload_.definition);
    if (definition == nullptr) return Lose(1);
    if (definition->is_enumeration()) return ReadEnumeration(*definition, {0, "", false, false});
    // Which member a union by itself holds is not known.
    if (definition->header.type >= nvtx::kUnion) return Lose(1);
    ReadSchema(*definition, {0, "", false, false}, 0);
  }

 private:
  // Counts a visit. False: the event has no more visits.
  bool Visit() {
    if (to_->visits == most_visits_) return false;
    ++to_->visits;
    return true;
  }

  void Lose(uint64_t count) { to_->lost += std::min(count, kMostCounted); }

  // Returns the bytes; empty: some of them are outside of the payload.
  std::string_view BytesAt(uint64_t at, uint64_t bytes) const {
    const uint64_t size = payload_.bytes.size();
    if (at > size || bytes > size - at) return {};
    return payload_.bytes.substr(at, bytes);
  }

  void AddValue(const Place& place, PayloadValue value) {
    std::vector<PayloadValue>& values = place.is_element ? *elements_ : to_->values;
    if (values.size() == kMostEventValues) return Lose(1);
    value.name = place.name.empty() ? "payload" : place.name;
    values.push_back(std::move(value));
  }

  void AddText(const Place& place, std::string text) {
    if (place.is_message && wants_message_ && to_->message.empty() && !text.empty()) {
      to_->message = std::move(text);
      return;
    }
    AddValue(place, {"", RangeValue::kText, 0, std::move(text)});
  }

  void ReadHandle(const Place& place) {
    const std::string_view bytes = BytesAt(place.at, sizeof(uint64_t));
    if (bytes.empty()) return Lose(1);
    const uint64_t handle = UnsignedOf(bytes);
    if (handle == 0) return AddText(place, "");
    for (const nvtx::HandleText& known : payload_.handles) {
      if (known.handle != handle) continue;
      const std::string* text = find_string_(known.text);
      return text != nullptr ? AddText(place, *text) : Lose(1);
    }
    Lose(1);
  }

  void ReadSingle(uint64_t type, const Place& place) {
    if (type == nvtx::kRegisteredString) return ReadHandle(place);
    const std::string_view bytes = BytesAt(place.at, nvtx::TypeBytes(type));
    PayloadValue value;
    if (bytes.empty() || !ReadNumber(type, bytes, &value.type, &value.bits)) return Lose(1);
    AddValue(place, std::move(value));
  }

  // Adds the name of the value, or the names of its flags, or else the number.
  void ReadEnumeration(const PayloadDefinition& definition, const Place& place) {
    const std::string_view bytes = BytesAt(place.at, definition.header.bytes);
    if (bytes.empty()) return Lose(1);
    const uint64_t bits = SignedOf(bytes);
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    std::string flags;
    uint64_t left = bits << unused;
    for (const NamedNumber& each : definition.numbers) {
      const uint64_t number = each.number << unused;
      if (each.name.empty()) continue;
      if (number == bits << unused) return AddText(place, each.name);
      if (!each.is_flag || number == 0 || (left & number) != number) continue;
      flags += (flags.empty() ? "" : " | ") + each.name;
      left &= ~number;
    }
    if (!flags.empty() && left == 0) return AddText(place, flags);
    AddValue(place, {"", RangeValue::kInt64, bits, ""});
  }

  // Returns the end of the schema's last entry.
  uint64_t ReadSchema(const PayloadDefinition& schema, const Place& base, int depth) {
    nvtx::Layout layout(schema.header.type, schema.header.pack);
    Integers integers(schema.entries.size());
    for (size_t i = 0; i < schema.entries.size(); ++i) {
      if (depth == kMostDepth || !Visit()) {
        Lose(schema.entries.size() - i);
        break;
      }
      const SchemaEntry& entry = schema.entries[i];
      const PayloadDefinition* named = definitions_.Named(entry.type, schema);
      const nvtx::Extent extent =
          nvtx::ExtentOf(entry.flags, entry.type, entry.detail,
                         named != nullptr ? named->extent() : nvtx::Extent{});
      Place place = {0, InnerName(base.name, entry.name), base.is_element,
                     (entry.flags & nvtx::kEntryMessage) != 0};
      if (!layout.Place(entry.offset, extent, &place.at)) {
        Lose(1);
        continue;
      }
      const uint64_t inside = place.at;
      place.at += base.at;
      const std::optional<uint64_t> bytes = ReadEntry(entry, named, place, integers, depth);
      if (bytes && extent.bytes == 0) layout.EndsAt(inside + *bytes);
      integers[i] = IntegerOf(entry, named, place.at);
    }
    // The recorder had no room for these entries.
    if (schema.header.kept < schema.header.count) Lose(schema.header.count - schema.header.kept);
    return layout.end();
  }

  // Returns the value of an entry that is a single integer.
  std::optional<uint64_t> IntegerOf(const SchemaEntry& entry, const PayloadDefinition* named,
                                    uint64_t at) const {
    if (nvtx::IsIndirect(entry.flags) || nvtx::ArrayOf(entry.flags) != nvtx::kNoArray)
      return std::nullopt;
    const bool is_enumeration = named != nullptr && named->is_enumeration();
    if (!is_enumeration && !IsInteger(entry.type)) return std::nullopt;
    const std::string_view bytes =
        BytesAt(at, is_enumeration ? named->header.bytes : nvtx::TypeBytes(entry.type));
    if (bytes.empty()) return std::nullopt;
    return UnsignedOf(bytes);
  }

  // Returns the bytes of an entry without an extent in its definition; nothing: not known.
  std::optional<uint64_t> ReadEntry(const SchemaEntry& entry, const PayloadDefinition* named,
                                    const Place& place, const Integers& integers, int depth) {
    if ((entry.flags & (nvtx::kEntryOffsetFromBase | nvtx::kEntryOffsetFromHere)) != 0) {
      Lose(1);
      return std::nullopt;
    }
    if ((entry.flags & nvtx::kEntryPointer) != 0) {
      ReadSingle(nvtx::kAddress, place);
      return std::nullopt;
    }
    const uint32_t array = nvtx::ArrayOf(entry.flags);
    const bool is_text =
        nvtx::IsString(entry.type) || (nvtx::IsCharacter(entry.type) && array != nvtx::kNoArray);
    if (array > nvtx::kLengthInEntry) {
      Lose(1);
      return std::nullopt;
    }
    std::optional<uint64_t> count;
    if (array == nvtx::kFixedSize || (array == nvtx::kNoArray && is_text && entry.detail != 0))
      count = entry.detail;
    if (array == nvtx::kLengthInEntry) {
      if (entry.detail < integers.size()) count = integers[entry.detail];
      if (!count) Lose(1);
      if (!count) return std::nullopt;
    }
    if (is_text) return ReadText(entry, place, array, count);
    if (array == nvtx::kZeroTerminated) return ReadToZero(entry, place);
    if (array != nvtx::kNoArray) return ReadArray(entry, named, place, *count, depth);
    if (named == nullptr || named->header.type < nvtx::kUnion)
      return ReadOne(entry.type, named, place, depth);
    ReadUnion(entry, *named, place, integers, depth);
    return std::nullopt;
  }

  // Reads a string or an array of characters. `count`: characters; nothing: the text ends with a
  // zero.
  std::optional<uint64_t> ReadText(const SchemaEntry& entry, const Place& place, uint32_t array,
                                   std::optional<uint64_t> count) {
    const uint64_t size = payload_.bytes.size();
    const uint32_t unit = nvtx::UnitOf(entry.type);
    if (array == nvtx::kZeroTerminated && nvtx::IsString(entry.type) && entry.detail != 0)
      count = ~uint64_t{0};  // an array of texts
    if (place.at >= size && count != uint64_t{0}) {
      Lose(1);
      return std::nullopt;
    }
    if (!count) {
      const std::string_view rest = payload_.bytes.substr(place.at);
      AddText(place, TextOf(rest, unit));
      return std::min<uint64_t>(EndOfText(rest, unit) + unit, rest.size());
    }
    if (*count == 0 && array != nvtx::kFixedSize) {
      AddText(place, "");
      return 0;
    }
    if (*count == 0 || *count > (size - place.at) / unit) {
      Lose(1);
      return std::nullopt;
    }
    AddText(place, TextOf(payload_.bytes.substr(place.at, *count * unit), unit));
    return *count * unit;
  }

  // Returns the bytes of a schema without a size in its definition.
  std::optional<uint64_t> ReadOne(uint64_t type, const PayloadDefinition* named, const Place& place,
                                  int depth) {
    if (type < nvtx::kFirstSchemaId) {
      ReadSingle(type, place);
    } else if (named == nullptr || named->header.type >= nvtx::kUnion) {
      Lose(1);
    } else if (named->is_enumeration()) {
      ReadEnumeration(*named, place);
    } else {
      return ReadSchema(*named, place, depth + 1);
    }
    return std::nullopt;
  }

  std::optional<uint64_t> ReadArray(const SchemaEntry& entry, const PayloadDefinition* named,
                                    const Place& place, uint64_t count, int depth) {
    const uint64_t bytes = named != nullptr ? named->header.bytes : nvtx::TypeBytes(entry.type);
    if (bytes == 0 || (count == 0 && nvtx::ArrayOf(entry.flags) == nvtx::kFixedSize)) {
      Lose(1);
      return std::nullopt;
    }
    const uint64_t size = payload_.bytes.size();
    const uint64_t there = place.at < size ? (size - place.at) / bytes : 0;
    for (uint64_t i = 0; i < std::min(count, there); ++i) {
      if (!Visit()) {
        Lose(std::min(count, there) - i);
        break;
      }
      ReadOne(entry.type, named, ElementPlace(place, i, bytes), depth);
    }
    if (count <= there) return count * bytes;
    Lose(count - there);
    return std::nullopt;
  }

  // Reads an array up to its element of zero.
  std::optional<uint64_t> ReadToZero(const SchemaEntry& entry, const Place& place) {
    const uint64_t bytes = nvtx::TypeBytes(entry.type);
    if (bytes == 0) Lose(1);
    for (uint64_t i = 0; bytes != 0; ++i) {
      const std::string_view element = BytesAt(place.at + i * bytes, bytes);
      if (element.find_first_not_of('\0') == std::string_view::npos) {
        if (element.empty()) Lose(1);
        return element.empty() ? std::nullopt : std::optional((i + 1) * bytes);
      }
      ReadSingle(entry.type, ElementPlace(place, i, bytes));
    }
    return std::nullopt;
  }

  static Place ElementPlace(const Place& place, uint64_t number, uint64_t bytes) {
    return {place.at + number * bytes, place.name + "[" + std::to_string(number) + "]", true,
            place.is_message};
  }

  // Reads a member of a union. An entry of the schema around the union has the number of the
  // member.
  void ReadUnion(const SchemaEntry& entry, const PayloadDefinition& members, const Place& place,
                 const Integers& integers, int depth) {
    const bool is_known = members.header.type == nvtx::kUnion && entry.detail < integers.size() &&
                          integers[entry.detail] &&
                          *integers[entry.detail] < members.entries.size();
    if (!is_known || depth == kMostDepth || !Visit()) return Lose(1);
    const SchemaEntry& member = members.entries[*integers[entry.detail]];
    if (member.offset > nvtx::kMostLaidOut) return Lose(1);
    ReadEntry(member, definitions_.Named(member.type, members),
              {place.at + member.offset, InnerName(place.name, member.name), place.is_element,
               (member.flags & nvtx::kEntryMessage) != 0},
              {}, depth + 1);
  }

  const PayloadBytes& payload_;
  const PayloadDefinitions& definitions_;
  const FindString& find_string_;
  bool wants_message_;
  EventValues* to_;
  std::vector<PayloadValue>* elements_;
  uint64_t most_visits_;
};

}  // namespace

EventValues ReadPayloads(const std::vector<PayloadBytes>& payloads,
                         const PayloadDefinitions& definitions, const FindString& find_string,
                         bool wants_message, uint64_t visits_left) {
  EventValues read;
  std::vector<PayloadValue> elements;
  const uint64_t most_visits = std::min(kMostEventVisits, visits_left);
  for (const PayloadBytes& payload : payloads) {
    PayloadReader(payload, definitions, find_string, wants_message, &read, &elements, most_visits)
        .Read();
  }
  const size_t room = kMostEventValues - read.values.size();
  if (elements.size() > room) read.lost += elements.size() - room;
  elements.resize(std::min(elements.size(), room));
  read.values.insert(read.values.end(), std::make_move_iterator(elements.begin()),
                     std::make_move_iterator(elements.end()));
  return read;
}

}  // namespace gpuprof::analysis
