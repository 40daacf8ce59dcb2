// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The moment at which CPython is ready and has run no line of the program yet. A recording of its
// functions (--python) that begins with the process waits there until it has begun. Otherwise the
// tracer has Python tell its end there.

#pragma once

namespace gpuprof::inject {

// Has CPython tell that moment, if it is asked for and the process has CPython. In the constructor,
// on the only thread.
void AwaitPythonStart() noexcept;

}  // namespace gpuprof::inject
