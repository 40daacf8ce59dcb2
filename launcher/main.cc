// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The `gpuprof` command. Dispatches, nothing else.

#include "launcher/command.h"
#include "launcher/record/out_of_memory.h"

int main(int argc, char** argv) {
  gpuprof::launcher::PrepareForNoMemory(argc, argv);
  return gpuprof::launcher::Dispatch(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc)
                                              : std::vector<std::string>());
}
