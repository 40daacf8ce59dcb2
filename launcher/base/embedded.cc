// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See embedded.h. The files' bytes are taken in by the assembler: an array of numbers in C++ would
// cost the compiler seconds.

#include "launcher/base/embedded.h"

#define GPUPROF_EMBED(name, path)       \
  __asm__(                              \
      ".pushsection .rodata\n"          \
      ".global " #name "_begin\n" #name \
      "_begin:\n"                       \
      ".incbin \"" path                 \
      "\"\n"                            \
      ".global " #name "_end\n" #name   \
      "_end:\n"                         \
      ".byte 0\n"                       \
      ".popsection\n");                 \
  extern "C" const char name##_begin[], name##_end[]

GPUPROF_EMBED(gpuprof_notice, GPUPROF_NOTICE_FILE);
#ifdef GPUPROF_PAGE_FILE
GPUPROF_EMBED(gpuprof_page, GPUPROF_PAGE_FILE);
#endif
#ifdef GPUPROF_ENGINE_FILE
GPUPROF_EMBED(gpuprof_engine, GPUPROF_ENGINE_FILE);
#endif

namespace gpuprof::launcher {

std::string_view Notice() {
  return {gpuprof_notice_begin, static_cast<size_t>(gpuprof_notice_end - gpuprof_notice_begin)};
}

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
