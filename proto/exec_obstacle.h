// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why a program that was started runs without gpuprof. Records of ProcessEvent::kSpawn hold it in
// b, those of kExec in a. The bundle's entries about these programs hold it too
// (proto/bundle.proto).

#pragma once

#include <cstdint>

namespace gpuprof::proto {

enum class ExecObstacle : uint32_t {
  kNone = 0,
  kOtherLibc = 1,    // linked with another C library than glibc
  kWordSize = 2,     // for another processor, or for another word size
  kUnreachable = 3,  // the object's file does not exist there, or may not be read
  kSanitizer =
      4,  // built with a sanitizer, whose runtime must be the first library, or knows all threads
  kOtherTool = 5  // another tool watches each thread or each address of the program
};

}  // namespace gpuprof::proto
