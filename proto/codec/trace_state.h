// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a cut .gpt file already holds, as far as recovery must know to go on behind it. One thread;
// reads only.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec/tables.h"
#include "proto/codec/trace_reader.h"
#include "proto/ring.h"

namespace gpuprof::codec {

struct TraceState {
  bool exists = false;
  bool has_end = false;
  uint64_t readable_bytes = 0;
  uint32_t next_sequence = 0;
  uint64_t blocks = 0;
  uint64_t rows = 0;
  std::vector<BlockRef> block;  // all of them; none if the file is damaged, then it gets no index
  uint32_t capture = 0;
  bool has_meta = false;
  bool has_clocks = false;
  uint32_t next_stack_node = 2;
  uint32_t next_text_id = InternTables::kFirstTextId;
  std::vector<uint8_t> health;  // the last Health message, serialized
  // Ring position below which rows are in the file, by track and kind.
  std::map<std::pair<uint32_t, uint16_t>, uint64_t> ring_end;
};

// False: the file cannot be gone on with; `error` says why.
bool ReadTraceState(const std::string& path, TraceState* state, std::string* error);

// The previous Health message with its losses replaced by those that the ring file counts now, and
// recovery's own added.
struct RecoveredLosses {
  uint64_t dropped = 0;
  uint64_t reentered = 0;
  uint64_t no_ring = 0;
  uint64_t table_full = 0;
  uint64_t thread_edges = 0;
  uint64_t unpaired = 0;     // ends of NVTX ranges
  uint64_t spans = 0;        // NVTX ranges without a row
  uint64_t names_lost = 0;   // of NVTX ranges
  uint64_t values_lost = 0;  // of their payloads
  uint64_t corrupt = 0;
  uint64_t stacks_refused = 0;
  uint64_t strings_refused = 0;
  uint64_t cut_stacks = 0;
  uint64_t rows_unwritten = 0;
  uint64_t activity_missing_ns = 0;  // before the end, nothing of CUPTI's is there
  uint32_t damaged_rings = 0;
  uint32_t rings_outside = 0;  // of the ring file
  uint64_t room_waits = 0;     // of the whole process, as room_wait_ticks
  uint64_t room_wait_ticks = 0;
  uint32_t namespaces = 0;  // made with dlmopen
  uint64_t begin_end_cpu_ns = 0;
  std::string trouble;  // why recording ended before the process did

  bool any() const {
    return dropped + reentered + no_ring + table_full + thread_edges + unpaired + spans +
                   names_lost + values_lost + corrupt + rows_unwritten + activity_missing_ns !=
               0 ||
           damaged_rings != 0 || rings_outside != 0;
  }
};
std::vector<uint8_t> MergeHealth(const std::vector<uint8_t>& previous,
                                 const RecoveredLosses& losses);

}  // namespace gpuprof::codec
