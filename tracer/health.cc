// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What was lost, what the recorder cost and what was in its way: the Health table of the drain.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tracer/base/memory.h"
#include "tracer/cupti/capture.h"
#include "tracer/cupti/description.h"
#include "tracer/cupti/late_start.h"
#include "tracer/cupti/refusal.h"
#include "tracer/cupti/target_profiler.h"
#include "tracer/drain.h"
#include "tracer/jax/sessions.h"
#include "tracer/python/interpreter.h"
#include "tracer/python_agent/python_agent.h"
#include "tracer/python_agent/torch_groups.h"
#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/profile_function.h"
#include "tracer/python_calls/python_calls.h"
#include "tracer/samples/sampler.h"
#include "tracer/stack/stack_capture.h"
#include "tracer/stack_cost.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::tracer {
namespace {

// proto/trace.proto's LossKind.
enum LossKind : int {
  kRingFull = 1,
  kReentered = 2,
  kNoRing = 3,
  kSampleTableFull = 4,
  kStackTableFull = 5,
  kStringTableFull = 6,
  kWriteError = 7,
  kCorruptRecord = 8,
  kUnpairedSpan = 9,
  kMemoryLimitHit = 10,
  kThreadEdge = 11,
  kGpuDropped = 12,
  kGpuTimes = 13,
  kSignatureTableFull = 14,
  kRangeValue = 15,
  kSpan = 17,
};

constexpr int kHealthField = 14;

void AppendLoss(codec::PbWriter* writer, LossKind kind, uint64_t count) {
  if (count == 0) return;
  const uint64_t mark = writer->Begin(1);
  writer->Varint(1, static_cast<uint64_t>(kind));
  writer->Varint(2, count);
  writer->End(mark);
}

void AppendNote(codec::PbWriter* writer, const char* source, const char* text) {
  const uint64_t mark = writer->Begin(9);
  writer->Bytes(1, source, strlen(source));
  writer->Bytes(2, text, strlen(text));
  writer->End(mark);
}

// Says why threads were not sampled, or how many of their stacks could not be read.
void AppendSamplerNotes(codec::PbWriter* writer) {
  if (const char* const why = InterpreterRefusal(); why != nullptr)
    AppendNote(writer, "python", why);
  char text[256];
  if (const int error = NativeRefusal(); error != 0) {
    snprintf(
        text, sizeof(text),
        "no native stacks: the kernel refuses perf_event_open (%s); see perf_event_paranoid, or "
        "the container's seccomp profile",
        proto::FileCause(error).words);
    AppendNote(writer, "samples", text);
  }
  const SamplerCounters counters = ReadSamplerCounters();
  if (counters.native_lost != 0) {
    snprintf(text, sizeof(text), "%lu native stacks were lost: the sampler came too late",
             counters.native_lost);
    AppendNote(writer, "samples", text);
  }
  if (counters.has_too_many_threads)
    AppendNote(writer, "samples",
               "some threads have no native stacks: there were too many at once");
  // A few stacks change while they are read.
  constexpr uint64_t kFewOf = 100;
  if (counters.bad * kFewOf <= counters.stacks) return;
  snprintf(text, sizeof(text), "%lu of %lu stacks of Python could not be read", counters.bad,
           counters.stacks);
  AppendNote(writer, "python", text);
}

void AppendStackWalks(codec::PbWriter* writer) {
  const StackCounters counters = ReadStackCounters();
  const uint64_t mark = writer->Begin(12);
  writer->Varint(1, counters.rules_resolved);
  writer->Varint(2, counters.no_rule);
  writer->Varint(3, counters.guessed_frames);
  writer->Varint(4, counters.out_of_bounds);
  writer->Varint(5, counters.foreign_stacks);
  writer->Varint(6, counters.no_resolver);
  writer->End(mark);
}

// proto/trace.proto's GpuRate.
void AppendGpuRates(codec::PbWriter* writer, const cupti::RateBudget& budget) {
  constexpr int kGpuRate = 18;
  constexpr int kOf = 1, kLimit = 2, kRecords = 3, kLeftOut = 4, kMostOneIn = 5;
  if (!budget.is_limited()) return;
  for (const auto of : {cupti::RateBudget::kCalls, cupti::RateBudget::kNodes}) {
    const uint64_t mark = writer->Begin(kGpuRate);
    writer->Varint(kOf, static_cast<uint64_t>(of) + 1);
    writer->Varint(kLimit, budget.limit(of));
    writer->Varint(kRecords, budget.records(of));
    writer->Varint(kLeftOut, budget.left_out(of));
    writer->Varint(kMostOneIn, budget.most_one_in(of));
    writer->End(mark);
  }
}

uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

// proto/trace.proto's Budget.
void AppendBudget(codec::PbWriter* writer, const BudgetFacts* facts) {
  constexpr int kBudget = 28;
  constexpr int kCost = 9, kWindowsByDetail = 15;
  if (facts == nullptr) return;
  const uint64_t mark = writer->Begin(kBudget);
  const auto put = [writer](int id, const std::atomic<uint64_t>& value) {
    writer->Varint(id, value.load(std::memory_order_relaxed));
  };
  put(1, facts->limit_ppm);
  put(2, facts->limit_step_ns);
  put(3, facts->unit);
  put(4, facts->elapsed_ns);
  put(5, facts->windows);
  put(6, facts->steps);
  put(7, facts->recorded_steps);
  put(8, facts->recorded_ns);
  writer->Varint(kCost, ZigZag(facts->cost_ns.load(std::memory_order_relaxed)));
  put(10, facts->cost_error_ns);
  put(11, facts->switch_ns);
  put(12, facts->step_outside_ns);
  put(13, facts->step_inside_ns);
  put(14, facts->detail);
  for (const auto& windows : facts->windows_by_detail) put(kWindowsByDetail, windows);
  put(16, facts->windows_cut);
  writer->End(mark);
}

struct RingLosses {
  uint64_t dropped = 0;
  uint64_t reentered = 0;
  // Of them those of rings outside of the ring file, whose headers nobody else sees.
  uint64_t dropped_outside = 0;
  uint64_t reentered_outside = 0;
};

RingLosses SumRings(const Host& host) {
  RingLosses sum;
  const uint32_t count = host.ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    const proto::RingHeader* ring = __atomic_load_n(&host.rings[i], __ATOMIC_ACQUIRE);
    if (ring == nullptr) continue;
    const uint64_t dropped = ring->dropped.load(std::memory_order_relaxed);
    const uint64_t reentered = ring->reentered.load(std::memory_order_relaxed);
    sum.dropped += dropped;
    sum.reentered += reentered;
    if (host.ring_file->directory[i].offset.load(std::memory_order_acquire) != 0) continue;
    sum.dropped_outside += dropped;
    sum.reentered_outside += reentered;
  }
  return sum;
}

