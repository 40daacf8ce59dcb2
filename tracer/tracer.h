// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The whole contract between inject/ and tracer/: the only header that both include. The inject
// object loads the tracer object on the first capture with dlopen(RTLD_NOW | RTLD_LOCAL). It finds
// `gpuprof_tracer_api` by name, hands over its services and gets a table of functions back.
//
// Unless a line says otherwise, the tracer's functions are called on the inject object's control
// thread, one at a time. Nothing here throws. Both sides check `size` of the other's table, so that
// objects of different builds refuse each other.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/contract.h"
#include "proto/obstacle.h"
#include "proto/record.h"
#include "proto/ring.h"
#include "proto/ticks.h"

namespace gpuprof::tracer {

// The settings of one process, parsed once by inject from the environment.
struct Settings {
  char bundle[512];    // directory, absolute
  char file_stem[64];  // "p<pid>-<start>"
  // Path by which the trace is opened; "": it is made by its name (inject/given_files.h).
  char given_trace[64];
  uint64_t start_id;
  uint32_t sources;  // proto::kSource* bits asked for
  proto::HeapMode heap_mode;
  uint32_t heap_period;     // bytes
  uint32_t stack_depth;     // 0: no stacks
  uint32_t op_names_alone;  // 1: no inputs of operations (--trace=ops=names)
  char python_globs[512];   // --python=trace:GLOBS, separated by commas; "": no calls
  uint32_t exact_heap_times;
  uint32_t waits_for_room;  // 1: threads wait for room in their rings (--on-full=wait)
  proto::ClockKind clock;
  uint64_t ticks_per_second;
  uint64_t memory_limit;       // bytes of the tracer's own heap
  uint64_t flight_bytes;       // a flight recorder's size on disk; 0: everything is kept
  proto::Arguments arguments;  // what a trace holds of command lines
  uint64_t keep_free;          // bytes of the disk that are left to others; all ones: by its size
  uint64_t bundle_limit;       // bytes of all files of the bundle; 0: no limit
  proto::GraphMode graph_mode;
  // Rows a second of GPU calls and the work they begin, and of graphs' nodes; 0: no limit.
  uint64_t gpu_calls_limit;
  uint64_t gpu_nodes_limit;
  // How long a capture's end waits for GPU work that was launched in it.
  uint64_t gpu_finish_ns;
  uint32_t debug;
  uint32_t foreign_heap;  // 1: --trace names the heap, but another allocator comes before gpuprof's
  // 1: CUDA_INJECTION64_PATH did not name our object when the program began, so the driver will not
  // call it.
  uint32_t injection_lost;
};

// What a profiler inside the program does with CUPTI. Hooks of the library's functions keep it
// (inject/hooks/cupti.cc); a capture reads it when it begins and ends. CUPTI's first interface has
// one subscriber, one set of kinds, one pair of buffer callbacks and one clock for the whole
// process.
//
// The program goes first. A call that asks CUPTI for something waits until the capture has left
// CUPTI, for a second at most. Each side writes its own word before it reads the other side's word
// (`calls`, `is_captures`), so one of the two sees the other. There is no lock: CUPTI calls back
// under its own locks.
struct TargetProfilerState {
  // Not 0: a capture has CUPTI, or is about to take or leave it.
  std::atomic<uint32_t> is_captures{0};
  enum Wish : uint32_t { kNone, kWanted, kInVain };
  // A call of the program waits for the capture to leave CUPTI. kInVain: one call gave up, so later
  // calls do not wait.
  std::atomic<uint32_t> wish{kNone};
  // Calls of the program that change CUPTI and have not returned. A capture begins after them.
  std::atomic<uint32_t> calls{0};
  // Load address of the libcupti that the program calls, and of the capture's. 0: not known.
  std::atomic<uint64_t> library{0}, capture_library{0};
  // Kinds of activity that the program has enabled, one bit a kind (KindBit).
  std::atomic<uint64_t> kinds{0};
  // Not 0: the program has recorded and has not flushed since it disabled its kinds.
  std::atomic<uint32_t> is_unfetched{0};
  // Buffers of the program that CUPTI holds.
  std::atomic<uint32_t> buffers_out{0};
  // Not 0: the program has a subscription.
  std::atomic<uint32_t> has_subscribed{0};
  // The program's buffer callbacks; null: none. CUPTI has `requested` and `completed` instead,
  // which count the buffers and pass them on.
  std::atomic<void*> buffer_requested{nullptr}, buffer_completed{nullptr};
  void (*requested)(uint8_t** buffer, size_t* size, size_t* most_records) = nullptr;
  void (*completed)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                    size_t valid) = nullptr;
  // The tracer's: takes a buffer of gpuprof back that CUPTI returned late. False: it is not one.
  std::atomic<bool (*)(uint8_t* buffer, size_t valid)> take_back{nullptr};
  // The clock that the program has registered; null: none.
  std::atomic<uint64_t (*)()> clock{nullptr};
  std::atomic<uint32_t> all_sync_records{0};  // 1 + what the program has set; 0: it has not
  // File name of the library that asked last. It is whole while is_named is 2.
  char name[64] = {};
  std::atomic<uint32_t> is_named{0};

