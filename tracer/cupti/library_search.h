// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the libcupti that belongs to a program may be: beside its CUDA runtime, on its own search
// path, in its Python packages, its conda environment, a toolkit, where the loader looks by itself.
//
// Takes the loader's lock; reads no file but the loader's cache.

#pragma once

#include <cstddef>

namespace gpuprof::tracer::cupti {

// Called with one folder after the other, best first, each with a slash at its end, "" being what
// the loader finds by name alone; true ends it.
using VisitFolder = bool (*)(const char* folder, void* data);

bool EachFolder(VisitFolder visit, void* data);

// The folder's part of `path` up to and with `inside`, or nothing: of
// "/x/site-packages/torch/lib/a.so" and "/site-packages/" it is "/x/site-packages/". For tests.
bool CutBehind(const char* path, const char* inside, char* folder, size_t room);

// Of a search path as a program has it in itself ("$ORIGIN/../lib:/opt/x"), the part at `*at`,
// which moves on; `origin` is the program's folder. False: there is no more. For tests.
bool NextOnPath(const char** at, const char* origin, char* folder, size_t room);

}  // namespace gpuprof::tracer::cupti
