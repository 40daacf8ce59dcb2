// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/frame_names.h"

#include "proto/named_frame.h"
#include "tracer/base/map_table.h"

namespace gpuprof::tracer {
namespace {

constinit proto::NameTable names{proto::kFirstFrameName};

}  // namespace

bool FrameNamesInit() {
  if (names.ready()) return true;
  void* memory = MapTable(proto::NameTable::kMemoryBytes);
  return memory != nullptr && names.Use(memory);
}

void FrameNamesBeginFile() { names.BeginFile(); }

proto::NameTable& FrameNames() noexcept { return names; }

}  // namespace gpuprof::tracer
