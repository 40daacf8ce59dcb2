// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Closing what a process of the launcher's own has inherited. Called in the child, between fork and
// its work: no heap, no lock.

#pragma once

namespace gpuprof::launcher {

// Closes every descriptor from `first` on.
void CloseFrom(int first);

}  // namespace gpuprof::launcher
