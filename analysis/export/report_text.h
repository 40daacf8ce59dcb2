// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes foreign bytes and words into an HTML page so that no name can end an element. Pure; any
// thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns the bytes in base64, as the page reads them back.
std::string Base64(std::string_view bytes);
// Returns the length of the base64 text of so many bytes.
constexpr uint64_t Base64Length(uint64_t bytes) { return (bytes + 2) / 3 * 4; }

// Packs a text by gzip, which browsers unpack. Empty: there is not enough memory.
std::string Gzip(std::string_view text);

// Returns the text as a value between double quotes. Bytes that are not UTF-8 stay as they are: the
// browser shows U+FFFD.
std::string AttributeText(std::string_view text);

// Returns JSON that says the same and that a script element can hold.
std::string ScriptJson(std::string_view json);

}  // namespace gpuprof::analysis
