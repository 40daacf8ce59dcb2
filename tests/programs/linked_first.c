// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Linked with first_library.c, whose block it gives back.

void Use(void);

int main(void) {
  Use();
  return 0;
}
