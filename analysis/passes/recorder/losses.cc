// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names, sums and remedies of losses, and the frames that are only an allocator's own. See
// context.h.

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/base/units.h"
#include "analysis/passes/context.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

struct LossText {
  proto::LossKind kind;
  std::string_view fix;
};

constexpr LossText kLosses[] = {
    {proto::LOSS_RING_FULL,
     "Let threads wait for room with --on-full=wait, or give the rings more memory with "
     "--ring-memory."},
    {proto::LOSS_REENTERED,
     "Events in signal handlers that interrupted a hook; no action is needed."},
    {proto::LOSS_NO_RING,
     "Threads got no ring: raise GPUPROF_RING_MEMORY, or free space on the bundle's disk."},
    {proto::LOSS_SAMPLE_TABLE_FULL, "Sample the heap less often: --trace heap=sampled:16MiB."},
    {proto::LOSS_STACK_TABLE_FULL, "Keep fewer frames: GPUPROF_STACKS=16."},
    {proto::LOSS_STRING_TABLE_FULL, "Operation names keep changing; they share one name now."},
    {proto::LOSS_WRITE_ERROR,
     "A note of the process names the cause and what helps: `gpuprof stats health`."},
    {proto::LOSS_CORRUPT_RECORD,
     "The ring of a dead process was damaged; its valid records were kept."},
    {proto::LOSS_SPAN,
     "Operations nested deeper than 64 or NVTX ranges nested deeper than 128. Or too many started "
     "ranges at once, or started ranges that were open when a capture ended."},
    {proto::LOSS_THREAD_EDGE,
     "The first or last events of threads that were beginning or ending; no action is needed."},
    {proto::LOSS_GPU_DROPPED,
     "CUPTI had no buffer for GPU activity: give the recorder more memory with --memory."},
    {proto::LOSS_GPU_TIMES,
     "GPU activity that still ran when recording ended, or that did not fit into the device's own "
     "buffers. Let the end of a capture wait longer with --gpu-finish."},
    {proto::LOSS_SIGNATURE_TABLE_FULL,
     "Kernels were launched in more different ways than gpuprof can distinguish; the last kernels "
     "share a name."},
    {proto::LOSS_RANGE_VALUE,
     "Values of NVTX payloads of an unknown schema or type, outside of their payload, or too many; "
     "no action is needed."},
    {proto::LOSS_COUNTER_SAMPLE, "Sample the GPUs' counters less often: a longer --gpu-pm."},
    {proto::LOSS_MEMORY_LIMIT,
     "The recorder reached its memory limit: record fewer sources, or raise --memory or "
     "GPUPROF_MEMORY."},
};

// What the selected processes lost of their events.
struct EventLosses {
  uint64_t lost = 0, written = 0;
  bool lacks_end = false, lost_thread = false;
};

void AddLosses(const Process& process, EventLosses* sum) {
  sum->written += WrittenRecords(process);
  for (const auto& [kind, count] : LossesOf(process)) {
    const bool is_event = kind == proto::LOSS_RING_FULL || kind == proto::LOSS_NO_RING ||
                          kind == proto::LOSS_WRITE_ERROR || kind == proto::LOSS_CORRUPT_RECORD ||
                          kind == proto::LOSS_SPAN || kind == proto::LOSS_MEMORY_LIMIT;
    if (is_event) sum->lost += count;
  }
}

