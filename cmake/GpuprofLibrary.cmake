# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# One call declares one target. Every room uses these; only the two injected objects, which share
# nothing with an ordinary target, are declared by hand in their rooms.
#
#   gpuprof_library(NAME gpuprof_analysis SOURCES a.cc b.cc DEPS gpuprof_codec PRIVATE_DEPS elf)
#   gpuprof_executable(NAME gpuprof SOURCES main.cc DEPS gpuprof_analysis)
#   gpuprof_test(NAME codec_test SOURCES varint_test.cc chunk_test.cc DEPS gpuprof_codec SANITIZE address thread)
#   gpuprof_bench(SOURCES ring_bench.cc DEPS gpuprof_proto_headers)
#   gpuprof_fuzzer(SOURCES chunk_fuzz.cc DEPS gpuprof_codec CORPUS corpus/chunk)
#
# NAME defaults to the stem of the first source. The default label of a test is `unit`: no other process, no
# network, seconds. A room has one test program: each program more is linked in every preset.
#
# SANITIZE names the sanitizers that can find a fault in the test's room: `address` for a room that reads foreign bytes
# or lives in foreign processes, `thread` for a room with threads. Other presets of sanitizers leave the test out.
# LARGE is a pattern of gtest: tests of many rounds that take too long with a sanitizer. With a sanitizer they run in the
# test configuration `long` alone.
# NO_SANITIZE leaves the sanitizers out of a target that must stay an ordinary program.

# `cmake --build ... --target gpuprof_unit_tests` builds the tests that `ctest -L unit` runs.
add_custom_target(gpuprof_unit_tests)
add_custom_target(gpuprof_short_fuzzers)
add_custom_target(gpuprof_fuzzers)
add_dependencies(gpuprof_fuzzers gpuprof_short_fuzzers)

macro(gpuprof_parse_target)
  cmake_parse_arguments(arg "NO_SANITIZE;LONG" "NAME;LARGE" "SOURCES;DEPS;PRIVATE_DEPS;LABELS;CORPUS;SANITIZE" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "SOURCES is missing")
  endif()
  if(NOT arg_NAME)
    list(GET arg_SOURCES 0 gpuprof_first_source)
    cmake_path(GET gpuprof_first_source STEM LAST_ONLY arg_NAME)
  endif()
endmacro()

# What every ordinary target gets: includes from the repository's root, warnings, sanitizers.
macro(gpuprof_ordinary_target)
  target_include_directories(${arg_NAME} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${arg_NAME} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS} gpuprof_warnings gpuprof_linker)
  if(NOT arg_NO_SANITIZE)
    target_link_libraries(${arg_NAME} PRIVATE gpuprof_sanitize)
  endif()
endmacro()

function(gpuprof_library)
  gpuprof_parse_target(${ARGN})
  add_library(${arg_NAME} STATIC ${arg_SOURCES})
  gpuprof_ordinary_target()
endfunction()

