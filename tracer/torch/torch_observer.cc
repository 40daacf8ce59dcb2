// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Attaching and detaching. What is relied on, from ATen/record_function.h: the 40 bytes of
// RecordFunctionCallback, the two callbacks' signatures, the numbers of RecordScope, and the
// mangled names below. Verified by tests with PyTorch 1.13 and 2.13, by header and symbols with 2.4
// and 2.15; every process makes sure by an op of its own before the real callbacks are registered.

#include "tracer/torch/torch_observer.h"

#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstring>

#include "proto/contract.h"
#include "proto/ticks.h"
#include "tracer/base/loaded_library.h"
#include "tracer/torch/input_shapes.h"
#include "tracer/torch/op_names.h"
#include "tracer/torch/op_recorder.h"
#include "tracer/torch/protected_call.h"
#include "tracer/torch/sequence_number.h"
#include "tracer/torch/shape_window.h"
#include "tracer/torch/torch_library.h"

namespace gpuprof::tracer {
namespace {

constexpr TorchVersion kOldest = {1, 13};
constexpr uint32_t kNewestMajor = 2;
// The dispatcher of a program that is linked with PyTorch is filled while its other constructors
// run.
constexpr uint32_t kMostSelfTests = 50;

// at::RecordFunctionCallback.
struct Callback {
  BeginCallback begin;
  EndCallback end;
  double sampling_probability;
  bool scopes[10];
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(Callback) == 40);

using AddFunction = uint64_t (*)(Callback callback);
using RemoveFunction = void (*)(uint64_t handle);
using NoArgumentOp = bool (*)();

// Ops without arguments and without effects. Not aten::_nnpack_available: where NNPACK does not
// run, that one prints a warning.
struct TestOp {
  const char* symbol;
  const char* name;
};
constexpr TestOp kTestOps[] = {
    {"_ZN2at4_ops19is_vulkan_available4callEv", "aten::is_vulkan_available"},
    {"_ZN2at4_ops29_use_cudnn_rnn_flatten_weight4callEv", "aten::_use_cudnn_rnn_flatten_weight"},
};

// at::RecordScope numbers. Interpreters of scripted programs (lite, static runtime) count as
// TorchScript.
struct ScopeGroup {
  proto::OpScope scope;
  uint32_t members;  // bits
};
constexpr uint32_t kUserScope = 1u << 7;
constexpr ScopeGroup kGroups[] = {
    {proto::OpScope::kFunction, 1u << 0},
    {proto::OpScope::kBackward, 1u << 1},
    {proto::OpScope::kTorchScript, 1u << 2 | 1u << 6 | 1u << 8 | 1u << 9},
    {proto::OpScope::kUser, kUserScope},
};
constexpr uint32_t kGroupCount = sizeof(kGroups) / sizeof(kGroups[0]);

struct Observer {
  const Host* host = nullptr;
  uint64_t loader_seen = 0;
  LoadedLibrary library;
  AddFunction add = nullptr;
  RemoveFunction remove = nullptr;
  OpFunctions functions = {};
  uint64_t handles[kGroupCount] = {};
  uint32_t registered = 0;  // the first so many handles are valid
  uint64_t ranges_handle = 0;
  uint64_t inputs_handle = 0;
  bool tells_inputs = false;  // PyTorch has the functions that do
  bool watches_ranges = false;
  bool ranges_registered = false;
  uint32_t self_tests = 0;
  bool ready = false;    // self-test passed
  bool refused = false;  // for good
  bool memory_functions_told = false;
};
constinit Observer observer = {};
constinit std::atomic<const char*> state = "none";
constinit std::atomic<uint32_t> op_cost_ns = 0;
constinit std::atomic<const char*> framework = nullptr;

// --- Against fork ---

// An attach or detach holds a lock of the framework's for moments; a fork then would leave it
// locked in the child.
std::atomic<bool> working;
std::atomic<uint32_t> forking;
std::atomic<bool> torn;  // this process was forked in the middle of such work

void Pause() {
  const timespec moment = {0, 100'000};
  nanosleep(&moment, nullptr);
}

class Work {
 public:
  Work() {
    for (;;) {
      working.store(true, std::memory_order_seq_cst);
      if (forking.load(std::memory_order_seq_cst) == 0) return;
      working.store(false, std::memory_order_seq_cst);
      Pause();
    }
  }
  ~Work() { working.store(false, std::memory_order_seq_cst); }
};

// --- Self-test ---

struct SelfTest {
  void* thread;
  const char* name;
  const char* (*name_of)(const void* op);
  const void* op;
  uint32_t begins;
  uint32_t ends;
};
constinit SelfTest self_test = {};

// Other threads' ops come by here too.
ContextPointer TestBegin(const void* op) {
  if (self_test.thread == __builtin_thread_pointer()) {
    const char* name = self_test.name_of(op);
    if (name != nullptr && std::strcmp(name, self_test.name) == 0) {
      self_test.op = op;
      ++self_test.begins;
    }
  }
  return {};
}

void TestEnd(const void* op, void* context) {
  if (self_test.thread == __builtin_thread_pointer() && op == self_test.op && context == nullptr) {
    ++self_test.ends;
  }
}

struct Registration {
  Callback callback;
  uint64_t handle;
};

void Register(void* argument) {
  Registration* registration = static_cast<Registration*>(argument);
  registration->handle = observer.add(registration->callback);
}
void Unregister(void* argument) { observer.remove(*static_cast<uint64_t*>(argument)); }
void RunTestOp(void* argument) { reinterpret_cast<NoArgumentOp>(argument)(); }

Callback MakeCallback(OpCallbacks functions, uint32_t scopes) {
  Callback callback = {};
  callback.begin = functions.begin;
  callback.end = functions.end;
  callback.sampling_probability = 1.0;
  for (uint32_t i = 0; i < sizeof(callback.scopes); ++i) {
    callback.scopes[i] = (scopes >> i & 1) != 0;
  }
  return callback;
}

// Whether an op of our own on this thread calls back once each way, with its name.
bool PassesSelfTest(const TestOp& op) {
  void* call = dlsym(observer.library.handle, op.symbol);
  if (call == nullptr) return false;
  self_test = {__builtin_thread_pointer(), op.name, observer.functions.name, nullptr, 0, 0};
  Registration registration = {MakeCallback({TestBegin, TestEnd}, 1), 0};
  if (!ProtectedCall(Register, &registration)) return false;
  const bool ran = ProtectedCall(RunTestOp, call);
  ProtectedCall(Unregister, &registration.handle);
  self_test.thread = nullptr;
  return ran && self_test.begins == 1 && self_test.ends == 1;
}

// What being observed costs an op in this process: the self-test op with callbacks and without,
// least of several batches, and the two readings of the clock that the real callbacks make. What
// the record itself takes is not in it.
uint64_t TimeTestOps(void* call) {
  constexpr int kBatches = 7;
  constexpr int kOps = 64;
  uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    const uint64_t start = proto::ReadClockNs(CLOCK_MONOTONIC);
    for (int i = 0; i < kOps; ++i) ProtectedCall(RunTestOp, call);
    const uint64_t spent = proto::ReadClockNs(CLOCK_MONOTONIC) - start;
    if (spent / kOps < least) least = spent / kOps;
  }
  return least;
}

void MeasureCost(const TestOp& op) {
  void* call = dlsym(observer.library.handle, op.symbol);
  const uint64_t bare = TimeTestOps(call);
  Registration registration = {MakeCallback({TestBegin, TestEnd}, 1), 0};
  self_test = {nullptr, op.name, observer.functions.name, nullptr, 0, 0};
  if (!ProtectedCall(Register, &registration)) return;
  const uint64_t observed = TimeTestOps(call);
  ProtectedCall(Unregister, &registration.handle);
  const uint64_t cost = observed > bare ? observed - bare : 0;
  op_cost_ns.store(static_cast<uint32_t>(cost < UINT32_MAX ? cost : 0), std::memory_order_relaxed);
}

// --- Finding ---

bool Refuse(const char* why) {
  observer.refused = true;
  state.store(why, std::memory_order_release);
  return false;
}

void* SymbolIn(void* handle, const char* name) { return dlsym(handle, name); }

template <typename Function>
bool Resolve(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(observer.library.handle, name));
  return *function != nullptr;
}

bool VersionFits() {
  const TorchVersion version = VersionBeside(observer.library.path);
  if (version.major == 0) return true;  // the self-test decides
  if (version.major > kNewestMajor) return false;
  return version.major > kOldest.major || version.minor >= kOldest.minor;
}

char* AppendNumber(char* end, uint32_t number) {
  if (number >= 10) end = AppendNumber(end, number / 10);
  *end = static_cast<char>('0' + number % 10);
  return end + 1;
}

// "torch 2.13", once; "torch" where the version is unknown.
void NameFramework() {
  static char name[32];
  const TorchVersion version = VersionBeside(observer.library.path);
  char* end = stpcpy(name, "torch");
  if (version.major != 0) {
    *end++ = ' ';
    end = AppendNumber(end, version.major);
    *end++ = '.';
    end = AppendNumber(end, version.minor);
    *end = 0;
  }
  framework.store(name, std::memory_order_release);
}

bool Prepare(const Host* host) {
  if (!FindLibrary("libtorch_cpu.so", &observer.library)) return false;
  if (!VersionFits()) return Refuse("this PyTorch is outside the supported range (1.13 to 2.x)");
  Resolve("_ZNK2at14RecordFunction7isAsyncEv", &observer.functions.is_async);
  if (!Resolve("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", &observer.add) ||
      !Resolve("_ZN2at14removeCallbackEm", &observer.remove) ||
      !Resolve("_ZNK2at14RecordFunction4nameEv", &observer.functions.name)) {
    return Refuse("this PyTorch does not export its op observers");
  }
  if (!ProtectedCallInit(SymbolIn, observer.library.handle)) {
    return Refuse("op observers are not supported on this processor");
  }
  uint64_t (*peek)() = nullptr;
  Resolve("_ZN2at15sequence_number4peekEv", &peek);
  SequenceNumbersInit(peek);
  observer.tells_inputs = InputShapesInit(SymbolIn, observer.library.handle);
  if (!OpRecorderInit(host, observer.functions)) return Refuse("no memory for op names");
  observer.host = host;
  for (const TestOp& op : kTestOps) {
    if (!PassesSelfTest(op)) continue;
    MeasureCost(op);
    NameFramework();
    observer.ready = true;
    return true;
  }
  // Tried again on later ticks: the library may still be starting.
  if (++observer.self_tests >= kMostSelfTests) {
    return Refuse("the self-test of PyTorch's op observers failed");
  }
  observer.loader_seen = 0;
  return false;
}

void TellMemoryFunctions(const Host* host) {
  LoadedLibrary library;
  if (!FindLibrary("libc10.so", &library)) return;
  // 1.9 to 2.0, later, and before.
  constexpr const char* kReporters[] = {"_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
                                        "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
                                        "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE"};
  void* report = nullptr;
  for (const char* name : kReporters) {
    if (report == nullptr) report = dlsym(library.handle, name);
  }
  void* is_enabled = dlsym(library.handle, "_ZN3c1022memoryProfilingEnabledEv");
  if (report == nullptr || is_enabled == nullptr) return;
  observer.memory_functions_told = true;
  host->set_torch_memory_functions(is_enabled, report);
}

void RemoveAll() {
  while (observer.registered != 0) {
    ProtectedCall(Unregister, &observer.handles[--observer.registered]);
  }
}

bool AttachRecorder() {
  OpRecorderBegin();
  for (; observer.registered < kGroupCount; ++observer.registered) {
    const ScopeGroup& group = kGroups[observer.registered];
    Registration registration = {MakeCallback(CallbacksFor(group.scope), group.members), 0};
    if (!ProtectedCall(Register, &registration)) break;
    observer.handles[observer.registered] = registration.handle;
  }
  if (observer.registered != kGroupCount) {
    OpRecorderEnd();
    RemoveAll();
    return Refuse("PyTorch refused the op observers");
  }
  state.store("active", std::memory_order_release);
  return true;
}

// Called for every range that the program names itself, in a capture behind the recorder's own
// callback: what ends with the capture is recorded before that ends.
ContextPointer RangeBegins(const void* op) {
  observer.host->framework_range(observer.functions.name(op), /*is_end=*/false);
  return {};
}
void RangeEnds(const void* op, void*) {
  observer.host->framework_range(observer.functions.name(op), /*is_end=*/true);
}

void RegisterRanges() {
  if (!observer.watches_ranges || observer.ranges_registered) return;
  Registration registration = {MakeCallback({RangeBegins, RangeEnds}, kUserScope), 0};
  observer.ranges_registered = ProtectedCall(Register, &registration);
  observer.ranges_handle = registration.handle;
}

void UnregisterRanges() {
  if (!observer.ranges_registered) return;
  observer.ranges_registered = false;
  ProtectedCall(Unregister, &observer.ranges_handle);
}

// With this observer PyTorch gives their inputs to all observers. It does nothing else.
ContextPointer WantInputs(const void*) { return {}; }
void WantNoOutputs(const void*, void*) {}

bool AddInputs() {
  constexpr uint32_t kScopes = kGroups[0].members | kGroups[1].members;
  Registration registration = {MakeCallback({WantInputs, WantNoOutputs}, kScopes), 0};
  registration.callback.needs_inputs = true;
  if (!ProtectedCall(Register, &registration)) return false;
  observer.inputs_handle = registration.handle;
  return true;
}
void RemoveInputs() { ProtectedCall(Unregister, &observer.inputs_handle); }

// Where each allocation is recorded, those of the reading would be among the program's.
bool WantsInputsRead(const Settings& settings) {
  const bool records_exact_heap =
      (settings.sources & proto::kSourceHeap) != 0 && settings.heap_mode == proto::HeapMode::kExact;
  return settings.op_names_alone == 0 && !records_exact_heap;
}

bool Attach(const Host* host) {
  UnregisterRanges();
  const bool is_attached = AttachRecorder();
  if (is_attached && observer.tells_inputs && WantsInputsRead(*host->settings))
    ShapeWindowsBegin({AddInputs, RemoveInputs});
  RegisterRanges();
  return is_attached;
}

bool IsAttached() { return observer.registered == kGroupCount; }

}  // namespace