const LossText* FindLoss(proto::LossKind kind) {
  for (const LossText& loss : kLosses) {
    if (loss.kind == kind) return &loss;
  }
  return nullptr;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool IsAllocatorFrame(const results::Frame& frame) {
  constexpr std::string_view kPrefixes[] = {"operator new",
                                            "std::allocator",
                                            "std::__new_allocator",
                                            "__gnu_cxx::new_allocator",
                                            "std::allocator_traits",
                                            "__libc_",
                                            "__gnu_cxx::__alloc",
                                            "c10::alloc_cpu",
                                            "c10::DefaultCPUAllocator",
                                            "c10::DefaultMobileCPUAllocator",
                                            "PyMem_",
                                            "PyObject_Malloc",
                                            "PyObject_Calloc",
                                            "PyObject_Realloc",
                                            "_PyObject_Malloc",
                                            "_PyMem_",
                                            "posix_memalign",
                                            "aligned_alloc",
                                            "memalign",
                                            "pymalloc_alloc"};
  constexpr std::string_view kNames[] = {
      "malloc",  "calloc",   "realloc",   "reallocarray",          "valloc", "pvalloc", "strdup",
      "strndup", "__strdup", "new_arena", "allocate_from_new_pool"};
  if (StartsWith(frame.module(), "libgpuprof_")) return true;
  for (const std::string_view name : kNames) {
    if (frame.name() == name) return true;
  }
  for (const std::string_view prefix : kPrefixes) {
    if (StartsWith(frame.name(), prefix)) return true;
  }
  return false;
}

// The standard library's ways to call what it was given, the same for every lambda.
bool IsCallingFrame(const results::Frame& frame) {
  constexpr std::string_view kParts[] = {"std::__invoke", "std::thread::_State_impl<",
                                         "std::thread::_Invoker<", "std::_Function_handler<",
                                         "std::function<"};
  for (const char* whole : {"execute_native_thread_routine", "start_thread", "clone", "clone3"}) {
    if (frame.name() == whole) return true;
  }
  // A return type may stand before it.
  const std::string_view name = std::string_view(frame.name()).substr(0, frame.name().find('('));
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    const size_t at = name.find(part);
    return at == 0 || (at != std::string_view::npos && name[at - 1] == ' ' &&
                       name.substr(0, at).find('<') == std::string_view::npos);
  });
}

// Returns the qualified name of a demangled function: without return type, template and parameters.
std::string_view QualifiedName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth > 0) {
      continue;
    } else if (StartsWith(name.substr(i), kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (c == '(') {
      return name.substr(begin, i - begin);
    } else if (c == ' ') {
      begin = i + 1;  // a return type was before it
    }
  }
  return name.substr(begin);
}

// Functions of the standard library allocate for the program's own function that called them.
bool IsLibraryFrame(const results::Frame& frame) {
  const std::string_view name = QualifiedName(frame.name());
  for (const std::string_view space : {"std::", "__gnu_cxx::", "__cxxabiv1::"}) {
    if (StartsWith(name, space)) return true;
  }
  const size_t slash = frame.module().rfind('/');
  const std::string_view module =
      std::string_view(frame.module()).substr(slash == std::string::npos ? 0 : slash + 1);
  for (const std::string_view library :
       {"libstdc++.so", "libc++.so", "libc++abi.so", "libc.so", "libc-2.", "ld-linux", "libm.so"}) {
    if (StartsWith(module, library)) return true;
  }
  return false;
}

}  // namespace

bool WaitsForRoom(const Process& process) {
  return process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kExact) ||
         process.health.room_waits() != 0;
}

std::string_view LossFix(proto::LossKind kind, bool waits) {
  if (kind == proto::LOSS_RING_FULL && waits)
    return "Give the rings more memory with --ring-memory.";
  const LossText* loss = FindLoss(kind);
  return loss == nullptr ? "" : loss->fix;
}

bool IsLossOfEvents(proto::LossKind kind) {
  constexpr proto::LossKind kParts[] = {
      proto::LOSS_STACK_TABLE_FULL, proto::LOSS_STRING_TABLE_FULL, proto::LOSS_SIGNATURE_TABLE_FULL,
      proto::LOSS_RANGE_VALUE,      proto::LOSS_MEMORY_LIMIT,      proto::LOSS_UNPAIRED_SPAN};
  return std::find(std::begin(kParts), std::end(kParts), kind) == std::end(kParts);
}

