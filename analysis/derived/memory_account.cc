// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_account.h.

#include "analysis/derived/memory_account.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/derived/address_map.h"

namespace gpuprof::analysis {
namespace {

// What happened before the recording, by what the events and the end tell.
struct BeforeRecording {
  std::vector<MemoryLiveBlock> blocks;
  MemoryRanges ranges;  // of the begin
  uint64_t events = 0, allocations = 0;
  bool has_free = false;  // the events tell when the program gives a block back
  bool has_reserved = false, fits = true;
  std::unordered_map<uint64_t, uint64_t> most_gradients;  // by size, live at once
  // By number of allocation: known by their life; may be shorter. What an operation of an optimizer
  // allocates passes, if it is freed before the next backward pass.
  std::vector<bool> gradients, passing;
};

// Finds gradients: what a backward pass allocates, and what still lives when the optimizer begins.
// Counts those of each size that live at once, with those whose place says it. Finds what
// operations of an optimizer need for a moment.
class GradientFinder {
 public:
  GradientFinder(const MemoryInput& input, BeforeRecording* out) : input_(input), out_(*out) {}

  // Takes an allocation, which is the next one. A block of the same address was freed before.
  void Alloc(const MemoryEvent& event) {
    const MemoryOwner& owner = input_.owners[event.owner];
    const uint64_t number = number_++;
    if (owner.category == results::MEMORY_CATEGORY_GRADIENTS) {
      Count(event.address, event.bytes);
    } else if (owner.is_backward) {
      young_[event.address] = {number, event.bytes};
      if (of_optimizer_.size() != 0) of_optimizer_.Clear();
    } else if (IsOfOptimizer(owner)) {
      of_optimizer_[event.address] = number;
    }
  }
  static bool IsOfOptimizer(const MemoryOwner& owner) {
    return owner.category == results::MEMORY_CATEGORY_OPTIMIZER_STATE &&
           owner.evidence == results::MEMORY_EVIDENCE_OPERATION;
  }
  void Free(uint64_t address) {
    young_.Erase(address);
    if (const uint64_t* const number = of_optimizer_.Find(address)) {
      Note(*number, &out_.passing);
      of_optimizer_.Erase(address);
    }
    const uint64_t* const bytes = gradients_.Find(address);
    if (bytes == nullptr) return;
    --counts_[*bytes];
    gradients_.Erase(address);
  }
  // Sees whether the optimizer has begun.
  void Look(const MemoryEvent& event) {
    bool has_begun = input_.owners[event.owner].is_optimizer;
    for (;
         next_ < input_.optimizer_begins.size() && input_.optimizer_begins[next_] <= event.time_ns;
         ++next_)
      has_begun = true;
    if (!has_begun) return;
    young_.Each([this](uint64_t address, const std::pair<uint64_t, uint64_t>& block) {
      Note(block.first, &out_.gradients);
      Count(address, block.second);
    });
    if (young_.size() != 0) young_.Clear();
  }
  void Forget() {
    young_.Clear();
    of_optimizer_.Clear();
    gradients_.Clear();
    counts_.clear();
  }

 private:
  static void Note(uint64_t number, std::vector<bool>* numbers) {
    numbers->resize(std::max<size_t>(numbers->size(), number + 1));
    (*numbers)[number] = true;
  }
  void Count(uint64_t address, uint64_t bytes) {
    gradients_[address] = bytes;
    uint64_t& most = out_.most_gradients[bytes];
    most = std::max(most, ++counts_[bytes]);
  }

