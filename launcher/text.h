// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words for people and bytes for pipes: messages on stderr with the "gpuprof: " in front, data on
// stdout, and how numbers, sizes, times and paths are written. One thread.

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

// One message on stderr: "gpuprof: TEXT\n", in one write. What would be a command to a terminal in
// names that it tells is told by escapes (analysis::OneLine).
void Say(std::string_view text);

// Data on stdout, without a newline of its own. A closed pipe ends the process quietly; any other
// fault is said and ends it with 3.
void PutOut(std::string_view text);

// 1234567 as "1,234,567".
std::string FormatCount(uint64_t count);
// "1 process", "3 processes".
std::string Plural(uint64_t count, const char* one, const char* many);
std::string FormatBytes(uint64_t bytes);
std::string FormatSeconds(double seconds);
// With a full stop behind it, unless it ends a sentence already.
std::string AsSentence(std::string text);
// As any POSIX shell must be given it, byte by byte; in messages analysis::ShellWord.
std::string ShellQuote(std::string_view text);
std::string Join(const char* separator, const std::string* begin, const std::string* end);

// Columns of the terminal on stdout; 0 where it is no terminal.
int TerminalWidth();

}  // namespace gpuprof::launcher
