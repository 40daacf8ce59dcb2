// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory that the tracer maps for good. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::tracer {

// Maps zeroed pages that stay for the life of the process: a table of which little is touched, or a
// buffer. Null: there is no memory.
void* MapTable(size_t bytes);

// Tells the program's limits of bytes before they are mapped, and with a negative number after they
// were unmapped.
void NoteMapped(int64_t bytes);

// Sets what NoteMapped calls. Once, before the first mapping.
void SetMappedNote(void (*note)(int64_t bytes));

}  // namespace gpuprof::tracer
