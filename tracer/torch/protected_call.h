// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls foreign C++ code that may throw, from code that is built without exceptions. Control thread
// only.

#pragma once

namespace gpuprof::tracer {

// `symbol_of` finds functions of the program's own unwinder (_Unwind_SetIP): the one that will
// carry the exception. Once; false: it has none, or this processor has no such call here. Then
// nothing that can throw may be called.
bool ProtectedCallInit(void* (*symbol_of)(void* context, const char* name), void* context);

// Calls function(argument). False: it threw; the exception was dropped, and everything up to here
// was unwound.
bool ProtectedCall(void (*function)(void* argument), void* argument);

}  // namespace gpuprof::tracer
