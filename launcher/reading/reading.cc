// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See reading.h.

#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

std::shared_ptr<const analysis::KernelRules>& Given() {
  static std::shared_ptr<const analysis::KernelRules> rules;
  return rules;
}

}  // namespace

std::string UseKernelRules(std::string_view path) {
  return analysis::ReadKernelRules(std::string(path), &Given()).message;
}

void DeclareKernelRules(Options* options, std::string* path) {
  options->Value("--kernel-rules", path, "FILE",
                 "Families of kernels that come before the built-in ones: a family and a regular "
                 "expression a line",
                 UseKernelRules);
}

std::shared_ptr<const analysis::KernelRules> GivenKernelRules() { return Given(); }

}  // namespace gpuprof::launcher
