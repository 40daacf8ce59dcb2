# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# gpuprof_cupti_test: the tracer's reading of CUPTI, outside of the tracer's object. Its tests link it, and so
# does the fuzzer of CUPTI's records in builds without tests.

include_guard(GLOBAL)
gpuprof_library(NAME gpuprof_cupti_test
                SOURCES "${PROJECT_SOURCE_DIR}/tracer/base/loaded_library.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/base/map_table.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/activity_sorter.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/api_functions.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/buffers.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/calling_threads.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/context_events.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/cubin.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/device_records.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/memory_records.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/graph_events.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/graph_mode.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/graph_table.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/kernel_code.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/launch_stacks.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/driver_calls.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/event_times.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/library_search.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/matrix_opcodes.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/quirks.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/rate_budget.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/signatures.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/stream_events.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/stream_table.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/table_writer.cc"
                        "${PROJECT_SOURCE_DIR}/tracer/cupti/thread_lives.cc"
                DEPS gpuprof_codec gpuprof_messages)
