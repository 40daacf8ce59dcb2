// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds an exported symbol in one loaded object by reading its dynamic symbol table in memory. For
// callbacks from objects outside our lookup scope, where dlsym(RTLD_NEXT) finds nothing and dlopen
// would wait for the loader's lock.

#pragma once

namespace gpuprof::inject {

// The symbol `name` defined by the object whose code contains `address`; null: not there. No locks,
// no heap; reads /proc/self/maps once a call, so cache the answer.
void* FindSymbolInObjectOf(const void* address, const char* name) noexcept;

}  // namespace gpuprof::inject
