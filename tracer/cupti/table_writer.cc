// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/table_writer.h"

namespace gpuprof::tracer::cupti {

void TableWriter::WriteKept(BlockSink* sink) {
  size_t written = 0;
  for (; written < kept_.size(); ++written) {
    const Table& table = kept_[written];
    if (!sink->WriteTableBlock(table.kind, table.field, table.message, table.entries)) break;
    kept_bytes_ -= table.message.size();
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(written));
  if (kept_.empty()) kept_.shrink_to_fit();
}

void TableWriter::Write(proto::ChunkKind kind, int field, const std::vector<uint8_t>& message,
                        uint32_t entries, BlockSink* sink) {
  if (kept_.empty() && sink->WriteTableBlock(kind, field, message, entries)) return;
  if (kept_bytes_ + message.size() > kMostKept) {
    gave_up_ = true;
    return;
  }
  kept_bytes_ += message.size();
  kept_.push_back({kind, field, message, entries});
}

}  // namespace gpuprof::tracer::cupti