  static uint64_t KindBit(uint32_t kind) { return uint64_t{1} << (kind < 63 ? kind : 63); }
  // Returns whether the program's own session goes on.
  bool Records() const {
    return kinds.load() != 0 || (is_unfetched.load() != 0 && buffers_out.load() != 0);
  }
};

// What the windows of a limited recording cost so far (inject/budget/): the fields of
// trace.proto's Budget. Written on one thread at a time, read on the drain thread.
struct BudgetFacts {
  std::atomic<uint64_t> limit_ppm, limit_step_ns, unit, elapsed_ns, windows, steps, recorded_steps,
      recorded_ns;
  std::atomic<int64_t> cost_ns;
  std::atomic<uint64_t> cost_error_ns, switch_ns, step_outside_ns, step_inside_ns, detail,
      windows_cut;
  std::atomic<uint64_t> windows_by_detail[3];
};

// What is known of TensorFlow in the process (inject/tensorflow/). Texts stay for good.
struct TensorflowFacts {
  std::atomic<const char*> framework;  // "TensorFlow 2.21"; null: it was not found
  std::atomic<const char*> refusal;    // why its marks cannot be recorded; null: they can
};

// What inject offers. Function pointers are valid for the life of the process.
struct Host {
  uint32_t size;
  const Settings* settings;

  // The ring file's header and its rings as mapped in this process. Entries [0, *ring_count) may be
  // read; each is null until its ring is ready. They are in anonymous memory if no file could be
  // made.
  proto::RingFileHeader* ring_file;
  proto::RingHeader* const* rings;
  const std::atomic<uint32_t>* ring_count;

  // Not 0 once the libraries that the program was linked with are initialised. Before that they
  // must not be called, although the loader already returns their addresses.
  const std::atomic<uint32_t>* program_started;

  // The number of the last track that was assigned.
  std::atomic<uint32_t>* next_track;
  // Not 0 once the program has initialised CUDA: CUPTI may be called then.
  const std::atomic<uint32_t>* cuda_started;
  TargetProfilerState* target_profiler;

  // Begins recording on any application thread, inside a callback. Returns the thread's ring.
  // Returns null if `source` is not being recorded, the thread is already inside gpuprof's code, or
  // no ring can be had. After null, nothing may be written and Leave may not be called.
  proto::RingHeader* (*enter)(uint32_t source);
  void (*leave)();

  // Returns the ring of the calling thread, inside gpuprof's code: in a hook, or on a thread of
  // gpuprof (adopt_tool_thread). Null: it can have no ring. Also while a capture ends.
  proto::RingHeader* (*own_ring)();

  // The same in one step: a call that begins work on the GPU, with the stack of the function whose
  // __builtin_frame_address(0) is `frame`. Does nothing while launches are not recorded.
  void (*record_launch)(uint32_t correlation, uint32_t function, const void* frame);

  // The process's CPU time when it began to record.
  const std::atomic<uint64_t>* begin_cpu_ns;

  // Not 0 once reports of CPU tensors were declined: see inject/hooks/torch_memory.cc.
  const std::atomic<uint32_t>* cpu_tensors_left_out;

  // The word that the drain thread sleeps on (a private futex). A ring that is filling up sets it
  // to 1 and wakes; call wake_drain for rings that the tracer writes into. Any thread, signal
  // handlers.
  std::atomic<uint32_t>* drain_wanted;
  void (*wake_drain)();
  // Gives a ring of the calling thread more room (proto/ring.h). False: it stays as it is. Between
  // enter and leave.
  bool (*grow_ring)(proto::RingHeader* ring);
  // Waits until a full ring of the calling thread has room up to position `end`. False: the
  // record is dropped. Between enter and leave.
  bool (*await_room)(const proto::RingHeader* ring, uint64_t end);

  // Ends the capture soon, from the control thread. Any tool thread.
  void (*request_stop)();
  // `tick` is called at once. Any thread, inside a CUDA call.
  void (*request_tick)();

  // Nothing more is recorded of what the program does, by the capture that is being ended. Control
  // thread.
  void (*capture_is_closed)();
  // Not 0 once the process is on its way out: nothing is waited for any more.
  const std::atomic<uint32_t>* hurry;
  // After Api::watch_framework_ranges: a range that the program names itself begins, or has ended.
  // It may wait there until a capture has begun, or is closed. A thread of the program's, inside
  // the framework.
  void (*framework_range)(const char* name, bool is_end);

  // After Api::watch_profiler_calls: the program has called cuProfilerStart, or is about to be in
  // cuProfilerStop. It may wait there until a capture has begun, or is closed. A thread of the
  // program's, inside CUPTI's callback.
  void (*profiler_call)(bool is_start);

  // Notes private memory before it is mapped, and with a negative number after it was unmapped. The
  // memory does not count against limits that the program sets for itself. Any thread.
  void (*note_mapped)(int64_t bytes);

  // Notes a thread that is about to begin (1) and will be adopted, or could not begin (-1).
  void (*note_thread)(int change);