// Appends a number, and the digits of a number of milliseconds.
char* AppendDigits(char* end, uint64_t number) {
  if (number >= 10) end = AppendDigits(end, number / 10);
  *end = static_cast<char>('0' + number % 10);
  return end + 1;
}

void AppendJaxNotes(codec::PbWriter* writer, const jax::WindowRows& rows) {
  if (*AgentNote() != 0) AppendNote(writer, "jax", AgentNote());
  char text[256];
  if (rows.gap_ns() >= 1'000'000) {
    char* end = AppendDigits(stpcpy(text, "JAX's marks are recorded in windows: "),
                             rows.gap_ns() / 1'000'000);
    end = AppendDigits(stpcpy(end, " ms between them are missing, in "), rows.gaps());
    strcpy(end, rows.gaps() == 1 ? " part" : " parts");
    AppendNote(writer, "jax", text);
  }
  if (const uint64_t times = jax::TimesYielded(); times != 0) {
    char* end = AppendDigits(stpcpy(text, "the program used JAX's profiler itself "), times);
    strcpy(end, times == 1 ? " time: JAX's marks of this time are missing"
                           : " times: JAX's marks of these times are missing");
    AppendNote(writer, "jax", text);
  }
  if (const uint64_t lost = jax::WaitingWindows().lost(); lost != 0) {
    char* end = AppendDigits(stpcpy(text, "windows of JAX's marks that were lost: "), lost);
    strcpy(end, "; they were too long, or had no memory");
    AppendNote(writer, "jax", text);
  }
  if (rows.programs_lost() != 0)
    AppendNote(writer, "jax", "not all compiled programs are kept: they are more than 64 MiB");
}

