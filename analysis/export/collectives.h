// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Communication in an imported trace: which collective, how much, between which ranks.
// Operations named "record_param_comms" have it, and Kineto repeats it at their kernels. Built once
// a process, then read only.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class Collectives {
 public:
  explicit Collectives(const Process& process);

  // Returns members of a JSON object for the kernels of an operation, by the operation's number.
  // Empty: the operation is not about communication.
  std::string_view MembersFor(uint64_t external) const {
    const auto found = members_.find(external);
    return found == members_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  std::unordered_map<uint64_t, std::string> members_;
};

}  // namespace gpuprof::analysis
