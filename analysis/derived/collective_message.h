// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a trace says of the message of one collective: the group of ranks, its place among the
// group's collectives, and its size. PyTorch writes it at kernels and at "record_param_comms":
// ParamCommsUtils.hpp. Pure, any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::analysis {

enum class CollectiveKind : uint8_t {
  kUnknown,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
  kSend,
  kReceive,
};
inline constexpr size_t kCollectiveKinds = 12;

// The texts are parts of the detail that was read.
struct CollectiveMessage {
  std::string_view name;         // "allreduce"
  std::string_view group;        // "3"; empty: not known
  std::string_view description;  // "mesh_dp"
  std::string_view ranks;        // "[0, 1]"; a long list is cut: "[0, 1, ...]"
  uint32_t group_size = 0;       // 0: not known
  int64_t sequence = -1;         // -1: not known
  int64_t source = -1, destination = -1;
  int64_t rank_start = -1, rank_stride = -1;  // of a group whose ranks have one distance
  std::optional<uint64_t> in_bytes, out_bytes;
};

// Reads a detail: a flat object of JSON. None: it is not of a collective.
std::optional<CollectiveMessage> ReadMessage(std::string_view detail);

// Returns what a collective of this name is: "allreduce", "_allgather_base", "c10d::allreduce_",
// "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "gloo:all_reduce".
CollectiveKind KindOfCollective(std::string_view name);

// Returns the name of the kind: "all_reduce"; empty: it is not known.
std::string_view KindName(CollectiveKind kind);

// Returns whether all ranks have the result at one moment, as each needs the data of all.
bool EndsTogether(CollectiveKind kind);

// Returns whether no rank can have the result before all ranks came. A rank may have nothing to
// exchange with those that are missing, so not all that ends together is among it.
bool WaitsForAll(CollectiveKind kind);

// Returns whether it is between two ranks.
inline bool IsMessage(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

// Returns the bytes by which NCCL's tests compute the bandwidth: those of the larger of a rank's
// buffers. None: they are not known.
std::optional<uint64_t> SizeOf(const CollectiveMessage& message);

// Returns the bus bandwidth over the algorithm bandwidth of `ranks` ranks: nccl-tests,
// PERFORMANCE.md. 0: the kind moves no data, or is not known.
double BusFactor(CollectiveKind kind, uint64_t ranks);

// Returns the bytes of a number by the name of its type: "BFloat16", "c10::Half", "float". 0: not
// known.
uint64_t BytesOfType(std::string_view type);

}  // namespace gpuprof::analysis