// Says of which kernels of torch.compile the source is missing.
void AppendCompilerNotes(codec::PbWriter* writer, const inductor::KernelRows& rows) {
  char text[256];
  if (const uint64_t files = rows.files_lost() + inductor::WaitingModules().lost(); files != 0) {
    char* end = AppendDigits(text, files);
    strcpy(end, files == 1 ? " file that torch.compile generated could not be read: the source of "
                             "its kernels is not known"
                           : " files that torch.compile generated could not be read: the source of "
                             "their kernels is not known");
    AppendNote(writer, "torch", text);
  }
  if (const uint64_t kernels = rows.kernels_lost(); kernels != 0) {
    char* end =
        AppendDigits(stpcpy(text, "torch.compile made more kernels than are kept: "), kernels);
    strcpy(end, kernels == 1 ? " has no source" : " have no source");
    AppendNote(writer, "torch", text);
  }
}

// Says what of --python is missing.
void AppendCallNotes(codec::PbWriter* writer) {
  if (*CallsNote() != 0) AppendNote(writer, "python", CallsNote());
  char text[256];
  if (const uint64_t calls = ReadCallCounters().unbegun; calls != 0) {
    char* end = AppendDigits(text, calls);
    strcpy(end, calls == 1 ? " call was running when its capture began: it is not among the calls"
                           : " calls were running when their capture began: they are not among the "
                             "calls");
    AppendNote(writer, "python", text);
  }
  if (const uint32_t threads = ThreadsWithOwnProfile(); threads != 0) {
    char* end = AppendDigits(text, threads);
    strcpy(end, threads == 1 ? " thread has a profile function of the program: its calls are not "
                               "recorded"
                             : " threads have a profile function of the program: their calls are "
                               "not recorded");
    AppendNote(writer, "python", text);
  }
}

bool OpsRefused() {
  const char* state = TorchState();
  return strcmp(state, "active") != 0 && strcmp(state, "none") != 0;
}

proto::Obstacle WhyNotWritten(int error, const Settings& settings) {
  const bool is_gone = (error == EIDRM || error == ENOENT) && access(settings.bundle, F_OK) != 0;
  return is_gone ? proto::Obstacle::kGone : proto::Obstacle::kWrite;
}

}  // namespace

uint64_t Drain::ProcessCpu() const {
  if (!is_capturing_) return process_cpu_ns_;
  return process_cpu_ns_ + proto::ReadClockNs(CLOCK_PROCESS_CPUTIME_ID) -
         host_->begin_cpu_ns->load(std::memory_order_relaxed);
}

void Drain::CountLosses() {
  const RingLosses rings = SumRings(*host_);
  const uint64_t lost = retired_dropped_ + retired_reentered_ + rings.dropped + rings.reentered +
                        host_->ring_file->no_ring.load(std::memory_order_relaxed) +
                        host_->ring_file->table_full.load(std::memory_order_relaxed) +
                        host_->ring_file->thread_edges.load(std::memory_order_relaxed) +
                        RowsLost() + corrupt_;
  counts_->lost.store(lost, std::memory_order_relaxed);
  proto::RingFileHeader* file = host_->ring_file;
  file->rows_unwritten.store(RowsLost(), std::memory_order_relaxed);
  file->trace_blocks.store(writer_.next_sequence(), std::memory_order_relaxed);
  file->dropped_elsewhere.store(retired_dropped_ + rings.dropped_outside,
                                std::memory_order_relaxed);
  file->reentered_elsewhere.store(retired_reentered_ + rings.reentered_outside,
                                  std::memory_order_relaxed);
  if (RowsLost() != 0 && !told_write_error_) {
    told_write_error_ = true;
    const int error = WriteErrorNumber();
    host_->cannot_record(WhyNotWritten(error, *host_->settings), error);
  }
  if (MemoryExhausted() && !told_memory_) {
    told_memory_ = true;
    host_->say("the recorder has reached its memory limit, so the capture ends here (--memory)");
    host_->request_stop();
  }
}