# Sets a variable to the sources in folders. One folder a concern; a new file is picked up without an edit.
function(gpuprof_sources_of variable)
  set(sources)
  foreach(folder IN LISTS ARGN)
    file(GLOB found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${folder}/*.cc")
    list(APPEND sources ${found})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Parses the headers that nearly every file of a room includes once: parsing takes two thirds of the compiler's time. Each
# file still names the headers that it uses. Every file pays for the templates of these headers, so only common ones pay.
function(gpuprof_precompile target)
  if(GPUPROF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <map> <memory> <optional> <set> <string> <unordered_map> <unordered_set> <vector> ${ARGN})
  endif()
endfunction()

# Compiles these files of a target as one with GPUPROF_UNITE: what they all include is parsed once, and templates are
# made once. Their local names must differ. tsan and `make lint` compile each file alone: each still includes what it uses.
function(gpuprof_unite target group)
  if(GPUPROF_UNITE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP ${group})
  endif()
endfunction()

# Optimises little what runs once in a command: to optimise it takes the compiler as long as all else. Loops over rows are
# not among it.
function(gpuprof_optimise_little)
  cmake_parse_arguments(arg "" "TARGET" "SOURCES" ${ARGN})
  set(little "$<$<NOT:$<CONFIG:Debug>>:-O1>")
  if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
    set(little -Os)  # each report carries it
  endif()
  if(arg_TARGET)
    target_compile_options(${arg_TARGET} PRIVATE "${little}")
  endif()
  if(arg_SOURCES)
    set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_OPTIONS "${little}")
  endif()
endfunction()

function(gpuprof_executable)
  gpuprof_parse_target(${ARGN})
  add_executable(${arg_NAME} ${arg_SOURCES})
  gpuprof_ordinary_target()
endfunction()

# Links a target with the C library of release GPUPROF_LIBC_FLOOR, and with the compiler's libraries inside.
function(gpuprof_old_libc target)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  if(NOT GPUPROF_LIBC_FLOOR)
    return()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/libc_floor")
  if(NOT TARGET gpuprof_libc_floor)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(writer "${PROJECT_SOURCE_DIR}/cmake/libc_floor.py")
    add_custom_command(OUTPUT "${folder}/libc.so"
      COMMAND "${Python3_EXECUTABLE}" "${writer}" "${folder}" "${GPUPROF_LIBC_FLOOR}" "${CMAKE_C_COMPILER}"
      DEPENDS "${writer}" VERBATIM)
    add_custom_target(gpuprof_libc_floor DEPENDS "${folder}/libc.so")
  endif()
  add_dependencies(${target} gpuprof_libc_floor)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/libc_floor.c")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${folder}/libc.so")
  target_link_options(${target} PRIVATE "-L${folder}" -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
endfunction()

# Makes an executable run on machines that have only the C library, of release GPUPROF_LIBC_FLOOR or a later one.
function(gpuprof_portable target)
  # A sanitizer's runtime asks for more, and the program stays on this machine.
  if(GPUPROF_SANITIZE)
    return()
  endif()
  gpuprof_old_libc(${target})
  if(GPUPROF_LIBC_FLOOR)
    target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
  endif()
endfunction()

# Does the same for a shared object.
function(gpuprof_portable_object target)
  if(GPUPROF_SANITIZE)
    return()
  endif()
  gpuprof_old_libc(${target})
  target_compile_definitions(${target} PRIVATE GPUPROF_SHARED_OBJECT=1)
endfunction()

function(gpuprof_test)
  if(NOT GPUPROF_BUILD_TESTS)
    return()
  endif()
  gpuprof_parse_target(${ARGN})
  # A preset may have several sanitizers: the test names at least one of them, or it is no part of the preset.
  set(wanted yes)
  if(GPUPROF_SANITIZE)
    set(common ${arg_SANITIZE})
    list(FILTER common INCLUDE REGEX "^(${gpuprof_sanitizer_pattern})$")
    if(NOT common)
      set(wanted no)
    endif()
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_executable(${arg_NAME} EXCLUDE_FROM_ALL ${arg_SOURCES})
  list(APPEND arg_PRIVATE_DEPS GTest::gmock GTest::gtest_main)
  gpuprof_ordinary_target()
  # Two thirds of the time of a test's file went into optimising code that runs once.
  target_compile_options(${arg_NAME} PRIVATE -O0)
  if(TARGET gpuprof_test_headers AND NOT arg_NO_SANITIZE)
    target_precompile_headers(${arg_NAME} REUSE_FROM gpuprof_test_headers)
  endif()
  if(NOT wanted)
    return()
  endif()
  set_target_properties(${arg_NAME} PROPERTIES EXCLUDE_FROM_ALL NO)
  set(filter)
  if(arg_LARGE AND GPUPROF_SANITIZE)
    set(filter "--gtest_filter=-${arg_LARGE}")
    add_test(NAME long_${arg_NAME} COMMAND ${arg_NAME} "--gtest_filter=${arg_LARGE}" CONFIGURATIONS long)
    set_tests_properties(long_${arg_NAME} PROPERTIES LABELS long-sanitized TIMEOUT ${GPUPROF_LONG_TEST_LIMIT_S})
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${filter})
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${GPUPROF_TEST_LIMIT_S})
  if("unit" IN_LIST arg_LABELS)
    add_dependencies(gpuprof_unit_tests ${arg_NAME})
  endif()
endfunction()

function(gpuprof_bench)
  if(NOT GPUPROF_BUILD_BENCH)
    return()
  endif()
  gpuprof_parse_target(${ARGN})
  add_executable(${arg_NAME} ${arg_SOURCES})
  list(APPEND arg_PRIVATE_DEPS benchmark::benchmark)
  gpuprof_ordinary_target()
endfunction()

set(GPUPROF_FUZZ_SECONDS 2 CACHE STRING "Seconds that the test of a fuzzer lasts; it replays its corpus in any case")
set(GPUPROF_FUZZ_LONG_SECONDS 60 CACHE STRING "The same in the test configuration `long`")

# A fuzzer, and a test that runs the fuzzer over its folders of inputs and then for a short while longer.
# The test configuration `long` has a second test of GPUPROF_FUZZ_LONG_SECONDS. With LONG the fuzzer is built and run there
# alone. The seed is fixed; entropic=0 halves the time that the corpus takes. By hand, for long:
#   build/fuzz/tests/fuzz/chunk_fuzz -max_total_time=3600 found/ build/fuzz/tests/fuzz/corpus/chunk
function(gpuprof_fuzzer)
  if(NOT GPUPROF_BUILD_FUZZ)
    return()
  endif()
  gpuprof_parse_target(${ARGN})
  add_executable(${arg_NAME} ${arg_SOURCES})
  gpuprof_ordinary_target()
  if(arg_LONG)
    add_dependencies(gpuprof_fuzzers ${arg_NAME})
  else()
    add_dependencies(gpuprof_short_fuzzers ${arg_NAME})
  endif()
  target_compile_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
  target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
  # New inputs go to the build folder; the corpus is only read.
  set(found "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.found")
  file(MAKE_DIRECTORY "${found}")
  set(seeds)
  foreach(folder IN LISTS arg_CORPUS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND seeds "${folder}")
  endforeach()
  set(command ${arg_NAME} -seed=1 -entropic=0 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1)
  set(inputs "${found}" ${seeds} WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  if(NOT arg_LONG)
    add_test(NAME ${arg_NAME} COMMAND ${command} -max_total_time=${GPUPROF_FUZZ_SECONDS} ${inputs})
    set_tests_properties(${arg_NAME} PROPERTIES LABELS fuzz TIMEOUT ${GPUPROF_TEST_LIMIT_S})
  endif()
  add_test(NAME long_${arg_NAME} COMMAND ${command} -max_total_time=${GPUPROF_FUZZ_LONG_SECONDS} ${inputs}
           CONFIGURATIONS long)
  set_tests_properties(long_${arg_NAME} PROPERTIES LABELS long-sanitized TIMEOUT ${GPUPROF_LONG_TEST_LIMIT_S})
endfunction()
