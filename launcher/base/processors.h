// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lists of processors as Linux writes them ("0-3,8"), and the processors of this process. One
// thread.

#pragma once

#include <sched.h>

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

// Reads a list. Returns empty, or what is wrong.
std::string ParseProcessors(std::string_view text, cpu_set_t* set);

// Returns the list of each NUMA node's processors, as far as this process may use them. A machine
// with one node, or one that does not tell, has no entry.
std::vector<std::string> ProcessorsOfNodes();

// Keeps this process, and the children that it makes, on some processors for as long as it lives.
class HeldProcessors {
 public:
  // Does nothing with an empty list.
  explicit HeldProcessors(const std::string& list);
  HeldProcessors(const HeldProcessors&) = delete;
  HeldProcessors& operator=(const HeldProcessors&) = delete;
  ~HeldProcessors();

 private:
  bool is_held_ = false;
  cpu_set_t before_ = {};
};

}  // namespace gpuprof::launcher
