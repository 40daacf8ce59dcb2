// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_page.h. The file's bytes are taken in by the assembler: an array of numbers in C++
// would cost the compiler seconds.

#include "launcher/report_page.h"

#ifdef GPUPROF_PAGE_FILE

__asm__(
    ".pushsection .rodata\n"
    ".global gpuprof_page_begin\n"
    "gpuprof_page_begin:\n"
    ".incbin \"" GPUPROF_PAGE_FILE
    "\"\n"
    ".global gpuprof_page_end\n"
    "gpuprof_page_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char gpuprof_page_begin[], gpuprof_page_end[];

#endif

namespace gpuprof::launcher {

std::string_view ReportPage() {
#ifdef GPUPROF_PAGE_FILE
  return {gpuprof_page_begin, static_cast<size_t>(gpuprof_page_end - gpuprof_page_begin)};
#else
  return {};
#endif
}

}  // namespace gpuprof::launcher