  const MemoryInput& input_;
  BeforeRecording& out_;
  uint64_t number_ = 0;
  size_t next_ = 0;
  AddressMap<std::pair<uint64_t, uint64_t>> young_;  // number and bytes
  AddressMap<uint64_t> of_optimizer_;                // number
  AddressMap<uint64_t> gradients_;                   // bytes
  std::unordered_map<uint64_t, uint64_t> counts_;    // by bytes
};

// Blocks of the end that had no event were there before. Their category is inferred, if their
// place is not known: as many as there are gradients of their size are parameters.
void AddBlocksOfEnd(const MemoryInput& input, AddressMap<std::pair<uint64_t, uint32_t>>* live,
                    BeforeRecording* before) {
  std::unordered_map<uint64_t, uint64_t> parameters = before->most_gradients;
  for (const MemoryEndBlock& block : input.end_live) {
    if (live->Find(block.address) != nullptr) continue;
    MemoryLiveBlock kept{block.address, block.bytes, block.owner, true, input.owners[block.owner]};
    const auto found = parameters.find(block.bytes);
    if (kept.of.category == results::MEMORY_CATEGORY_UNKNOWN && found != parameters.end()) {
      const bool is_parameter = found->second != 0;
      if (is_parameter) --found->second;
      if (is_parameter || input.has_optimizer)
        kept.of = {is_parameter ? results::MEMORY_CATEGORY_PARAMETERS
                                : results::MEMORY_CATEGORY_OPTIMIZER_STATE,
                   results::MEMORY_EVIDENCE_SIZE, false, false};
    }
    before->blocks.push_back(kept);
  }
}

// Undoes the events of the pool from the end on.
void FindFirstRanges(const MemoryInput& input, const std::vector<MemoryEvent>& of_pool,
                     BeforeRecording* before) {
  for (const MemoryRange& range : input.end_ranges) before->ranges.Add(range);
  for (size_t i = of_pool.size(); i-- > 0;) {
    const MemoryEvent& event = of_pool[i];
    if (event.change == MemoryChange::kReserve) {
      before->ranges.Remove(event.address, event.bytes);
    } else {
      before->ranges.Add({event.address, event.bytes, false, event.is_expandable});
    }
  }
}

// Most events lie in segments of the begin, of the end, or of some moment between.
bool DoEventsFit(const MemoryInput& input, const std::vector<MemoryEvent>& of_pool,
                 uint64_t allocations) {
  if (input.end_ranges.empty() || allocations == 0) return !input.end_ranges.empty();
  MemoryRanges all;
  for (const MemoryRange& range : input.end_ranges) all.Add(range);
  for (const MemoryEvent& event : of_pool) all.Add({event.address, event.bytes, false, false});
  uint64_t inside = 0;
  input.each([&](const MemoryEvent& event) {
    if (event.change == MemoryChange::kAlloc) inside += all.Contains(event.address) ? 1 : 0;
  });
  return inside * 2 >= allocations;
}

BeforeRecording LookBefore(const MemoryInput& input) {
  BeforeRecording before;
  std::vector<MemoryEvent> of_pool;
  AddressMap<std::pair<uint64_t, uint32_t>> live;  // bytes and owner
  GradientFinder gradients(input, &before);
  bool is_known = true;
  const auto give_back = [&](const MemoryEvent& event) {
    if (live.Find(event.address) != nullptr) {
      gradients.Free(event.address);
      live.Erase(event.address);
    } else if (is_known && event.bytes != 0) {
      before.blocks.push_back(
          {event.address, event.bytes, event.owner, true, input.owners[event.owner]});
    }
  };
  // If the events have frees, a return of an unknown block follows a free from before the
  // recording.
  input.each([&](const MemoryEvent& event) {
    before.has_free |= event.change == MemoryChange::kFree;
    ++before.events;
  });
  input.each([&](const MemoryEvent& event) {
    gradients.Look(event);
    switch (event.change) {
      case MemoryChange::kAlloc: {
        ++before.allocations;
        gradients.Free(event.address);
        gradients.Alloc(event);
        live[event.address] = {event.bytes, event.owner};
        break;
      }
      case MemoryChange::kFree:
        give_back(event);
        break;
      case MemoryChange::kPoolGotIt:
        if (!before.has_free) give_back(event);
        break;
      case MemoryChange::kReserve:
      case MemoryChange::kUnreserve:
        of_pool.push_back(event);
        break;
      case MemoryChange::kTotals:
        before.has_reserved = true;
        break;
      case MemoryChange::kForget:
        live.Clear();
        gradients.Forget();
        is_known = false;
        break;
      case MemoryChange::kFailure:
        break;
    }
  });
  before.fits = input.end_ranges.empty() || DoEventsFit(input, of_pool, before.allocations);
  before.has_reserved |= !input.end_ranges.empty();
  if (before.fits) AddBlocksOfEnd(input, &live, &before);
  FindFirstRanges(input, of_pool, &before);
  return before;
}

// Walks the events with what was there before.
class AccountMaker {
 public:
  AccountMaker(const MemoryInput& input, const BeforeRecording& before, MemoryAccount* out)
      : input_(input), before_(before), out_(*out), ranges_(before.ranges) {
    for (const MemoryRange& range : input.end_ranges) end_ranges_.Add(range);
    out_.events = before.events;
    window_ =
        std::max<uint64_t>(1, (out_.events + kMostMemoryPoints - 2) / (kMostMemoryPoints - 1));
  }

