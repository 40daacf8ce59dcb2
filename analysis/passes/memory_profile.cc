// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `memory_profile`: memory of the allocators of frameworks. See passes.h.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/derived/memory_account.h"
#include "analysis/passes/memory/memory_inputs.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/memory_profile.pb.h"

namespace gpuprof::analysis {
namespace {

// Bytes that belong together, and what most of them are for.
struct LiveSum {
  uint64_t bytes = 0, count = 0, largest = 0;
  std::map<std::pair<int, int>, uint64_t> by_owner;  // category and evidence

  void Add(const MemoryLiveBlock& block) {
    bytes += block.bytes;
    ++count;
    largest = std::max(largest, block.bytes);
    by_owner[{block.of.category, block.of.evidence}] += block.bytes;
  }
  template <typename Row>
  void Fill(uint64_t peak, Row* row) const {
    const auto most =
        std::max_element(by_owner.begin(), by_owner.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    row->set_category(static_cast<results::MemoryCategory>(most->first.first));
    row->set_evidence(static_cast<results::MemoryEvidence>(most->first.second));
    row->set_bytes(bytes);
    row->set_ratio(Ratio(bytes, peak));
    row->set_count(count);
  }
};

template <typename Row>
void SortByBytes(int first, google::protobuf::RepeatedPtrField<Row>* rows) {
  std::stable_sort(rows->begin() + first, rows->end(),
                   [](const Row& a, const Row& b) { return a.bytes() > b.bytes(); });
}

// Fills the rows of one device.
class DeviceFiller {
 public:
  DeviceFiller(const Process& process, const DeviceMemoryInput& of, results::MemoryProfile* out)
      : process_(process), of_(of), account_(AccountOfMemory(of.input)), out_(*out) {}

  results::MemoryProfileDevice* Fill() {
    results::MemoryProfileDevice* const row = FillDevice();
    FillLive(row);
    FillPoints();
    for (const MemoryFailure& failure : account_.failures) FillFailure(failure);
    return row;
  }
  const MemoryAccount& account() const { return account_; }

 private:
  template <typename Row>
  Row* Own(Row* row) const {
    SetProcess(process_, row);
    row->set_device(of_.device);
    return row;
  }
  results::MemoryProfileDevice* FillDevice();
  void FillLive(results::MemoryProfileDevice* device);
  void FillPoints();
  void FillFailure(const MemoryFailure& failure);

