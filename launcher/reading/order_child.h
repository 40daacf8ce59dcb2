// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process of this program that carries out one order, such as a query or a page of a server. The
// order is a file, and descriptors are all that the process gets.

#pragma once

#include <sys/types.h>

#include <string_view>

namespace gpuprof::launcher {

// In the process: the folder of the input, whose descriptor it gets.
inline constexpr int kHeldOrderFolder = 3;

// Everything that the process needs, made before it is: between fork and exec nothing may be made.
struct OrderChild {
  const char* word = nullptr;  // of the command line, which says what the order is
  int order = -1;              // becomes 0
  int result = -1;             // becomes 1
  int errors = -1;             // becomes 2
  int folder = -1;             // becomes kHeldOrderFolder; -1: there is none
  pid_t parent = 0;            // getpid() of the caller

  // Becomes that process, in the child of a fork. It is killed when the thread that forked ends.
  [[noreturn]] void Become() const;
};

// Writes all of a text. Returns false and leaves errno if that fails.
bool WriteAll(int fd, std::string_view text);
// Writes an order to a file without a name, from which it can be read at once.
bool WriteOrder(int fd, std::string_view text);

}  // namespace gpuprof::launcher
