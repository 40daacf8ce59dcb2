// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The `gpuprof` command. Dispatches, nothing else.

#include "launcher/command.h"

int main(int argc, char** argv) {
  return gpuprof::launcher::Dispatch(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc)
                                              : std::vector<std::string>());
}
