// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls foreign C++ code that may throw, from code that is built without exceptions.

#pragma once

namespace gpuprof::tracer {

// `symbol_of` finds functions of the program's own unwinder and C++ runtime: those that will carry
// the exception. Control thread, once. False: a function is missing, or this processor has no such
// call here. Then nothing that can throw may be called.
bool ProtectedCallInit(void* (*symbol_of)(void* context, const char* name), void* context);

// Calls function(argument). False: it threw; everything up to here was unwound, and the exception
// was caught and destroyed as a catch clause does it. Any thread.
bool ProtectedCall(void (*function)(void* argument), void* argument);

}  // namespace gpuprof::tracer
