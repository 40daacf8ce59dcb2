// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_order_bodies.h.

#include "tests/unit/ring/memory_order_bodies.h"

namespace gpuprof {

uint64_t ProduceAll(proto::RingHeader* ring, const std::vector<Way>& ways,
                    const std::vector<std::vector<proto::Record>>& groups) {
  uint64_t written = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    written += Produce(ring, ways[i], i + 1, groups[i].data()) ? 1 : 0;
  }
  return written;
}

uint64_t Drain(proto::RingHeader* ring, codec::RecordSorter* sorter, uint64_t position, int times) {
  const uint64_t portion = ring->capacity / proto::kWakeShare;
  while (times-- > 0) {
    const uint64_t head = ring->head.load(std::memory_order_acquire);
    while (position != head) {
      position = sorter->Consume(ring, position, head, nullptr, position + portion);
      sorter->Release(ring, position);
    }
  }
  return position;
}

void FreeTooEarly(proto::RingHeader* ring, codec::RecordSorter* sorter) {
  const uint64_t head = ring->head.load(std::memory_order_acquire);
  sorter->Release(ring, head);
  sorter->Consume(ring, 0, head, nullptr);
}

}  // namespace gpuprof
