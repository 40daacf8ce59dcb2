# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# What the build takes from outside, found once. scripts/setup installs all of it.
#   gpuprof_zstd       static zstd (proto/codec alone uses it)
#   gpuprof_utf8proc   static utf8proc (analysis/base uses it)
#   gpuprof_re2        static RE2 (analysis/base uses it)
#   gpuprof_zlib       static zlib (analysis/import and launcher/base/output_file.cc use it)
#   gpuprof_yaml       static libyaml (launcher/kubernetes/yaml_tree.cc alone uses it)
#   gpuprof_minizip    static minizip of zlib (analysis/import/zip_file.cc alone uses it)
#   gpuprof_sqlite     static SQLite (analysis/import/sqlite_file alone uses it)
#   gpuprof_nghttp2    static nghttp2 (launcher/agent/ alone uses it)
#   gpuprof_simdjson   simdjson, built here (analysis/import and launcher/base/output_file.cc use it)
#   gpuprof_http       cpp-httplib, a header, without OpenSSL (launcher/serve/http_messages.cc alone uses it)
#   gpuprof_libunwind  static, hidden, position-independent libunwind (tracer/stack alone uses it)
#   protobuf::libprotobuf, Threads::Threads, GTest::*, benchmark::benchmark

find_package(Threads REQUIRED)
# Module mode: distributions' packages of this age bring no CMake package of protobuf's own.
# The command must run on machines that have none of these libraries.
set(Protobuf_USE_STATIC_LIBS ON)
foreach(kept IN ITEMS Protobuf_LIBRARY_RELEASE Protobuf_LITE_LIBRARY_RELEASE Protobuf_PROTOC_LIBRARY_RELEASE)
  if("${${kept}}" MATCHES "[.]so$")
    unset(${kept} CACHE)  # of a build folder that is older than this choice
  endif()
endforeach()
find_package(Protobuf REQUIRED)
# Ubuntu 22.04's protoc knows proto3's `optional`, but only when told so.
set(GPUPROF_PROTOC_FLAGS)
if(Protobuf_VERSION VERSION_LESS 3.15)
  set(GPUPROF_PROTOC_FLAGS --experimental_allow_proto3_optional)
endif()

# gpuprof_find_static(NAME target LIBRARY file HEADER file PREFIX dir... FIX words)
function(gpuprof_find_static)
  cmake_parse_arguments(arg "" "NAME;LIBRARY;HEADER;PREFIX;FIX" "" ${ARGN})
  set(only)
  if(arg_PREFIX)
    set(only NO_DEFAULT_PATH)
  endif()
  string(TOUPPER "${arg_NAME}" upper)
  find_library(${upper}_LIBRARY NAMES ${arg_LIBRARY} HINTS ${arg_PREFIX} PATH_SUFFIXES lib ${only})
  find_path(${upper}_INCLUDE NAMES ${arg_HEADER} HINTS ${arg_PREFIX} PATH_SUFFIXES include ${only})
  mark_as_advanced(${upper}_LIBRARY ${upper}_INCLUDE)
  if(NOT ${upper}_LIBRARY OR NOT ${upper}_INCLUDE)
    message(FATAL_ERROR "${arg_LIBRARY} or ${arg_HEADER} is missing: ${arg_FIX}")
  endif()
  add_library(${arg_NAME} STATIC IMPORTED GLOBAL)
  set_target_properties(${arg_NAME} PROPERTIES
    IMPORTED_LOCATION "${${upper}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${upper}_INCLUDE}")
endfunction()

gpuprof_find_static(NAME gpuprof_zstd LIBRARY libzstd.a HEADER zstd.h FIX "run scripts/setup")
gpuprof_find_static(NAME gpuprof_utf8proc LIBRARY libutf8proc.a HEADER utf8proc.h FIX "run scripts/setup")
target_compile_definitions(gpuprof_utf8proc INTERFACE UTF8PROC_STATIC)
gpuprof_find_static(NAME gpuprof_re2 LIBRARY libre2.a HEADER re2/re2.h FIX "run scripts/setup")
gpuprof_find_static(NAME gpuprof_zlib LIBRARY libz.a HEADER zlib.h FIX "run scripts/setup")
gpuprof_find_static(NAME gpuprof_yaml LIBRARY libyaml.a HEADER yaml.h FIX "run scripts/setup")
target_compile_definitions(gpuprof_yaml INTERFACE YAML_DECLARE_STATIC)
gpuprof_find_static(NAME gpuprof_minizip LIBRARY libminizip.a HEADER minizip/unzip.h FIX "run scripts/setup")
target_link_libraries(gpuprof_minizip INTERFACE gpuprof_zlib)
gpuprof_find_static(NAME gpuprof_sqlite LIBRARY libsqlite3.a HEADER sqlite3.h FIX "run scripts/setup")
target_link_libraries(gpuprof_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
gpuprof_find_static(NAME gpuprof_nghttp2 LIBRARY libnghttp2.a HEADER nghttp2/nghttp2.h FIX "run scripts/setup")
target_compile_definitions(gpuprof_nghttp2 INTERFACE NGHTTP2_STATICLIB)
set(GPUPROF_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Where scripts/setup put its builds")

# gpuprof_find_source(VARIABLE file FOLDER folder of .deps)
function(gpuprof_find_source variable file folder)
  find_path(${variable} NAMES ${file} PATHS "${GPUPROF_DEPS_DIR}/${folder}" NO_DEFAULT_PATH)
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${GPUPROF_DEPS_DIR}/${folder}/${file} is missing: run scripts/setup")
  endif()
endfunction()
# Distributions build it as a shared library, which a package of ours could not rely on.
gpuprof_find_source(GPUPROF_SIMDJSON_FOLDER simdjson.cpp simdjson)
add_library(gpuprof_simdjson STATIC "${GPUPROF_SIMDJSON_FOLDER}/simdjson.cpp")
target_include_directories(gpuprof_simdjson SYSTEM PUBLIC "${GPUPROF_SIMDJSON_FOLDER}")
# Distributions build it with OpenSSL, which every start of the command would pay for. A server of this machine alone
# needs none.
gpuprof_find_source(GPUPROF_HTTPLIB_FOLDER httplib.h httplib/include)
add_library(gpuprof_http INTERFACE)
target_link_libraries(gpuprof_http INTERFACE Threads::Threads)
target_include_directories(gpuprof_http SYSTEM INTERFACE "${GPUPROF_HTTPLIB_FOLDER}")
# The tracer uses the general mode, an archive of its own that needs a little of the local mode's.
gpuprof_find_static(NAME gpuprof_libunwind_general LIBRARY libunwind-${CMAKE_SYSTEM_PROCESSOR}.a
                    HEADER libunwind.h PREFIX "${GPUPROF_DEPS_DIR}/libunwind" FIX "run scripts/setup")
gpuprof_find_static(NAME gpuprof_libunwind_local LIBRARY libunwind.a HEADER libunwind.h
                    PREFIX "${GPUPROF_DEPS_DIR}/libunwind" FIX "run scripts/setup")
add_library(gpuprof_libunwind INTERFACE)
target_link_libraries(gpuprof_libunwind INTERFACE gpuprof_libunwind_general gpuprof_libunwind_local)

if(GPUPROF_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(GPUPROF_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