  void Begin();
  void Take(const MemoryEvent& event);
  void Finish();
  // Lists what is live, as the account stands now.
  std::vector<MemoryLiveBlock> Live() const;
  uint64_t peak_event() const { return peak_event_; }
  uint64_t taken() const { return taken_; }

 private:
  struct Block {
    uint64_t bytes = 0;
    uint32_t owner = 0;
    bool is_before = false, is_pending = false;
    MemoryOwner of;
  };

  MemoryOwner OwnerAt(uint64_t address, uint32_t owner) const {
    if (ranges_.IsPrivate(address))
      return {results::MEMORY_CATEGORY_GRAPHS, results::MEMORY_EVIDENCE_POOL, false, false};
    return input_.owners[owner];
  }
  void AddBlock(uint64_t address, const Block& block) {
    blocks_[address] = block;
    now_.allocated += block.bytes;
    now_.by_category[static_cast<size_t>(block.of.category)] += block.bytes;
    if (!block.is_before) recorded_ += block.bytes;
  }
  // Takes a block out of what is allocated.
  void Unlive(const Block& block) {
    now_.allocated -= block.bytes;
    now_.by_category[static_cast<size_t>(block.of.category)] -= block.bytes;
    if (block.is_before) {
      out_.before_freed += block.bytes;
    } else {
      recorded_ -= block.bytes;
    }
  }
  void Alloc(const MemoryEvent& event);
  void Free(const MemoryEvent& event, bool goes_to_pool);
  void NoteMoment(int64_t time_ns);
  void Fail(const MemoryEvent& event);
  void KeepPoint();
  void NoteSteps(int64_t time_ns);

