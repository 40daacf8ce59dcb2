// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names by which a program tells that another tool watches it. A watched program runs without
// gpuprof: the tool would report the recorder's threads, or would end the program. Included by
// freestanding code, so no library headers.

#pragma once

namespace gpuprof::proto {

// Beginnings of names of libraries that these tools preload.
inline constexpr const char* kWatchingPreloads[] = {
    "vgpreload_",    // Valgrind, each of its tools
    "librrpreload",  // rr: it allows one thread at a time, and replays system calls
    "libtsan",       // gcc's ThreadSanitizer
    "libclang_rt.tsan",
};

// Variables that these tools set for the programs that they run.
inline constexpr const char* kWatchingVariables[] = {"VALGRIND_LAUNCHER"};

// Beginnings of names of runtimes that an executable needs as its first library.
inline constexpr const char* kSanitizerRuntimes[] = {
    "libasan.so",       "libhwasan.so",     "libtsan.so",
    "liblsan.so",       "libclang_rt.asan", "libclang_rt.hwasan",
    "libclang_rt.tsan", "libclang_rt.lsan", "libclang_rt.msan",
};

// Functions of runtimes that are linked into an executable. clang exports them.
inline constexpr const char* kSanitizerFunctions[] = {"__asan_init", "__lsan_init", "__msan_init",
                                                      "__hwasan_init", "__tsan_init"};
// Those of runtimes that know each thread or each address of the program.
inline constexpr const char* kWatchingFunctions[] = {"__tsan_init", "__msan_init", "__hwasan_init"};
// Those of runtimes that no library before them lets come up.
inline constexpr const char* kIntolerantFunctions[] = {"__lsan_init", "__msan_init",
                                                       "__hwasan_init"};

// Beginnings of the names of glibc's loader. An executable that names another one has another C
// library.
inline constexpr const char* kGlibcLoaders[] = {"ld-linux", "ld-2.", "ld.so", "ld64.so"};

}  // namespace gpuprof::proto
