// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints LD_PRELOAD as it got it.

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char* preload = getenv("LD_PRELOAD");
  const char* cuda = getenv("CUDA_INJECTION64_PATH");
  printf("LD_PRELOAD %s, CUDA_INJECTION64_PATH %s\n", preload == NULL ? "(unset)" : preload,
         cuda == NULL ? "(unset)" : cuda);
  return 5;
}
