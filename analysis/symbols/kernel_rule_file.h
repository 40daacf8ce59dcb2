// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The families of a trace's kernels: those that users name in a file (--kernel-rules), then those
// of analysis/symbols/kernel_family.h. A line of the file has the family, blanks, and a regular
// expression that is looked for in the kernel's readable name. The first line that holds decides.
// Lines that begin with # are comments.
//
// KernelRules is const once made: any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/model/trace.h"
#include "proto/kinds/kernels.pb.h"

namespace gpuprof::analysis {

class KernelRules {
 public:
  // Reads the text of a file. Returns null, and says in `fault` which line is wrong and why.
  // `path` is for the words.
  static std::shared_ptr<const KernelRules> Parse(std::string_view text, const std::string& path,
                                                  std::string* fault);
  KernelRules(const KernelRules&) = delete;
  KernelRules& operator=(const KernelRules&) = delete;
  ~KernelRules();

  // Returns the family of the first rule that holds; NONE: no rule does.
  results::KernelFamily Of(std::string_view name) const;

 private:
  struct Rule;
  struct Rules;
  explicit KernelRules(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

// Returns the family of a kernel, by its readable name. Never NONE.
results::KernelFamily FamilyOf(const Process& process, std::string_view name);

// Returns the family of a kernel, by the string id of its name. The work of one name is done each
// time: callers keep the answer.
results::KernelFamily FamilyOfString(const Process& process, uint32_t name);

}  // namespace gpuprof::analysis
