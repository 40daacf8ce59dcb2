// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A library of no name that anybody knows, with functions of CUDA: what a machine without a GPU has
// in a wrapper's place. Each returns its own number and how often it was called.

#define EXPORT __attribute__((visibility("default")))

static int calls[4];

EXPORT int cudaProfilerStart(void) { return 100 + ++calls[0]; }
EXPORT int cudaProfilerStop(void) { return 200 + ++calls[1]; }
EXPORT int cuProfilerStart(void) { return 300 + ++calls[2]; }
EXPORT int cuProfilerStop(void) { return 400 + ++calls[3]; }
