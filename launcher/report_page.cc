// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_page.h. The file's bytes are taken in by the assembler: an array of numbers in C++
// would cost the compiler seconds.

#include "launcher/report_page.h"

#define GPUPROF_TAKE_IN(name, file) \
  __asm__(                          \
      ".pushsection .rodata\n"      \
      ".global gpuprof_" name       \
      "_begin\n"                    \
      "gpuprof_" name               \
      "_begin:\n"                   \
      ".incbin \"" file             \
      "\"\n"                        \
      ".global gpuprof_" name       \
      "_end\n"                      \
      "gpuprof_" name               \
      "_end:\n"                     \
      ".byte 0\n"                   \
      ".popsection\n")

#ifdef GPUPROF_PAGE_FILE
GPUPROF_TAKE_IN("page", GPUPROF_PAGE_FILE);
extern "C" const char gpuprof_page_begin[], gpuprof_page_end[];
#endif
#ifdef GPUPROF_ENGINE_FILE
GPUPROF_TAKE_IN("engine", GPUPROF_ENGINE_FILE);
extern "C" const char gpuprof_engine_begin[], gpuprof_engine_end[];
#endif

namespace gpuprof::launcher {

std::string_view ReportPage() {
#ifdef GPUPROF_PAGE_FILE
  return {gpuprof_page_begin, static_cast<size_t>(gpuprof_page_end - gpuprof_page_begin)};
#else
  return {};
#endif
}

std::string_view PageEngine() {
#ifdef GPUPROF_ENGINE_FILE
  return {gpuprof_engine_begin, static_cast<size_t>(gpuprof_engine_end - gpuprof_engine_begin)};
#else
  return {};
#endif
}

}  // namespace gpuprof::launcher