std::vector<std::pair<proto::LossKind, uint64_t>> LossesOf(const Process& process) {
  std::vector<std::pair<proto::LossKind, uint64_t>> losses;
  uint64_t ring_full = 0;
  for (const proto::Loss& loss : process.health.loss()) {
    if (loss.count() == 0) continue;
    if (loss.kind() == proto::LOSS_UNPAIRED_SPAN) continue;  // of nothing in the capture
    if (loss.kind() == proto::LOSS_RING_FULL) {
      ring_full += loss.count();
    } else {
      losses.emplace_back(loss.kind(), loss.count());
    }
  }
  // The last health may be older than the last drop.
  uint64_t dropped = process.dropped;
  uint64_t on_tracks = 0;
  for (const Track& track : process.tracks) on_tracks += track.dropped;
  ring_full = std::max({ring_full, dropped, on_tracks});
  if (ring_full > 0) losses.emplace_back(proto::LOSS_RING_FULL, ring_full);
  return losses;
}

uint64_t WrittenRecords(const Process& process) {
  constexpr uint64_t kMost = uint64_t{1} << 60;  // files may claim anything
  return process.rows + std::min(process.health.rows_let_go(), kMost);
}

uint32_t LostThreads(const Process& process) {
  constexpr uint32_t kMost = 1u << 20;  // files may claim anything
  return std::min(process.health.damaged_rings(), kMost) +
         std::min(process.health.rings_outside(), kMost);
}

std::string WhatWasLetGo(const Process& process) {
  const uint64_t records = WrittenRecords(process) - process.rows;
  return "the older part" + (records == 0 ? "" : " (" + FormatCount(records) + " records)") +
         " was discarded (--ring)";
}

uint64_t OpEventsOf(const Process& process) {
  uint64_t rows = 0;
  for (const KindTotals& totals : process.kinds) {
    if (totals.kind == static_cast<uint16_t>(proto::ChunkKind::kOp)) rows = totals.rows;
  }
  return std::max(rows, process.health.op_events());
}

std::string AllocationSite(const std::vector<const results::Frame*>& frames) {
  for (const results::Frame* frame : frames) {
    const bool is_plumbing =
        IsAllocatorFrame(*frame) || IsCallingFrame(*frame) || IsLibraryFrame(*frame);
    if (!is_plumbing) return frame->name();
  }
  for (const results::Frame* frame : frames) {
    if (!IsAllocatorFrame(*frame) && !IsCallingFrame(*frame)) return frame->name();
  }
  // Compilers fold a lambda into what calls it.
  for (const results::Frame* frame : frames) {
    if (!IsAllocatorFrame(*frame)) return frame->name();
  }
  return frames.empty() ? "" : frames[0]->name();
}

void PassContext::LimitToEvents(results::Confidence* confidence) const {
  // A job asks once for each process.
  const EventLosses& losses = choice_->kept.Get<EventLosses>([this] {
    EventLosses sum;
    for (const size_t i : selected_) AddLosses(process(i), &sum);
    sum.lacks_end = AnyLacksEnd();
    sum.lost_thread = AnyLostThread();
    return sum;
  });
  const auto limit = [confidence](results::Level level, std::string_view reason) {
    if (confidence->level() <= level) return;
    confidence->set_level(level);
    confidence->set_reason(std::string(reason) +
                           ": time of events that are missing counts as time without an event");
  };
  if (!trace_->faults.empty()) limit(results::LEVEL_LOW, "files are damaged, cut, or not readable");
  if (losses.lacks_end) limit(results::LEVEL_LOW, "a trace has no end");
  if (losses.lost_thread) limit(results::LEVEL_LOW, "the last records of a process are missing");
  if (losses.lost * 100 > losses.written)
    limit(results::LEVEL_LOW, "more than 1 % of the records were lost");
  if (losses.lost > 0) limit(results::LEVEL_MEDIUM, "some records were lost");
}

}  // namespace gpuprof::analysis