  // Marks the calling thread as gpuprof's for its whole life: its allocations and locks are not
  // recorded. The thread leaves the program's table of descriptors if the system permits it. Then
  // it cannot use descriptors that the program opened.
  void (*adopt_tool_thread)();
  // Does the same for a thread that calls the program's own code. It stays in the program's table
  // of descriptors, and opens no file for gpuprof.
  void (*adopt_program_thread)(const char* name);

  // Sets the framework's own reporter functions, which the tracer found in the framework's library.
  // Null resets them. Until then inject looks for them itself.
  void (*set_torch_memory_functions)(void* is_enabled, void* report);

  // Null: the recording's cost has no limit.
  const BudgetFacts* budget;
  const TensorflowFacts* tensorflow;

  // Tells the user why the process cannot record, or write its trace further. Any tool thread.
  void (*cannot_record)(proto::Obstacle obstacle, int error);
  // One line on stderr, "gpuprof: ..."; `once` lines are said once a process. Any thread.
  void (*say)(const char* text);
  // Only with GPUPROF_DEBUG.
  void (*debug)(const char* text);

  // Returns whether somebody waits until a capture has begun or ended. This is a thread that forks,
  // a process on its way out, or a further request. The control thread waits for nothing of the
  // program then. Any thread.
  bool (*must_hasten)();
};

enum class StopReason : uint32_t { kRequest, kExit, kExec, kFork };

struct Api {
  uint32_t size;

  // Begins capture `number`: makes the file if there is no file yet, the drain thread, and the
  // framework observers. Hooks already record into rings. False: capture is impossible, and the
  // reason was printed.
  bool (*start)(uint32_t number, const char* trigger);

  // Ends the capture: hooks are already off. Takes observers away, drains every ring to its end,
  // writes clock, thread and health tables. Returns when the data is in the file.
  void (*stop)(StopReason reason, const char* trigger);

  // Now and then while capturing (20 to 200 ms), on the control thread: looks for frameworks that
  // were loaded meanwhile. May wait for the loader's lock. True: soon again (libraries came or
  // went since the last time, or CUPTI waits for us).
  bool (*tick)();

  // The program is initialising CUDA, on this thread of its, and a capture runs: GPU activity is
  // recorded from here on. Loads libcupti and calls it.
  void (*start_gpu)();

  // Any thread of the program, inside dlclose, before and after the real call. Notes the modules
  // that were loaded or unloaded since the table of modules was last written. So frames get the
  // names of the modules that were mapped at the time. Waits for the drain thread, 50 ms at most;
  // allocates nothing.
  void (*modules_changed)();

  // Last call: like stop if capturing, then the end marker with the way out, and the ring file is
  // removed.
  void (*finish)(proto::ExitWay way, int32_t status);

  // Hook context, any thread, capture running: program counters of the caller's stack, innermost
  // first, without our own frames. Returns how many were stored (0: none to be had). Never
  // allocates from the host; takes no lock another thread can hold while blocked. `frame` is
  // __builtin_frame_address(0) of the hook, whose caller is the first frame wanted.
  uint32_t (*capture_stack)(uint64_t* pcs, uint32_t most, const void* frame);

  // Called around fork, on the forking thread. before_fork waits, for a limited time, until no
  // stack capture and no write is running. child forgets everything that belongs to the parent,
  // because none of gpuprof's threads exists in the child.
  void (*before_fork)();
  void (*after_fork_parent)();
  void (*after_fork_child)();

  // Writes the recorded part so far (of a flight recorder the kept part) into its own bundle. The
  // bundle is a folder snapshot-* in the present bundle; proto/snapshot_request.h says how it is
  // asked for. `path` receives the folder's path. Returns null, or the reason why it failed.
  // The capture goes on. Spans that are still open are not in the snapshot.
  const char* (*snapshot)(const char* request, char* path, uint32_t path_bytes);

  // Asks the framework to report its ranges from now on. Called now and then, also while no capture
  // runs. May wait for the loader's lock. False: the framework was not found yet, or cannot report
  // them.
  bool (*watch_framework_ranges)();

  // Has CUPTI report the program's calls of cuProfilerStart and cuProfilerStop, also while no
  // capture runs. Called in the program's first cuInit, and with `is_late` now and then on the
  // control thread. Then it also leaves CUPTI to a profiler of the program that asks for it, and
  // takes CUPTI again after that profiler has ended.
  void (*watch_profiler_calls)(bool is_late);

  // The program is about to run Python code on this thread, which has given CPython's lock away.
  // Waits until what --python asks for is recorded, 5 s at most.
  void (*await_python)();
  // The same where no capture runs: has Python tell its end, as captures may begin until then.
  void (*watch_python)();
  // A thread of the program is about to begin another one.
  void (*thread_begins)();

  // Returns the state of framework ops: "active", "none" or why not. Static storage. Any thread.
  const char* (*ops_state)();
  // Records written to the file and records lost, all causes. Any thread.
  uint64_t (*records_written)();
  uint64_t (*records_lost)();
};

inline constexpr char kEntryName[] = "gpuprof_tracer_api";
using EntryFunction = const Api* (*)(const Host* host);

}  // namespace gpuprof::tracer
