// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Foreign text in a form that a terminal shows as it is. Anybody chooses the names in traces and of
// files. A name can hold commands to the terminal, turn the text behind it, or look like another.
// Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// What the text is, and so how its harmful characters are written.
enum class PlainForm {
  kLine,        // one line, without line feeds
  kLines,       // several lines
  kJson,        // a document of JSON, whose line feeds stand between its values
  kJsonString,  // what stands between the quotes of a string of JSON
};

// Returns the bytes of the harmful character at `at`, or of what is not UTF-8 there. 0: what is
// there may be shown. Harmful are control characters (C0, DEL, C1), separators of lines, marks of
// direction, and all else that terminals show nothing for (Default_Ignorable_Code_Point).
//
// A variation selector behind an emoji is shown, and so is a joiner between two. Joiners are also
// shown where the spelling of a script needs them: behind a virama, and between letters of Arabic
// script.
size_t HarmfulBytes(std::string_view text, size_t at);

// Appends the text with escapes in place of harmful characters. U+FFFD stands for a byte that is
// not UTF-8.
void AppendPlain(std::string_view text, PlainForm form, std::string* out);

}  // namespace gpuprof::analysis
