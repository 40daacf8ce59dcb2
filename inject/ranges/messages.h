// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Texts that NVTX and ITT are given: messages, names of domains. Interned once for the process,
// defined in each of its files when first used there. Any thread: no lock, no allocation.
//
// A registered string and a domain are the table's texts themselves, and their handles point to
// them. Domains of one name are one domain, whichever library created them. Where a chained tool
// has handles of its own, the program gets those, and a map leads from them to the texts.

#pragma once

#include <cstdint>

#include "proto/name_table.h"

namespace gpuprof::inject::ranges {

using Text = proto::NameTable::Text;

// As NVTX numbers them.
enum MessageType : int32_t {
  kNoMessage = 0,
  kAscii = 1,
  kUnicode = 2,     // wchar_t
  kRegistered = 3,  // a handle of Intern's, or one that was bound
};

struct Message {
  int32_t type = kNoMessage;  // MessageType
  const void* text = nullptr;
};
inline Message Ascii(const char* text) noexcept { return {kAscii, text}; }
inline Message Wide(const wchar_t* text) noexcept { return {kUnicode, text}; }

// Once a process; any thread. False: no memory.
bool PrepareMessages() noexcept;

// The text for good; null: there is none, or no room.
Text* Intern(const Message& message) noexcept;

// Interns a definition of payloads. Only names may fill more than half of the table.
Text* InternDefinition(const char* bytes, uint32_t size) noexcept;
// Returns the text of a registered string. Null: the number is not a handle. Any number is allowed.
Text* RegisteredText(const void* handle) noexcept;

// What it says, to be read at once: null: nothing, or a handle that is none. `buffer` takes what is
// not there as it is.
[[gnu::cold]] const char* CharsOf(const Message& message, char* buffer, uint32_t capacity,
                                  uint32_t* bytes) noexcept;

// The string id, defined in the file by then; 0: there is no text. With the guard held.
uint32_t IdOf(proto::RingHeader* ring, proto::NameCache* cache, const Message& message) noexcept;
uint32_t IdOf(proto::RingHeader* ring, Text* text) noexcept;
// Defines the text in the present file. False: the ring has no room. With the guard held.
bool Define(proto::RingHeader* ring, Text* text) noexcept;

// Null: the default domain, and what is no handle.
Text* TextOf(const void* handle) noexcept;
// `handle` is a chained tool's. Null is none.
void BindHandle(const void* handle, Text* text) noexcept;

// The process writes another file: texts are defined anew.
void MessagesBeginFile() noexcept;

// Adds one character; what is none becomes U+FFFD. False: it does not fit.
bool AppendUtf8(uint32_t character, char* to, uint32_t capacity, uint32_t* bytes) noexcept;
// UTF-8 of `from` to its end or to the last whole character that fits; returns the bytes. What is
// no character becomes U+FFFD.
uint32_t ToUtf8(const wchar_t* from, char* to, uint32_t capacity) noexcept;

}  // namespace gpuprof::inject::ranges
