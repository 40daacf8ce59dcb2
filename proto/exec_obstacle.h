// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why a program that was started cannot load gpuprof's object. Records of ProcessEvent::kSpawn hold
// it in b, those of kExec in a.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

enum class ExecObstacle : uint32_t {
  kNone = 0,
  kOtherLibc = 1,   // linked with another C library than glibc
  kWordSize = 2,    // for another processor, or for another word size
  kUnreachable = 3  // the object's file does not exist there, or may not be read
};

}  // namespace gpuprof::proto
