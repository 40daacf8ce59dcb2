// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the C++ library calls to throw. Zig's has no exceptions for WebAssembly, so the engine ends;
// the page says so, and starts another one. In practice it had no memory.

#include <cstdlib>
#include <typeinfo>

extern "C" {

void* __cxa_allocate_exception(size_t) { std::abort(); }

[[noreturn]] void __cxa_throw(void*, std::type_info*, void (*)(void*)) { std::abort(); }

}  // extern "C"
