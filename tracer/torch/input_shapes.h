// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The sizes and types of an operation's inputs, as libtorch tells them by two functions that it
// exports. Both allocate with the program's operator new. So they are called in short windows only
// (shape_window.h), outside of gpuprof's guard: the allocations are the program's.
//
// Init runs on the control thread. The rest runs in begin callbacks on any thread of the program.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// What stands before the text, as the key of the row's value.
inline constexpr char kInputsKey[] = "torch_inputs";

// `symbol_of` finds a symbol of libtorch_cpu.so. False: this PyTorch does not export what is
// needed. ProtectedCallInit() must have succeeded before.
bool InputShapesInit(void* (*symbol_of)(void* context, const char* name), void* context);

// Writes "torch_inputs={...}" for an operation that begins: an object of JSON with the members that
// torch.profiler gives to its own trace, "Input Dims" and "Input type". `op`: its
// at::RecordFunction. Returns the number of bytes. 0: it has no inputs, they could not be read, or
// there is no room for them.
//
// PyTorch may run code of the program in here: a tensor can be a class in Python that makes up its
// size. This code may run operations.
uint32_t ReadInputs(const void* op, char* text, uint32_t room);

// How often PyTorch could not tell the inputs of an operation.
uint32_t InputsNotRead();

}  // namespace gpuprof::tracer
