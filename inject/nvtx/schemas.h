// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Schemas and enumerations that the program registered for its payloads. It does that once, often
// before anything is recorded: they are kept from the first call on. Any thread, signal handlers
// too: no lock, no allocation; one mapping, made when the first instance of the extension attaches.
//
// A definition is complete before it can be found, and never changes: one that is registered again
// takes its place. Schemas within schemas are laid out flat when the outer one is registered, so
// that reading a payload is one loop with one check of bounds a value.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/messages.h"

namespace gpuprof::inject::nvtx {

// How the bytes of a value are read.
enum class Reading : uint8_t {
  kLeftOut,  // a long array, a union, of no known type or at no known place
  kUnsigned,
  kSigned,
  kFloating,
  kBrainFloating,
  kAddress,
  kText,            // `bytes` long at most
  kTerminatedText,  // to its zero, or to the payload's end
  kRegistered,      // a string's handle
  kById,            // an enumeration, which may be registered later
};

struct Field {
  ranges::Text* name;  // null: none was given
  uint64_t type;       // of kById
  uint32_t offset;
  uint32_t bytes;  // of kById 0: as the enumeration says
  Reading reading;
  uint8_t unit;     // bytes of one character of a text
  bool is_element;  // of an array
  bool is_message;  // the event's message, where it comes with the payload alone
};

struct NamedNumber {
  uint64_t number;
  ranges::Text* name;
};

struct Definition {
  ranges::Text* domain;  // null: the default domain. Ids are a domain's own.
  uint64_t id;
  uint32_t bytes;  // of the payload or the enumeration; 0: not known
  uint32_t align;
  uint32_t count;
  bool is_enum;

  const Field* fields() const noexcept { return reinterpret_cast<const Field*>(this + 1); }
  const NamedNumber* numbers() const noexcept {
    return reinterpret_cast<const NamedNumber*>(this + 1);
  }
};

// Arrays up to here become a value for each element, "name[3]"; longer ones are left out. Half of
// what a range may have.
inline constexpr uint32_t kMostElements = 8;
// Longer schemas and enumerations lose the rest: values of the one are counted, of the other they
// are numbers.
inline constexpr uint32_t kMostFields = 64;
inline constexpr uint32_t kMostNumbers = 256;
// Larger payloads are read up to there.
inline constexpr uint32_t kMostPayloadBytes = 1u << 20;

// Once a process; any thread. False: no memory.
bool PrepareSchemas() noexcept;

// `id`: the chained tool's, or 0, and then the one that the program chose or a new one. Returns the
// id; a definition that makes no sense or finds no room is one that is not known.
uint64_t DefineSchema(ranges::Text* domain, const SchemaAttributes* attributes,
                      uint64_t id) noexcept;
uint64_t DefineEnum(ranges::Text* domain, const EnumAttributes* attributes, uint64_t id) noexcept;

// Null: it is not known.
const Definition* FindDefinition(const ranges::Text* domain, uint64_t id) noexcept;

// A value of a type that needs no registration, by itself at the payload's begin.
Field FieldOfType(uint64_t type) noexcept;

}  // namespace gpuprof::inject::nvtx
