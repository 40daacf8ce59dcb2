// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words for people and bytes for pipes: messages on stderr with the "gpuprof: " in front, and data
// on stdout. Also formats numbers, sizes, times and paths. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// Exit codes of the command's own (design: the stable surface).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreadable = 3;
inline constexpr int kExitOwnFailure = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

// Prints one message on stderr: "gpuprof: TEXT\n", in one write. Bytes of names that a terminal
// would take as commands are printed as escapes (analysis::OneLine).
void Say(std::string_view text);

// Prints text on stdout, without a newline of its own. What a terminal would obey is printed as
// escapes (analysis::PlainLines), wherever the text comes from.
void PutOut(std::string_view text);

// Prints bytes on stdout as they are: files, and words that a shell reads. A closed pipe ends the
// process quietly. Any other fault is said and ends the process with 3.
void PutBytes(std::string_view bytes);

// Returns 1234567 as "1,234,567".
std::string FormatCount(uint64_t count);
// Returns "1 process", "3 processes".
std::string Plural(uint64_t count, const char* one, const char* many);
std::string FormatBytes(uint64_t bytes);
std::string FormatSeconds(double seconds);
// Adds a full stop, unless the text ends a sentence already.
std::string AsSentence(std::string text);
// Quotes a word for any POSIX shell, byte by byte; in messages use analysis::ShellWord.
std::string ShellQuote(std::string_view text);
std::string Join(const char* separator, const std::string* begin, const std::string* end);

// Returns the columns of the terminal on stdout; 0 if stdout is not a terminal.
int TerminalWidth();

}  // namespace gpuprof::launcher
