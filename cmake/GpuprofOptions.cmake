# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# The options, and what they mean for every target: language level, warnings, sanitizers, ccache.

option(GPUPROF_BUILD_TESTS "Build the tests (GoogleTest; pytest runs the process tests)" OFF)
option(GPUPROF_BUILD_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(GPUPROF_BUILD_FUZZ "Build the fuzzers (clang's libFuzzer)" OFF)
option(GPUPROF_WERROR "Turn warnings into errors" OFF)
option(GPUPROF_PRECOMPILE "Precompile the headers that most files of a room include" ON)
option(GPUPROF_UNITE "Compile the files of some folders as one: quicker as a whole, and slower after a change" OFF)
option(GPUPROF_SHARE_CACHE "Let ccache serve checkouts in other folders: debug information then names the first one" OFF)
set(GPUPROF_LIBC_FLOOR 2.28 CACHE STRING "The oldest release of the C library that the command runs on; empty: this machine's")
option(GPUPROF_TEST_PRESETS "Let the tests build and run the asan and tsan presets too" OFF)
set(GPUPROF_SANITIZE "" CACHE STRING
    "Sanitizers for everything but the two injected objects: address, thread, undefined; or a list joined by ';'")

# Ends what hangs. A limit says nothing of speed: with twenty other programs at work everything takes ten times as long.
set(GPUPROF_TEST_LIMIT_S 2400 CACHE STRING "Seconds after which ctest ends a test")
set(GPUPROF_LONG_TEST_LIMIT_S 28800 CACHE STRING "The same for tests that take long, and for whole presets")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A symbol leaves a shared object only when its source says so.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(GPUPROF_CCACHE ccache)
mark_as_advanced(GPUPROF_CCACHE)
if(GPUPROF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache stores nothing that is compiled with a precompiled header. What the preprocessor makes of
  # such a header lacks its macros: a changed macro found the old header. Dependencies are compared as whole files instead.
  # The namespace keeps entries apart that were found otherwise.
  set(ccache env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 CCACHE_NAMESPACE=depend)
  if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
    # ccache does not know the scripts that call Zig's clang.
    list(APPEND ccache CCACHE_COMPILERTYPE=clang CCACHE_COMPILERCHECK=content)
  endif()
  if(GPUPROF_SHARE_CACHE)
    list(APPEND ccache "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1)
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache} "${GPUPROF_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache} "${GPUPROF_CCACHE}")
endif()
# gcc looks for memory that it can free once it has 128 MiB. It uses less of the processor if it looks later.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>")
endif()
# A time stamp in clang's precompiled headers would make each build's header another one to ccache.
if(GPUPROF_PRECOMPILE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# mold links in a fraction of the time. The two injected objects are linked by the system's linker in every preset:
# what is tested is what is installed.
find_program(GPUPROF_MOLD mold)
mark_as_advanced(GPUPROF_MOLD)
add_library(gpuprof_linker INTERFACE)
if(GPUPROF_MOLD)
  target_link_options(gpuprof_linker INTERFACE -fuse-ld=mold)
endif()

# gpuprof_warnings: for our own sources. Generated code does not link it.
add_library(gpuprof_warnings INTERFACE)
target_compile_options(gpuprof_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wcast-align -Wformat=2 -Wundef -Wvla -Wdouble-promotion
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op>
  # gcc 12 sees overlapping copies in std::string's own operator+ (its bug 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${GPUPROF_WERROR}>:-Werror>)

# gpuprof_sanitize: for everything that runs in a process of ours. The injected objects never link it:
# a sanitizer's runtime must not enter a foreign process, and cannot follow the heap hooks.
add_library(gpuprof_sanitize INTERFACE)
if(GPUPROF_SANITIZE)
  string(REPLACE ";" "," gpuprof_sanitizers "${GPUPROF_SANITIZE}")
  string(REPLACE ";" "|" gpuprof_sanitizer_pattern "${GPUPROF_SANITIZE}")
  target_compile_options(gpuprof_sanitize INTERFACE
    -fsanitize=${gpuprof_sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Interfaces of others are written down here with types of our own: the same call by another name.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND "undefined" IN_LIST GPUPROF_SANITIZE)
    target_compile_options(gpuprof_sanitize INTERFACE -fno-sanitize=function)
  endif()
  if("address" IN_LIST GPUPROF_SANITIZE)
    # AddressSanitizer reports an access through null by itself. Checks before each access take a fifth of the compiler's time.
    target_compile_options(gpuprof_sanitize INTERFACE -fno-sanitize=null)
  endif()
  target_link_options(gpuprof_sanitize INTERFACE -fsanitize=${gpuprof_sanitizers})
  target_compile_definitions(gpuprof_sanitize INTERFACE GPUPROF_SANITIZED=1)
endif()
if(GPUPROF_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GPUPROF_BUILD_FUZZ needs clang (libFuzzer); use the preset 'fuzz', or pass -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # Coverage feedback in every library; the fuzzers add the driver.
  target_compile_options(gpuprof_sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(gpuprof_print_summary)
  foreach(option IN ITEMS TESTS BENCH FUZZ)
    if(GPUPROF_BUILD_${option})
      string(TOLOWER ${option} word)
      list(APPEND built ${word})
    endif()
  endforeach()
  list(JOIN built ", " built)
  list(JOIN GPUPROF_SANITIZE ", " sanitizers)
  foreach(words IN ITEMS built sanitizers)
    if(NOT ${words})
      set(${words} none)
    endif()
  endforeach()
  message(STATUS "gpuprof ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  message(STATUS "  beside the product: ${built}")
  message(STATUS "  sanitizers:         ${sanitizers}")
  message(STATUS "  warnings as errors: ${GPUPROF_WERROR}")
  if(NOT GPUPROF_CCACHE)
    message(STATUS "  no ccache: rebuilding from clean takes longer")
  endif()
  foreach(note IN LISTS GPUPROF_NOTES)
    message(STATUS "  ${note}")
  endforeach()
endfunction()
