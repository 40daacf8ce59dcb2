// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Files that `gpuprof ctl start` of root's has made in the bundle for this process, which has
// become a user that may not make them. They come with the request, as descriptors of the
// listener's thread. Other threads of gpuprof open them by way of that thread.

#pragma once

namespace gpuprof::inject {

inline constexpr int kGivenFiles = 2;  // the ring file, the trace

// Takes the descriptors over, or closes them: if there are not two new files of this user. On the
// listener's thread, which has a table of its own.
void TakeGivenFiles(const int* descriptors, int count) noexcept;

// Returns the path by which this process opens its ring file; "": none was given.
const char* GivenRing() noexcept;

// Forgets the files: the process has another name from now on.
void ForgetGivenFiles() noexcept;

}  // namespace gpuprof::inject
