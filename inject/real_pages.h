// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes pages of a file real on the disk before anything is written to them. A full disk is then an
// error here, and never a SIGBUS later. In hooks: system calls only, no heap, no lock, errno
// untouched.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Makes [offset, offset + bytes), whole pages, of the file real and the file long enough. File
// systems without fallocate get zeros written. Returns 0, or the error number.
int AllocatePages(long fd, uint64_t offset, uint64_t bytes) noexcept;

// Makes pages of a shared mapping of the file real, and touches them. It needs no descriptor, so it
// also works in a program that has changed its root or its user. False: this kernel cannot, or the
// disk is full.
bool PopulatePages(const void* address, uint64_t bytes) noexcept;

}  // namespace gpuprof::inject
