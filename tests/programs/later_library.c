// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loaded by attached.c when gpuprof is there already: it allocates by calls of its own.

#include <stdlib.h>

void work_later(void) { free(malloc(54321)); }
