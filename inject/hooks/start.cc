// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The start of the program proper. Libraries that the program was linked with are initialised by
// now; until then the tracer must not call into a framework among them. Nothing else happens here.

#include "inject/hook_list.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

using namespace gpuprof::inject;

extern "C" {

GPUPROF_EXPORT int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                                     void (*init)(void), void (*fini)(void),
                                     void (*loader_fini)(void), void* stack_end) {
  g_program_started.store(1, std::memory_order_release);
  return real.__libc_start_main(main, argc, argv, init, fini, loader_fini, stack_end);
}

}  // extern "C"
