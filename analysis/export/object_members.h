// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Imported details as arguments of events: a text that is an object of JSON gives its members.
// Texts are checked once each. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class ObjectMembers {
 public:
  // Uses the process, which must outlive it.
  explicit ObjectMembers(const Process& process) : process_(process) {}

  // Returns the members without the braces. A text that is not an object gives "": files can be
  // damaged. `detail`: string id.
  std::string_view Of(uint32_t detail);

 private:
  const Process& process_;
  std::unordered_map<uint32_t, std::string_view> members_;  // by string id of an object
};

}  // namespace gpuprof::analysis
