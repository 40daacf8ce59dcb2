// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the name of a frame of Python says: "path/file.py(12): qualified.name". Pure; any thread.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

// A function, and its line that ran.
struct CodeFrame {
  std::string name;   // qualified: "Server.handle"; the whole text if it has another form
  std::string file;   // path of the source; of native code the library. "": not known
  uint32_t line = 0;  // 0: not known
  bool is_python = false;
  // Neither installed for others nor part of Python or the system: somebody's program.
  bool is_program = false;

  std::strong_ordering operator<=>(const CodeFrame&) const = default;
};

// Reads the name of a frame of Python.
CodeFrame ReadFrameName(std::string_view text);

// Returns whether a source file belongs to a program: not to Python, nor to an installed package.
bool IsProgramFile(std::string_view path);

// Returns the last `parts` parts of a path.
std::string_view EndOfPath(std::string_view path, size_t parts);

// Returns where a frame is, for people: "live/cpu.py:12", "libc.so.6".
std::string PlaceText(const CodeFrame& frame);

// Returns a function without its line: "qualified.name (path/file.py)".
std::string FunctionText(const CodeFrame& frame);

}  // namespace gpuprof::analysis
