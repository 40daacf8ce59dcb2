// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Our functions for ITT's slots. They run on the program's threads: no heap, no lock.

#pragma once

namespace gpuprof::inject::itt {

// By the name that the program's part has for the slot; null: a function that we have no use for.
void* CallbackOf(const char* name) noexcept;

}  // namespace gpuprof::inject::itt