bool TorchTryAttach(const Host* host) {
  if (torn.load(std::memory_order_relaxed)) return false;
  const uint32_t sources = host->settings->sources;
  const bool wants_ops = (sources & proto::kSourceOps) != 0 && !observer.refused;
  const bool wants_memory =
      (sources & proto::kSourceTensors) != 0 && !observer.memory_functions_told;
  if (wants_ops && IsAttached()) {
    const uint64_t now_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
    if (ShapeWindowsAreDue(now_ns)) {
      Work work;
      ShapeWindowsTick(now_ns);
    }
    return true;
  }
  if (!wants_ops && !wants_memory) return false;
  if (wants_ops && observer.ready) {
    Work work;
    return Attach(host);
  }
  if (!LoaderChanged(&observer.loader_seen)) return false;
  Work work;
  if (wants_memory) TellMemoryFunctions(host);
  return wants_ops && Prepare(host) && Attach(host);
}

bool TorchTryWatchRanges(const Host* host) {
  if (observer.ranges_registered) return true;
  if (torn.load(std::memory_order_relaxed) || observer.refused) return false;
  observer.watches_ranges = true;
  if (!observer.ready && !LoaderChanged(&observer.loader_seen)) return false;
  Work work;
  if (!observer.ready) {
    if ((host->settings->sources & proto::kSourceTensors) != 0 && !observer.memory_functions_told)
      TellMemoryFunctions(host);
    if (!Prepare(host)) return false;
  }
  RegisterRanges();
  return observer.ranges_registered;
}

