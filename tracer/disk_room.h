// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a recording may go on taking room on the disk: some of the disk is left to others, and a
// bundle may have a limit. Drain only.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Free bytes that a recording leaves on a disk of so many bytes: 1 %, at least 1 GiB, at most a
// sixteenth of the disk. 0 for disks of less than a GiB, which somebody made for the purpose.
uint64_t FreeBytesToKeep(uint64_t disk_bytes);

enum class DiskRoom { kEnough, kKeepFree, kBundleLimit };

// Looks at the disk and at the files of `bundle`. `keep_free`: bytes, or kAutoKeepFree.
// `bundle_limit`: bytes; 0: none. What cannot be looked at is enough.
inline constexpr uint64_t kAutoKeepFree = ~uint64_t{0};
DiskRoom LookAtDisk(const char* bundle, uint64_t keep_free, uint64_t bundle_limit);

}  // namespace gpuprof::tracer
