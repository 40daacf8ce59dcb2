// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends the program with a word when a call fails.

#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                         \
  do {                                                                      \
    const cudaError_t check_result = (call);                                \
    if (check_result != cudaSuccess) {                                      \
      fprintf(stderr, "%s: %d %s\n", #call, static_cast<int>(check_result), \
              cudaGetErrorName(check_result));                              \
      exit(3);                                                              \
    }                                                                       \
  } while (0)