void TorchDetach() {
  OpRecorderEnd();
  if (observer.registered == 0 || torn.load(std::memory_order_relaxed)) return;
  Work work;
  ShapeWindowsEnd();
  RemoveAll();
  state.store("none", std::memory_order_release);
}

const char* TorchInputsNote() {
  if (!observer.ready || !WantsInputsRead(*observer.host->settings)) return nullptr;
  if (!observer.tells_inputs)
    return "shapes of inputs are not recorded: this PyTorch does not export the functions that "
           "tell them";
  return InputsNotRead() == 0 ? nullptr
                              : "shapes of inputs are missing of some operations: PyTorch could "
                                "not tell them";
}

void TorchBeginFile() { NamesBeginFile(); }

const char* TorchFramework() { return framework.load(std::memory_order_acquire); }

uint32_t TorchOpCostNs() {
  const uint32_t own = OpRecorderCostNs();
  return own != 0 ? own + op_cost_ns.load(std::memory_order_relaxed) : 0;
}

const char* TorchState() { return state.load(std::memory_order_acquire); }

TorchCounters ReadTorchCounters() { return ReadOpCounters(); }

void TorchBeforeFork() {
  forking.fetch_add(1, std::memory_order_seq_cst);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && working.load(std::memory_order_seq_cst); ++i) Pause();
}

void TorchAfterForkParent() { forking.fetch_sub(1, std::memory_order_seq_cst); }

void TorchAfterForkChild() {
  if (working.exchange(false)) {
    torn = true;
    state.store("forked while observers were being set", std::memory_order_release);
    OpRecorderEnd();
  }
  forking = 0;
  OpRecorderAfterFork();
}

}  // namespace gpuprof::tracer
