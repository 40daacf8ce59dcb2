// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A library that allocates while it is initialised, before the program and before whatever was
// preloaded.

#include <stdlib.h>

static void* volatile g_block;

__attribute__((constructor)) static void Begin(void) { g_block = malloc(54321); }

__attribute__((visibility("default"))) void Use(void) {
  free(g_block);
  g_block = NULL;
}
