// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loaded by attached.c: its constructor stays where the program tells it to.

void sit_in_constructor(void);

__attribute__((constructor)) static void OnLoaded(void) { sit_in_constructor(); }
