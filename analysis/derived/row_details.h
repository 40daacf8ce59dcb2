// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the details of imported rows say: the inputs of PyTorch's operations, and what XLA says
// about an operation or kernel. A detail is an object of JSON (OpTable::detail,
// KernelTable::detail). Files can be damaged: a text that is not an object says nothing.
//
// Made for one process, which must outlive it. Each text is read once. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// One input of an operation. Scalars and other values have no dimensions.
struct OpInput {
  std::string type;               // as PyTorch writes it: "c10::BFloat16", "Scalar"
  std::vector<int64_t> dims;      // elements
  std::vector<OpInput> elements;  // of a list of tensors
  bool is_tensor = false;
};

struct RowDetail {
  // PyTorch's operations have these, as texts of JSON: "[[16,559],[]]". Empty: not in the file.
  std::string shapes, types;
  std::vector<OpInput> inputs;
  std::vector<std::string> values;  // "Concrete Inputs": of scalars and lists of numbers
  // XLA and TensorFlow give these. Empty: not in the file.
  std::string hlo_op, hlo_module, hlo_category, tf_op, name, scope;
  std::string annotation;  // of the program, for a node of a CUDA graph (mark_kernels)
  std::string hlo_type;    // of the elements of the first result: "bf16"
  // XLA compiles operations of one program that are alike once: all of them have this name.
  std::string shared_name;
  std::optional<uint64_t> program_id;  // of XLA's program
  // Counts of one execution. None: not known, or the operation is half of an asynchronous one.
  std::optional<uint64_t> flops, bytes;
};

class RowDetails {
 public:
  explicit RowDetails(const Process& process) : process_(&process) {}

  // Reads a detail. `id`: string id; 0: an empty detail.
  const RowDetail& Of(uint32_t id);

 private:
  const Process* process_;
  std::unordered_map<uint32_t, RowDetail> known_;
};

// Returns the string id of a row's detail. 0: there is no detail.
template <typename Table>
uint32_t DetailOf(const Table& table, size_t row) {
  return row < table.detail.size() ? table.detail[row] : 0;
}

}  // namespace gpuprof::analysis
