# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# What the engine of the page takes from outside, built for WebAssembly from the sources that scripts/setup keeps in
# .deps/sources: the same releases as this machine's libraries.

set(GPUPROF_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Where scripts/setup put its builds")
set(sources "${GPUPROF_DEPS_DIR}/sources")
foreach(name IN ITEMS protobuf zstd utf8proc libiberty)
  if(NOT EXISTS "${sources}/${name}")
    message(FATAL_ERROR "${sources}/${name} is missing: run scripts/setup")
  endif()
endforeach()
set(GPUPROF_PROTOC_FLAGS)
find_program(GPUPROF_PROTOC protoc REQUIRED)
add_executable(protobuf::protoc IMPORTED GLOBAL)
set_target_properties(protobuf::protoc PROPERTIES IMPORTED_LOCATION "${GPUPROF_PROTOC}")
add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)

# Everything of the runtime; the linker takes what the messages need.
file(GLOB protobuf_sources "${sources}/protobuf/google/protobuf/*.cc" "${sources}/protobuf/google/protobuf/io/*.cc"
     "${sources}/protobuf/google/protobuf/stubs/*.cc")
list(FILTER protobuf_sources EXCLUDE REGEX "test|mock|io_win32|gzip_stream|time_win32|[/]lite_|main[.]cc")
add_library(protobuf STATIC ${protobuf_sources})
add_library(protobuf::libprotobuf ALIAS protobuf)
target_include_directories(protobuf SYSTEM PUBLIC "${sources}/protobuf")
target_compile_options(protobuf PRIVATE -w -Os)

file(GLOB zstd_sources "${sources}/zstd/common/*.c" "${sources}/zstd/decompress/*.c" "${sources}/zstd/compress/*.c")
add_library(gpuprof_zstd STATIC ${zstd_sources})
target_include_directories(gpuprof_zstd SYSTEM PUBLIC "${sources}/zstd")
target_compile_options(gpuprof_zstd PRIVATE -w)

add_library(gpuprof_utf8proc STATIC "${sources}/utf8proc/utf8proc.c")
target_include_directories(gpuprof_utf8proc SYSTEM PUBLIC "${sources}/utf8proc")
target_compile_definitions(gpuprof_utf8proc PUBLIC UTF8PROC_STATIC)
target_compile_options(gpuprof_utf8proc PRIVATE -w)

# The demangler of the command, so that names are the same to the letter.
set(iberty "${sources}/libiberty")
add_library(gpuprof_libiberty STATIC "${iberty}/libiberty/cp-demangle.c" "${iberty}/libiberty/rust-demangle.c"
            "${iberty}/libiberty/d-demangle.c" "${iberty}/libiberty/safe-ctype.c")
file(COPY "${iberty}/include/" DESTINATION "${PROJECT_BINARY_DIR}/libiberty/libiberty")
target_include_directories(gpuprof_libiberty SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/libiberty" PRIVATE "${iberty}/include")
target_compile_definitions(gpuprof_libiberty PRIVATE HAVE_STDLIB_H HAVE_STRING_H HAVE_LIMITS_H HAVE_DECL_BASENAME=1
                           HAVE_DECL_ASPRINTF=1 HAVE_DECL_VASPRINTF=1 HAVE_DECL_SNPRINTF=1 HAVE_DECL_STRNLEN=1)
target_compile_options(gpuprof_libiberty PRIVATE -w)

# A header alone, the machine's own.
find_path(GPUPROF_JSON_INCLUDE NAMES nlohmann/json.hpp PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
if(NOT GPUPROF_JSON_INCLUDE)
  message(FATAL_ERROR "nlohmann/json.hpp is missing: run scripts/setup")
endif()
set(GPUPROF_JSON_FOLDER "${PROJECT_BINARY_DIR}/json")
file(COPY "${GPUPROF_JSON_INCLUDE}/nlohmann" DESTINATION "${GPUPROF_JSON_FOLDER}")
