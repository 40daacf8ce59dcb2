// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes rows of what PyTorch's compiler generated: reads the generated files, and writes what they
// say of each kernel as values (proto/compiled_names.h).
//
// Only files that the compiler has loaded in this process are read: regular ones, up to a size.
// The drain thread, or whoever holds its pass.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/tables.h"
#include "tracer/cupti/block_sink.h"
#include "tracer/inductor/generated_file.h"
#include "tracer/inductor/generated_modules.h"
#include "tracer/jax/window_rows.h"

namespace gpuprof::tracer::inductor {

class KernelRows {
 public:
  explicit KernelRows(codec::InternTables* strings) : strings_(strings) {}
  KernelRows(const KernelRows&) = delete;
  KernelRows& operator=(const KernelRows&) = delete;

  // Takes the files that wait, and writes their rows at the time `now`, in ticks. `keeps`: the rows
  // can be written again.
  void Pass(uint64_t now, uint32_t time_shift, bool keeps, jax::TrackSource* tracks,
            cupti::BlockSink* sink);
  // Writes the kept rows again: a flight recorder lets the older ones go.
  void WriteAgain(uint64_t now, uint32_t time_shift, jax::TrackSource* tracks,
                  cupti::BlockSink* sink);

  // Files that could not be read, or were too long; kernels above the limits.
  uint64_t files_lost() const { return files_lost_; }
  uint64_t kernels_lost() const { return kernels_lost_; }

 private:
  struct Row {
    uint32_t name = 0, text = 0;  // string ids
    uint64_t value = 0;
  };

  void Read(const GeneratedModule& module);
  void Take(const GeneratedKernel& kernel, uint32_t file);
  uint32_t IdOf(Text text);
  void Write(size_t from, uint64_t now, uint32_t time_shift, jax::TrackSource* tracks,
             cupti::BlockSink* sink);

  codec::InternTables* strings_;
  std::vector<Row> rows_;
  uint32_t tid_ = 0;  // of the thread on whose track the rows are
  uint64_t kernels_ = 0;
  uint64_t files_lost_ = 0, kernels_lost_ = 0;
};

}  // namespace gpuprof::tracer::inductor
