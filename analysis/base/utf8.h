// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// UTF-8 in bytes that recorded programs chose. Any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

// What stands for a byte that is no UTF-8: U+FFFD.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Whether it is a byte of a code point behind the first.
inline bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Bytes of the code point that `text`, which is not empty, begins with; 0: it begins with none.
size_t CodePointBytes(std::string_view text);

// Returns the code point that `text` begins with; CodePointBytes(text) is not 0.
char32_t CodePointOf(std::string_view text);

// Returns the text with U+FFFD in place of each byte that is not UTF-8. Readers of protobuf refuse
// the whole file because of one bad byte. `is_repaired`: set if a byte was replaced; may be null.
std::string Utf8Of(std::string_view text, bool* is_repaired = nullptr);

// Returns the same. A text in ASCII is returned itself, and other texts are put into `room`.
std::string_view Utf8In(std::string_view text, std::string* room);

}  // namespace gpuprof::analysis
