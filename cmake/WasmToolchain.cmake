# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles for WebAssembly (analysis/wasm/CMakeLists.txt) with the clang, the C library and the C++ library of Zig.
# scripts/setup installs it.

set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
set(zig "${root}/.deps/zig/bin")
set(CMAKE_C_COMPILER "${zig}/zig-cc")
set(CMAKE_CXX_COMPILER "${zig}/zig-c++")
set(CMAKE_ASM_COMPILER "${zig}/zig-cc")
set(CMAKE_AR "${zig}/zig-ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${zig}/zig-ranlib" CACHE FILEPATH "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Programs and libraries of this machine run on this machine alone.
set(CMAKE_FIND_ROOT_PATH "${root}/.deps/wasm")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Nothing is thrown: no memory and an impossible state end the engine, and the page starts another one.
set(flags "-O2 -ffunction-sections -fdata-sections -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID")
set(platform "-include ${root}/analysis/wasm/platform/single_thread.h")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags} -fignore-exceptions ${platform}")
set(CMAKE_C_FLAGS_RELEASE "-DNDEBUG" CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE "-DNDEBUG" CACHE STRING "")
