// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/torch/op_names.h"
#include "tracer/base/map_table.h"

namespace gpuprof::tracer {
namespace {

constinit proto::NameTable table{proto::kFirstOpName};

}  // namespace

bool NamesInit() {
  if (table.ready()) return true;
  void* memory = MapTable(proto::NameTable::kMemoryBytes);
  return memory != nullptr && table.Use(memory);
}

proto::NameTable& OpNames() noexcept { return table; }

void NamesBeginFile() noexcept { table.BeginFile(); }

uint64_t NamesLost() { return table.lost(); }

}  // namespace gpuprof::tracer
