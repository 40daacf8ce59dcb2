# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# Registers the test_*.py of a folder, one ctest test a file, so that files run at the same time.
#
#   gpuprof_python_tests(process SLOWEST stacks heap ENVIRONMENT A=b)
#
# test_heap.py becomes process_heap with the label process. A file with tests that are marked long becomes
# long_process_heap too, with the label long. Plain ctest runs skip it; the test preset `long` runs it.
# SLOWEST names files whose tests start first, the slowest first: ctest must not end with a long one alone.

function(gpuprof_python_tests label)
  cmake_parse_arguments(arg "" "" "SLOWEST;ENVIRONMENT" ${ARGN})
  set(python "${PROJECT_SOURCE_DIR}/.deps/venv/bin/python")
  set(environment ${arg_ENVIRONMENT} "PYTHONDONTWRITEBYTECODE=1")
  list(LENGTH arg_SLOWEST slow_count)
  file(GLOB files CONFIGURE_DEPENDS "test_*.py")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    string(REGEX REPLACE "^test_" "" stem "${stem}")
    set(name "${label}_${stem}")
    set(command "${python}" -m pytest -q -p no:cacheprovider)
    add_test(NAME ${name} COMMAND ${command} "${file}")
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${GPUPROF_TEST_LIMIT_S} ENVIRONMENT "${environment}")
    list(FIND arg_SLOWEST "${stem}" place)
    if(NOT place EQUAL -1)
      math(EXPR cost "1000 + ${slow_count} - ${place}")
      set_tests_properties(${name} PROPERTIES COST ${cost})
    endif()

    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" long_lines REGEX "mark\\.long|@short_and_long")
    if(long_lines)
      add_test(NAME long_${name} COMMAND ${command} -m long "${file}" CONFIGURATIONS long)
      set_tests_properties(long_${name} PROPERTIES LABELS long TIMEOUT ${GPUPROF_LONG_TEST_LIMIT_S} ENVIRONMENT "${environment}")
    endif()
  endforeach()
endfunction()