void Drain::AppendUnreadRows(uint64_t rows, std::vector<uint8_t>* health) {
  codec::PbWriter writer(health);
  AppendLoss(&writer, kWriteError, rows);
}

void Drain::WriteHealth() {
  const RingLosses rings = SumRings(*host_);
  const TorchCounters torch = ReadTorchCounters();
  uint64_t corrupt = corrupt_;
  for (const Track& track : tracks_) {
    if (track.sorter != nullptr) corrupt += track.sorter->corrupt_records();
  }
  message_.clear();
  codec::PbWriter writer(&message_);
  AppendLoss(&writer, kRingFull, retired_dropped_ + rings.dropped);
  AppendLoss(&writer, kReentered, retired_reentered_ + rings.reentered);
  AppendLoss(&writer, kNoRing, host_->ring_file->no_ring.load(std::memory_order_relaxed));
  AppendLoss(&writer, kSampleTableFull,
             host_->ring_file->table_full.load(std::memory_order_relaxed));
  AppendLoss(&writer, kStackTableFull, tables_.stacks_refused());
  AppendLoss(&writer, kStringTableFull,
             tables_.strings_refused() + torch.names_lost + ReadSamplerCounters().names_lost +
                 host_->ring_file->range_names_lost.load(std::memory_order_relaxed));
  AppendLoss(&writer, kWriteError, RowsLost());
  AppendLoss(&writer, kCorruptRecord, corrupt);
  AppendLoss(&writer, kUnpairedSpan,
             torch.unpaired + host_->ring_file->ranges_unpaired.load(std::memory_order_relaxed));
  AppendLoss(&writer, kSpan,
             torch.too_deep + ReadCallCounters().too_deep +
                 host_->ring_file->ranges_refused.load(std::memory_order_relaxed));
  AppendLoss(&writer, kMemoryLimitHit, MemoryExhausted() ? 1 : 0);
  AppendLoss(&writer, kThreadEdge, host_->ring_file->thread_edges.load(std::memory_order_relaxed));
  AppendLoss(&writer, kGpuDropped, activities_.dropped());
  AppendLoss(&writer, kGpuTimes, activities_.without_times());
  AppendLoss(&writer, kSignatureTableFull, activities_.signatures_refused());
  AppendLoss(&writer, kRangeValue,
             host_->ring_file->range_values_lost.load(std::memory_order_relaxed));
  writer.Varint(2, drain_cpu_ns_);
  writer.Varint(3, counts_->control_cpu_ns.load(std::memory_order_relaxed) + AgentCpuNs());
  writer.Varint(4, StackSamples());
  writer.Varint(5, StackNanoseconds(host_->settings->ticks_per_second));
  writer.Varint(6, MemoryBytes() + host_->ring_file->file_bytes.load(std::memory_order_relaxed));
  writer.Varint(7, writer_.bytes_written() + (flight_ != nullptr ? flight_->bytes_written() : 0));
  writer.Varint(8, records_);
  writer.Varint(10, op_rows_);
  writer.Varint(11, TorchOpCostNs());
  AppendStackWalks(&writer);
  const proto::RingFileHeader& file = *host_->ring_file;
  writer.Varint(13, file.hooks_timed.load(std::memory_order_relaxed));
  writer.Varint(14, file.hook_ticks.load(std::memory_order_relaxed));
  writer.Varint(15, file.hook_ticks_squared.load(std::memory_order_relaxed));
  writer.Varint(16, proto::kTimeHookOneIn);
  writer.Varint(17, ProcessCpu());
  AppendGpuRates(&writer, activities_.budget());
  AppendBudget(&writer, host_->budget);
  if (const uint64_t ticks = cupti::NotHandedOver(); ticks != 0) {
    constexpr int kActivityMissing = 20;
    const double per_second = static_cast<double>(host_->settings->ticks_per_second);
    writer.Varint(kActivityMissing,
                  static_cast<uint64_t>(static_cast<double>(ticks) * 1e9 / per_second) + 1);
  }
  const uint64_t let_go = flight_ != nullptr ? flight_->rows_let_go() : rows_let_go_;
  if (flight_ != nullptr || let_go != 0) writer.Varint(21, let_go);
  if (const uint64_t waits = file.room_waits.load(std::memory_order_relaxed); waits != 0) {
    constexpr int kRoomWaits = 23, kRoomWaitTicks = 24;
    writer.Varint(kRoomWaits, waits);
    writer.Varint(kRoomWaitTicks, file.room_wait_ticks.load(std::memory_order_relaxed));
  }
  if (const uint32_t count = file.namespaces.load(std::memory_order_relaxed); count != 0) {
    constexpr int kNamespaces = 25;
    writer.Varint(kNamespaces, count);
  }
  if (const uint64_t ns = file.begin_end_cpu_ns.load(std::memory_order_relaxed); ns != 0) {
    constexpr int kBeginEndCpu = 27;
    writer.Varint(kBeginEndCpu, ns);
  }
  if (coarse_step_ != 0) {
    constexpr int kCoarseStep = 26;
    writer.Varint(kCoarseStep,
                  static_cast<uint64_t>(static_cast<double>(coarse_step_) * 1e9 /
                                        static_cast<double>(host_->settings->ticks_per_second)) +
                      1);
  }
  if (host_->cpu_tensors_left_out->load(std::memory_order_relaxed) != 0) {
    AppendNote(&writer, "torch",
               "tensors on the CPU are not recorded: PyTorch had allocated some before the capture "
               "began and would warn about each; begin the capture with the program");
  }
  if (host_->settings->foreign_heap != 0) {
    AppendNote(&writer, "heap",
               "not recorded: another allocator comes before gpuprof's in this process; name "
               "gpuprof first in LD_PRELOAD, or link the allocator as a shared library");
  }
  // The ring file's header has the reason in words.
  if (RowsLost() != 0 && file.trouble[0] != 0) AppendNote(&writer, "disk", file.trouble);
  if (OpsRefused()) AppendNote(&writer, "torch", TorchState());
  if (const char* why = TorchInputsNote()) AppendNote(&writer, "torch", why);
  AppendSamplerNotes(&writer);
  if (const char* why = host_->tensorflow->refusal.load(std::memory_order_acquire))
    AppendNote(&writer, "tensorflow", why);
  AppendJaxNotes(&writer, jax_);
  AppendCompilerNotes(&writer, kernels_);
  AppendCallNotes(&writer);
  for (uint32_t i = 0; const char* const group = GroupNote(i); ++i)
    AppendNote(&writer, "process_group", group);
  if (*cupti::Refusal() != 0) AppendNote(&writer, "cuda", cupti::Refusal());
  for (const char* note : {cupti::YieldNote(), cupti::NoCallbacksNote()})
    if (*note != 0) AppendNote(&writer, "cuda", note);
  if (*cupti::GraphRefusal() != 0) AppendNote(&writer, "cuda", cupti::GraphRefusal());
  if (activities_.graph_events_refused() != 0) {
    AppendNote(&writer, "cuda",
               "more CUDA graphs were made at once than gpuprof could follow: the origin and the "
               "time of some graphs are not known");
  }
  if (activities_.stream_events_refused() != 0) {
    AppendNote(&writer, "cuda",
               "more CUDA streams were made at once than gpuprof could follow: the names of some "
               "streams are not known");
  }
  if (activities_.context_events_refused() != 0) {
    AppendNote(&writer, "cuda",
               "more CUDA contexts were made and destroyed at once than gpuprof could follow: some "
               "memory that was freed with its context is shown as not freed");
  }
  if (activities_.streams_forgotten() != 0) {
    AppendNote(&writer, "cuda",
               "more streams had work than gpuprof could remember: a stream that paused while tens "
               "of thousands of others worked is shown as two streams");
  }
  if (*cupti::LateStartNote() != 0) AppendNote(&writer, "cuda", cupti::LateStartNote());
  if (*cupti::Description() != 0) AppendNote(&writer, "cupti", cupti::Description());
  if (!is_capturing_) writer_.KeepRoom(0);
  is_health_written_ = WriteTable(proto::ChunkKind::kHealth, kHealthField, 1);
  writer_.KeepRoom(kRoomOfLastWords);
}

}  // namespace gpuprof::tracer
