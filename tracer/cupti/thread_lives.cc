// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/thread_lives.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "proto/codec/tables.h"

namespace gpuprof::tracer::cupti {
namespace {

using proto::RingHeader;
using proto::RingState;

// Lives of one id follow each other, so where one began the one before had ended.
class Search {
 public:
  explicit Search(uint64_t ticks) : ticks_(ticks) {}

  void Consider(uint32_t track, uint64_t since) {
    ThreadLife* life = since <= ticks_ ? &last_ : &next_;
    const bool is_nearer = since <= ticks_ ? since >= last_.since : since < next_.since;
    if (life->track == 0 || is_nearer) *life = {.track = track, .since = since, .until = 0};
  }

  // Without a track: there is none.
  ThreadLife Found(uint64_t now) const {
    ThreadLife found = last_;
    // A call may be under way when the first event within it opens the ring.
    if (found.track == 0) found.track = next_.track;
    found.until = next_.track != 0 ? next_.since : now;
    return found;
  }

 private:
  uint64_t ticks_;
  ThreadLife last_, next_;
};

}  // namespace

void ThreadLives::AddEnded(const RingHeader& ring) {
  const Ended ended = {
      .tid = static_cast<uint32_t>(ring.tid), .track = ring.track, .opened = ring.opened};
  if (ended_.size() < kMostEnded) return ended_.push_back(ended);
  ended_[oldest_] = ended;
  oldest_ = (oldest_ + 1) % kMostEnded;
}

ThreadLife ThreadLives::Find(uint32_t tid, uint64_t ticks, uint64_t now) {
  Search search(ticks);
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < count && slot < proto::kMaxRings; ++slot) {
    const RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    if (ring == nullptr) continue;
    const auto state = static_cast<RingState>(ring->state.load(std::memory_order_acquire));
    if (state != RingState::kOwned && state != RingState::kClosed) continue;
    if (static_cast<uint32_t>(ring->tid) == tid) search.Consider(ring->track, ring->opened);
  }
  for (const Ended& ended : ended_) {
    if (ended.tid == tid) search.Consider(ended.track, ended.opened);
  }
  const uint32_t at =
      made_index_.Find(tid, [&](uint32_t place) { return made_[place].tid == tid; });
  if (at != PlaceIndex::kNone) {
    made_[at].used = times_told_;
    search.Consider(made_[at].track, 0);
  }
  ThreadLife found = search.Found(now);
  if (found.track != 0) return found;
  found.track = host_->next_track->fetch_add(1, std::memory_order_relaxed) + 1;
  made_index_.Add(tid, static_cast<uint32_t>(made_.size()));
  made_.push_back({.tid = tid, .track = found.track, .used = times_told_});
  return found;
}

uint32_t ThreadLives::TakeMade(uint64_t now, std::vector<uint8_t>* out) {
  const auto count = static_cast<uint32_t>(made_.size() - told_);
  if (count == 0) return 0;
  codec::PbWriter writer(out);
  writer.Fixed64(1, now);
  for (; told_ < made_.size(); ++told_) {
    const uint64_t mark = writer.Begin(2);
    writer.Varint(1, made_[told_].track);
    writer.Varint(2, made_[told_].tid);
    writer.End(mark);
  }
  if (made_.size() > kMostMade) ForgetOldest();
  ++times_told_;
  return count;
}

// Programs may make a thread for each call, whose records come for some seconds after its end. One
// that lives has its track for as long.
void ThreadLives::ForgetOldest() {
  const uint32_t old = MedianUse(made_);
  const pid_t pid = getpid();
  const bool are_too_many = made_.size() > 2 * kMostMade;
  const size_t forgotten = std::erase_if(made_, [&](const Made& made) {
    if (made.used > old || made.used == times_told_) return false;
    return are_too_many || (syscall(SYS_tgkill, pid, made.tid, 0) != 0 && errno == ESRCH);
  });
  told_ = made_.size();
  if (forgotten == 0) return;
  made_index_.Clear();
  for (uint32_t i = 0; i < made_.size(); ++i) made_index_.Add(made_[i].tid, i);
}

}  // namespace gpuprof::tracer::cupti