  const Process& process_;
  const DeviceMemoryInput& of_;
  const MemoryAccount account_;
  results::MemoryProfile& out_;
};

results::MemoryProfileDevice* DeviceFiller::FillDevice() {
  results::MemoryProfileDevice* const row = out_.add_devices();
  SetProcess(process_, row);
  row->set_name(of_.device);
  row->set_event_count(account_.events);
  row->set_peak_bytes(account_.peak);
  row->set_peak_time_ns(account_.peak_time_ns);
  row->set_recorded_peak_bytes(account_.recorded_peak);
  row->set_before_bytes(account_.before_bytes);
  row->set_before_count(account_.before_count);
  row->set_before_freed_bytes(account_.before_freed);
  row->set_end_bytes(account_.end_bytes);
  row->set_end_count(account_.end_count);
  row->set_recorded_end_bytes(account_.recorded_end);
  if (account_.has_pending) row->set_pending_end_bytes(account_.pending_end);
  if (account_.has_reserved) {
    row->set_reserved_peak_bytes(account_.reserved_peak);
    row->set_reserved_at_peak_bytes(account_.reserved_at_peak);
    row->set_reserved_end_bytes(account_.reserved_end);
  }
  row->set_step_count(of_.input.step_ends.size());
  if (account_.growth_per_step) row->set_growth_per_step_bytes(*account_.growth_per_step);
  row->set_uncounted_count(account_.uncounted_count);
  row->set_uncounted_bytes(account_.uncounted_bytes);
  row->set_implied_free_count(account_.implied_frees);
  if (of_.reported_peak != 0) row->set_reported_peak_bytes(of_.reported_peak);
  return row;
}

void DeviceFiller::FillLive(results::MemoryProfileDevice* device) {
  std::map<int, LiveSum> categories;
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<std::pair<Key, bool>, LiveSum> stacks;
  std::map<uint32_t, Key> places;
  uint64_t before = 0;
  for (const MemoryLiveBlock& block : account_.live_at_peak) {
    categories[block.of.category].Add(block);
    const auto [place, is_new] = places.try_emplace(block.owner);
    if (is_new) {
      MemoryPlace told = of_.place(block.owner);
      place->second = {std::move(told.name), std::move(told.shape), std::move(told.data_type),
                       std::move(told.region)};
    }
    stacks[{place->second, block.is_before}].Add(block);
    if (block.is_before) before += block.bytes;
  }
  device->set_before_peak_bytes(before);
  device->set_peak_count(account_.live_at_peak.size());
  const int first_category = out_.categories_size(), first_stack = out_.stacks_size();
  for (const auto& each : categories) each.second.Fill(account_.peak, Own(out_.add_categories()));
  SortByBytes(first_category, out_.mutable_categories());
  for (const auto& [whose, sum] : stacks) {
    results::MemoryProfileStack* const row = Own(out_.add_stacks());
    sum.Fill(account_.peak, row);
    row->set_before(whose.second);
    const auto& [name, shape, data_type, region] = whose.first;
    row->set_name(!name.empty()  ? name
                  : whose.second ? "(live before the recording)"
                                 : "(not known)");
    row->set_largest_bytes(sum.largest);
    row->set_shape(shape);
    row->set_data_type(data_type);
    row->set_region(region);
  }
  SortByBytes(first_stack, out_.mutable_stacks());
}

void DeviceFiller::FillPoints() {
  for (const MemoryPoint& point : account_.points) {
    results::MemoryProfilePoint* const row = Own(out_.add_timeline());
    row->set_time_ns(point.time_ns);
    row->set_allocated_bytes(point.allocated);
    if (account_.has_reserved) row->set_reserved_bytes(point.reserved);
    if (account_.has_pending) row->set_pending_bytes(point.pending);
    const auto& bytes = point.by_category;
    row->set_unknown_bytes(bytes[results::MEMORY_CATEGORY_UNKNOWN]);
    row->set_parameters_bytes(bytes[results::MEMORY_CATEGORY_PARAMETERS]);
    row->set_gradients_bytes(bytes[results::MEMORY_CATEGORY_GRADIENTS]);
    row->set_optimizer_state_bytes(bytes[results::MEMORY_CATEGORY_OPTIMIZER_STATE]);
    row->set_activations_bytes(bytes[results::MEMORY_CATEGORY_ACTIVATIONS]);
    row->set_temporary_bytes(bytes[results::MEMORY_CATEGORY_TEMPORARY]);
    row->set_communication_bytes(bytes[results::MEMORY_CATEGORY_COMMUNICATION]);
    row->set_kv_cache_bytes(bytes[results::MEMORY_CATEGORY_KV_CACHE]);
    row->set_graphs_bytes(bytes[results::MEMORY_CATEGORY_GRAPHS]);
    row->set_peak(point.is_peak);
  }
}

void DeviceFiller::FillFailure(const MemoryFailure& failure) {
  results::MemoryProfileFailure* const row = Own(out_.add_failures());
  row->set_time_ns(failure.time_ns);
  row->set_name(of_.place(failure.owner).name);
  row->set_asked_bytes(failure.asked);
  row->set_device_free_bytes(failure.device_free);
  row->set_reserved_bytes(failure.reserved);
  row->set_allocated_bytes(failure.allocated);
  row->set_pending_bytes(failure.pending);
  row->set_pool_free_bytes(failure.pool.free);
  row->set_largest_free_bytes(failure.pool.largest);
  row->set_private_pool_bytes(failure.pool.private_bytes);
  row->set_private_free_bytes(failure.pool.private_free);
  row->set_shortage(failure.shortage);
  row->set_largest_fit_bytes(failure.largest_fit);
  row->set_fits_unfragmented(failure.fits_unfragmented);
  row->set_largest_free_later_bytes(failure.pool.largest_later);
  row->set_exact(account_.fits);
}

// Says how the pool was when the snapshot was taken.
void FillPool(const MemorySnapshot& snapshot, uint32_t device, bool fits,
              results::MemoryProfileDevice* row) {
  uint64_t segments = 0, free = 0, largest = 0, in_private = 0, private_free = 0, requested = 0;
  uint64_t pending = 0;
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    ++segments;
    if (segment.is_private) in_private += segment.size;
    for (size_t i = 0; i < segment.blocks; ++i) {
      const SnapshotBlock& block = snapshot.blocks[segment.first_block + i];
      if (block.state == SnapshotBlockState::kAllocated) requested += block.requested;
      if (block.state == SnapshotBlockState::kAwaitsFree) pending += block.size;
      if (block.state != SnapshotBlockState::kFree) continue;
      free += block.size;
      if (segment.is_private) {
        private_free += block.size;
      } else {
        largest = std::max(largest, block.size);
      }
    }
  }
  if (segments == 0) return;
  row->set_segment_count(segments);
  row->set_pool_free_bytes(free);
  row->set_largest_free_bytes(largest);
  if (free > private_free) row->set_fragmentation_ratio(1 - Ratio(largest, free - private_free));
  row->set_private_pool_bytes(in_private);
  row->set_private_free_bytes(private_free);
  row->set_pending_end_bytes(pending);
  if (fits) row->set_requested_end_bytes(requested);
}

void ProfileSnapshot(const Process& process, results::MemoryProfile* out) {
  const MemorySnapshot& snapshot = *process.memory_snapshot;
  for (const DeviceMemoryInput& input : InputsOfSnapshot(snapshot)) {
    const uint32_t device = input.number;
    DeviceFiller filler(process, input, out);
    results::MemoryProfileDevice* const row = filler.Fill();
    row->set_source(results::MEMORY_SOURCE_SNAPSHOT);
    row->set_event_count(snapshot.device_ends[device] - snapshot.FirstEvent(device));
    row->set_peak_range(RangesOpenAt(snapshot, device, row->peak_time_ns()));
    row->set_unknown_event_count(snapshot.unknown_events);
    FillPool(snapshot, device, filler.account().fits, row);
  }
}

void ProfileAllocators(PassContext& context, size_t index, results::MemoryProfile* out) {
  for (const AllocatorInput& input : InputsOfAllocators(context, index)) {
    const AllocatorTold& told = input.told;
    results::MemoryProfileDevice* const row =
        DeviceFiller(context.process(index), input.of, out).Fill();
    row->set_source(results::MEMORY_SOURCE_XSPACE);
    row->set_event_count(input.events);
    if (told.peak_of_life != 0)
      row->set_lifetime_peak_bytes(std::max(told.peak_of_life, told.peak));
    if (told.stack_at_peak != 0) row->set_program_peak_bytes(told.stack_at_peak);
    if (told.free_at_peak != 0) row->set_free_at_peak_bytes(told.free_at_peak);
    row->set_fragmentation_at_peak_ratio(told.fragmentation_at_peak);
  }
}

}  // namespace

Error RunMemoryProfile(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::MemoryProfile>();
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (process.memory_snapshot != nullptr) {
      ProfileSnapshot(process, out.get());
      continue;
    }
    if (HasAllocators(process)) {
      ProfileAllocators(context, index, out.get());
      continue;
    }
    for (const DeviceMemoryInput& input : InputsOfRecording(context, index))
      DeviceFiller(process, input, out.get()).Fill();
  }
  context.FillCountMeta("memory_profile", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
