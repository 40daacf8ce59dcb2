// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/native_events.h"

#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tracer/base/map_table.h"
#include "tracer/stack/unwind.h"

namespace gpuprof::tracer {
namespace {

// Bytes of a stack that are copied, from its top. Deeper stacks lack their outermost frames.
constexpr uint32_t kStackBytes = 8 * 1024;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kRingBytes = 16 * kPageBytes;  // some samples: it is read each 10 ms
// Bits of registers of x86-64, by asm/perf_regs.h.
constexpr uint64_t kFp = 1u << 6, kSp = 1u << 7, kIp = 1u << 8;

perf_event_mmap_page* HeadOf(uint8_t* ring) {
  return reinterpret_cast<perf_event_mmap_page*>(ring);
}

uint64_t WordAt(const uint8_t* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Calls `work` while no module can be unloaded: the code of another thread's stack may go at any
// time, with the tables that the walk reads.
template <typename Work>
void WhileModulesStay(const Work& work) {
  // The loader's list is locked around the callback.
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* opaque) {
        (*static_cast<const Work*>(opaque))();
        return 1;
      },
      const_cast<Work*>(&work));
}

// Walks the copy of a stack whose top was at `sp`. Words of the copy that point into the stack are
// made to point into the copy.
uint32_t Walk(uint64_t ip, uint64_t sp, uint64_t fp, uint8_t* copy, uint64_t bytes, uint64_t* pcs) {
  const uint64_t to = reinterpret_cast<uint64_t>(copy);
  const auto moved = [=](uint64_t word) { return word - sp < bytes ? word - sp + to : word; };
  for (uint64_t at = 0; at + 8 <= bytes; at += 8) {
    const uint64_t word = moved(WordAt(copy + at));
    std::memcpy(copy + at, &word, sizeof(word));
  }
  StackBounds bounds;
  bounds.lo = to;
  bounds.hi = to + bytes / 8 * 8;
  bounds.foreign = bounds.copied = true;
  uint32_t frames = 0;
  WhileModulesStay([&] {
    frames = WalkInterrupted({ip, to, moved(fp)}, bounds, pcs, proto::kMaxStackFrames);
  });
  // Readers look up the byte before each program counter, as those of callers are return addresses.
  if (frames != 0 && pcs[0] == ip) ++pcs[0];
  return frames;
}

}  // namespace

int NativeEvents::Open(int32_t tid) {
  Close();
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = kNativePeriodNs;
  attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.sample_regs_user = kFp | kSp | kIp;
  attributes.sample_stack_user = kStackBytes;
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return errno;
  void* const ring = mmap(nullptr, kPageBytes + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                          static_cast<int>(descriptor), 0);
  if (ring == MAP_FAILED) {
    const int error = errno;
    close(static_cast<int>(descriptor));
    return error;
  }
  NoteMapped(kPageBytes + kRingBytes);
  descriptor_ = static_cast<int>(descriptor);
  ring_ = static_cast<uint8_t*>(ring);
  return 0;
}

void NativeEvents::Close() {
  if (descriptor_ < 0) return;
  munmap(ring_, kPageBytes + kRingBytes);
  NoteMapped(-static_cast<int64_t>(kPageBytes + kRingBytes));
  close(descriptor_);
  descriptor_ = -1;
}

void NativeEvents::Copy(uint64_t from, void* to, uint64_t bytes) const {
  const uint8_t* const data = ring_ + kPageBytes;
  const uint64_t at = from % kRingBytes;
  const uint64_t first = std::min(bytes, kRingBytes - at);
  std::memcpy(to, data + at, first);
  std::memcpy(static_cast<uint8_t*>(to) + first, data, bytes - first);
}

// The parts of a sample stand in the order of linux/perf_event.h: the time, the registers behind
// their interface, the stack between its size and how much of it is valid.
bool NativeEvents::Parse(uint64_t from, uint64_t bytes, NativeSample* sample) {
  constexpr uint64_t kHead = 8 * 6;
  alignas(16) static uint8_t copy[kStackBytes];
  uint64_t head[6];
  if (bytes < 16) return false;
  Copy(from, head, 16);
  sample->time_ns = head[0];
  // No registers: the thread runs in the kernel, for itself.
  if (head[1] == 0 || bytes < kHead) return false;
  Copy(from, head, kHead);
  const uint64_t fp = head[2], sp = head[3], ip = head[4], size = head[5];
  if (size > kStackBytes || bytes < kHead + size + 8) {
    sample->pcs[0] = ip + 1;
    sample->frames = 1;
    return true;
  }
  uint64_t valid = 0;
  Copy(from + kHead + size, &valid, 8);
  valid = std::min(valid, size);
  Copy(from + kHead, copy, valid);
  sample->frames = Walk(ip, sp, fp, copy, valid, sample->pcs);
  return sample->frames != 0;
}

bool NativeEvents::Next(NativeSample* sample) {
  perf_event_mmap_page* const page = HeadOf(ring_);
  bool has_sample = false;
  while (!has_sample) {
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = page->data_tail;
    perf_event_header header;
    if (head - tail < sizeof(header)) return false;
    Copy(tail, &header, sizeof(header));
    if (header.size < sizeof(header) || header.size > head - tail) return false;
    if (header.type == PERF_RECORD_SAMPLE)
      has_sample = Parse(tail + sizeof(header), header.size - sizeof(header), sample);
    if (header.type == PERF_RECORD_LOST) {
      uint64_t words[2] = {};
      Copy(tail + sizeof(header), words, sizeof(words));
      lost_ += words[1];
    }
    __atomic_store_n(&page->data_tail, tail + header.size, __ATOMIC_RELEASE);
  }
  return true;
}

}  // namespace gpuprof::tracer
