// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See reading.h.

#include "launcher/reading/reading.h"

#include "launcher/reading/given_rules.h"

namespace gpuprof::launcher {
namespace {

std::shared_ptr<const analysis::KernelRules>& Given() {
  static std::shared_ptr<const analysis::KernelRules> rules;
  return rules;
}

std::string& GivenPath() {
  static std::string path;
  return path;
}

}  // namespace

std::string UseKernelRules(std::string_view path) {
  GivenPath() = path;
  return analysis::ReadKernelRules(std::string(path), &Given()).message;
}

void DeclareKernelRules(Options* options, std::string* path) {
  options->Value("--kernel-rules", path, "FILE",
                 "Families of kernels that come before the built-in ones: a family and a regular "
                 "expression a line",
                 UseKernelRules);
}

std::shared_ptr<const analysis::KernelRules> GivenKernelRules() { return Given(); }

const std::string& GivenKernelRulesPath() { return GivenPath(); }

}  // namespace gpuprof::launcher