  const MemoryInput& input_;
  const BeforeRecording& before_;
  MemoryAccount& out_;
  MemoryRanges ranges_, end_ranges_;
  AddressMap<Block> blocks_;
  MemoryPoint now_, highest_;
  uint64_t allocations_ = 0;
  uint64_t unknown_before_ = 0;  // known as a sum alone
  uint64_t recorded_ = 0, taken_ = 0, peak_event_ = 0, window_ = 1, in_window_ = 0;
  std::vector<uint64_t> at_steps_;  // allocated at the end of each step
};

void AccountMaker::Begin() {
  out_.fits = before_.fits;
  out_.has_pending = before_.has_free && input_.tells_returns;
  out_.has_reserved = before_.has_reserved;
  for (const MemoryLiveBlock& block : before_.blocks) {
    MemoryOwner of = block.of;
    if (ranges_.IsPrivate(block.address)) of = OwnerAt(block.address, block.owner);
    AddBlock(block.address, {block.bytes, block.owner, true, false, of});
  }
  out_.before_count = before_.blocks.size();
  out_.before_bytes = now_.allocated;
  if (input_.before_bytes > now_.allocated) {
    unknown_before_ = input_.before_bytes - now_.allocated;
    now_.allocated += unknown_before_;
    now_.by_category[results::MEMORY_CATEGORY_UNKNOWN] += unknown_before_;
    out_.before_bytes = now_.allocated;
  }
  now_.reserved = ranges_.bytes();
  out_.peak = now_.allocated;
  out_.reserved_peak = out_.reserved_at_peak = now_.reserved;
  highest_ = now_;
}

void AccountMaker::Alloc(const MemoryEvent& event) {
  const Block* const known = blocks_.Find(event.address);
  if (known != nullptr) {
    if (known->is_pending) {
      now_.pending -= known->bytes;
    } else {
      Unlive(*known);
      ++out_.implied_frees;
    }
  }
  MemoryOwner owner = OwnerAt(event.address, event.owner);
  const uint64_t number = allocations_++;
  if (number < before_.gradients.size() && before_.gradients[number] && owner.is_backward)
    owner = {results::MEMORY_CATEGORY_GRADIENTS, results::MEMORY_EVIDENCE_LIFE, false, false};
  if (number < before_.passing.size() && before_.passing[number] &&
      GradientFinder::IsOfOptimizer(owner))
    owner = {results::MEMORY_CATEGORY_TEMPORARY, results::MEMORY_EVIDENCE_LIFE, false, false};
  AddBlock(event.address, {event.bytes, event.owner, false, false, owner});
}

void AccountMaker::Free(const MemoryEvent& event, bool goes_to_pool) {
  Block* const found = blocks_.Find(event.address);
  if (found == nullptr) return;
  Block& block = *found;
  if (block.is_pending) {
    if (!goes_to_pool) return;
    now_.pending -= block.bytes;
    blocks_.Erase(event.address);
    return;
  }
  if (goes_to_pool && before_.has_free) return;  // it was given back before the recording
  Unlive(block);
  if (out_.has_pending && !goes_to_pool) {
    block.is_pending = true;
    now_.pending += block.bytes;
  } else {
    blocks_.Erase(event.address);
  }
}

std::vector<MemoryLiveBlock> AccountMaker::Live() const {
  std::vector<MemoryLiveBlock> live;
  blocks_.Each([&live](uint64_t address, const Block& block) {
    if (!block.is_pending)
      live.push_back({address, block.bytes, block.owner, block.is_before, block.of});
  });
  std::sort(live.begin(), live.end(), [](const MemoryLiveBlock& a, const MemoryLiveBlock& b) {
    return a.address < b.address;
  });
  if (unknown_before_ != 0) live.push_back({0, unknown_before_, 0, true, {}});
  return live;
}

void AccountMaker::Fail(const MemoryEvent& event) {
  if (out_.failures.size() == kMostMemoryFailures) return;
  MemoryFailure failure;
  failure.time_ns = event.time_ns;
  failure.owner = event.owner;
  failure.asked = event.bytes;
  failure.device_free = event.device_free;
  failure.allocated = now_.allocated;
  failure.pending = now_.pending;
  std::vector<UsedPart> used;
  blocks_.Each([&used](uint64_t address, const Block& block) {
    used.push_back({address, block.bytes, block.is_pending});
  });
  std::sort(used.begin(), used.end(),
            [](const UsedPart& a, const UsedPart& b) { return a.begin < b.begin; });
  failure.pool = ranges_.State(used);
  failure.reserved = failure.pool.reserved;
  const uint64_t free = failure.pool.free - failure.pool.private_free;
  failure.largest_fit = std::max(failure.device_free, failure.pool.largest);
  failure.fits_unfragmented = failure.device_free + free >= failure.asked;
  failure.shortage = out_.fits ? ShortageOf(failure) : results::MEMORY_SHORTAGE_UNKNOWN;
  out_.failures.push_back(failure);
}

void AccountMaker::KeepPoint() {
  if (in_window_ == 0) return;
  out_.points.push_back(highest_);
  in_window_ = 0;
}

void AccountMaker::NoteMoment(int64_t time_ns) {
  now_.time_ns = time_ns;
  out_.recorded_peak = std::max(out_.recorded_peak, recorded_);
  out_.reserved_peak = std::max(out_.reserved_peak, now_.reserved);
  now_.is_peak = false;
  if (now_.allocated > out_.peak) {
    out_.peak = now_.allocated;
    out_.peak_time_ns = time_ns;
    out_.reserved_at_peak = now_.reserved;
    peak_event_ = taken_;
  }
  if (in_window_ == 0 || now_.allocated > highest_.allocated) highest_ = now_;
  if (++in_window_ == window_) KeepPoint();
}

void AccountMaker::NoteSteps(int64_t time_ns) {
  while (at_steps_.size() < input_.step_ends.size() && input_.step_ends[at_steps_.size()] < time_ns)
    at_steps_.push_back(now_.allocated);
}

void AccountMaker::Take(const MemoryEvent& event) {
  NoteSteps(event.time_ns);
  ++taken_;
  switch (event.change) {
    case MemoryChange::kAlloc:
      Alloc(event);
      break;
    case MemoryChange::kFree:
    case MemoryChange::kPoolGotIt:
      Free(event, event.change == MemoryChange::kPoolGotIt);
      break;
    case MemoryChange::kReserve:
      ranges_.Add(
          {event.address, event.bytes, end_ranges_.IsPrivate(event.address), event.is_expandable});
      now_.reserved = ranges_.bytes();
      break;
    case MemoryChange::kUnreserve:
      ranges_.Remove(event.address, event.bytes);
      now_.reserved = ranges_.bytes();
      break;
    case MemoryChange::kTotals:
      now_.reserved = event.bytes;
      break;
    case MemoryChange::kForget:
      blocks_.Clear();
      unknown_before_ = recorded_ = 0;
      now_ = {};
      break;
    case MemoryChange::kFailure:
      Fail(event);
      break;
  }
  NoteMoment(event.time_ns);
}

void AccountMaker::Finish() {
  NoteSteps(INT64_MAX);
  KeepPoint();
  const auto peak = std::max_element(
      out_.points.begin(), out_.points.end(),
      [](const MemoryPoint& a, const MemoryPoint& b) { return a.allocated < b.allocated; });
  if (peak != out_.points.end()) peak->is_peak = peak->allocated == out_.peak;
  out_.end_bytes = now_.allocated;
  out_.pending_end = now_.pending;
  out_.recorded_end = recorded_;
  out_.reserved_end = now_.reserved;
  blocks_.Each(
      [this](uint64_t, const Block& block) { out_.end_count += block.is_pending ? 0 : 1; });
  if (!out_.fits) {
    for (const MemoryEndBlock& block : input_.end_live) {
      if (blocks_.Find(block.address) != nullptr) continue;
      ++out_.uncounted_count;
      out_.uncounted_bytes += block.bytes;
    }
  }
  constexpr size_t kLeastSteps = 3;
  if (at_steps_.size() < kLeastSteps) return;
  const int64_t grown = static_cast<int64_t>(at_steps_.back() - at_steps_.front());
  out_.growth_per_step = grown / static_cast<int64_t>(at_steps_.size() - 1);
}

}  // namespace

results::MemoryShortage ShortageOf(const MemoryFailure& failure) {
  const PoolState& pool = failure.pool;
  const uint64_t asked = failure.asked, device = failure.device_free;
  const uint64_t free = pool.free - pool.private_free;
  if (std::max(pool.largest, device) >= asked) return results::MEMORY_SHORTAGE_UNKNOWN;
  if (device + free >= asked) {
    // One piece would be there, had a stream ended its work.
    return pool.largest_later >= asked ? results::MEMORY_SHORTAGE_PENDING_FREE
                                       : results::MEMORY_SHORTAGE_FRAGMENTATION;
  }
  if (pool.largest_later >= asked || device + free + failure.pending >= asked)
    return results::MEMORY_SHORTAGE_PENDING_FREE;
  if (pool.private_free != 0 && device + free + failure.pending + pool.private_free >= asked)
    return results::MEMORY_SHORTAGE_GRAPH_POOLS;
  return results::MEMORY_SHORTAGE_CAPACITY;
}

MemoryAccount AccountOfMemory(const MemoryInput& input) {
  MemoryAccount account;
  const BeforeRecording before = LookBefore(input);
  uint64_t peak_event = 0;
  {
    AccountMaker maker(input, before, &account);
    maker.Begin();
    input.each([&](const MemoryEvent& event) { maker.Take(event); });
    maker.Finish();
    peak_event = maker.peak_event();
  }
  // Once more, up to the peak.
  MemoryAccount again;
  AccountMaker maker(input, before, &again);
  maker.Begin();
  input.each([&](const MemoryEvent& event) {
    if (maker.taken() < peak_event) maker.Take(event);
  });
  account.live_at_peak = maker.Live();
  return account;
}

}  // namespace gpuprof::analysis
