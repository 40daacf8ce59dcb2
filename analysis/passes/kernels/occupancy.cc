// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/kernels/occupancy.h"

#include <limits>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

uint64_t Product(const google::protobuf::RepeatedField<uint32_t>& triple) {
  uint64_t product = 1;
  for (const uint32_t value : triple) product *= value;
  return product;
}

// Registers are given to warps, by 256, out of a quarter of the multiprocessor's.
uint64_t BlocksByRegisters(const proto::Device& device, uint64_t registers, uint64_t warps) {
  constexpr uint64_t kQuarters = 4, kStep = 256;
  if (registers == 0) return kNoLimit;
  const uint64_t by_warp = RoundUp(registers * device.threads_per_warp(), kStep);
  const uint64_t held = device.registers_per_multiprocessor() / kQuarters / by_warp * kQuarters;
  return held / warps;
}

// Since compute capability 8.0 the driver keeps 1 KiB of each block's.
uint64_t BlocksBySharedMemory(const proto::Device& device, uint64_t bytes) {
  const bool is_ampere = device.compute_major() >= 8;
  const uint64_t taken = RoundUp(bytes + (is_ampere ? 1024 : 0), is_ampere ? 128 : 256);
  return taken == 0 ? kNoLimit : device.shared_bytes_per_multiprocessor() / taken;
}

}  // namespace

std::optional<Occupancy> OccupancyOf(const proto::Device& device, const proto::Signature& launch) {
  const uint64_t threads = Product(launch.block());
  if (device.threads_per_warp() == 0 || device.warps_per_multiprocessor() == 0 ||
      device.blocks_per_multiprocessor() == 0 || device.multiprocessors() == 0 || threads == 0 ||
      launch.block().empty())
    return std::nullopt;
  const uint64_t warps = RoundUp(threads, device.threads_per_warp()) / device.threads_per_warp();
  const struct {
    OccupancyResource resource;
    uint64_t blocks;
  } limits[] = {
      {OccupancyResource::kWarps, device.warps_per_multiprocessor() / warps},
      {OccupancyResource::kRegisters, BlocksByRegisters(device, launch.registers(), warps)},
      {OccupancyResource::kSharedMemory,
       BlocksBySharedMemory(
           device, uint64_t{launch.static_shared_bytes()} + launch.dynamic_shared_bytes())},
      {OccupancyResource::kBlocks, device.blocks_per_multiprocessor()},
  };
  uint64_t blocks = kNoLimit;
  Occupancy occupancy;
  for (const auto& limit : limits) {
    if (limit.blocks >= blocks) continue;
    blocks = limit.blocks;
    occupancy.limit = limit.resource;
  }
  if (blocks == 0) return std::nullopt;
  occupancy.blocks = static_cast<uint32_t>(blocks);
  occupancy.ratio =
      static_cast<double>(blocks * warps) / static_cast<double>(device.warps_per_multiprocessor());
  occupancy.waves = static_cast<double>(Product(launch.grid())) /
                    static_cast<double>(blocks * device.multiprocessors());
  return occupancy;
}

}  // namespace gpuprof::analysis
