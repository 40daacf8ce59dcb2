// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/settings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "inject/budget/limited_captures.h"
#include "inject/marked_captures.h"
#include "inject/obstacle.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/triggers/triggers.h"
#include "inject/tsc.h"
#include "proto/job_launchers.h"
#include "proto/python_option.h"

extern "C" char** environ;

namespace gpuprof::inject {

LaunchSettings g_launch;

void RejectSetting(const char* variable, const char* value, const char* expected) noexcept {
  char buffer[512];
  Text text(buffer, sizeof(buffer));
  text.Add(variable)
      .Add("=")
      .Add(value)
      .Add(" is not valid, so its default is used; expected:  ")
      .Add(expected);
  Say(buffer);
}

bool ParseDuration(const char** text, uint64_t* ns) noexcept {
  uint64_t value = 0;
  if (!ParseNumber(text, &value)) return false;
  uint64_t unit = 1'000'000'000u;
  if ((*text)[0] == 'm' && (*text)[1] == 's') {
    unit = 1'000'000u;
    *text += 2;
  } else if (**text == 's') {
    ++*text;
  } else if (**text == 'm') {
    unit *= 60;
    ++*text;
  }
  if (value > 1'000'000'000u) return false;
  *ns = value * unit;
  return true;
}

namespace {

using proto::HeapMode;

constinit char g_tracer_path[600] = {};
constinit char g_inject_path[600] = {};
// Settings that came with an attach, one behind the other.
const char* g_given = nullptr;
const char* g_given_end = nullptr;

const char* ItemEnd(const char* p) {
  while (*p != 0 && *p != ',') ++p;
  return p;
}

bool ListContains(const char* list, const char* name, size_t bytes) {
  if (list == nullptr) return false;
  for (const char* p = list; *p != 0;) {
    const char* end = ItemEnd(p);
    if (static_cast<size_t>(end - p) == bytes && __builtin_memcmp(p, name, bytes) == 0) return true;
    p = *end == ',' ? end + 1 : end;
  }
  return false;
}

// x86_64-linux-gnu-g++-12 -> g++; gcc-12 -> gcc. Returns the part of `name` that counts.
const char* ReduceName(const char* name, size_t* bytes) {
  size_t end = Length(name);
  size_t cut = end;
  while (cut > 0 && (name[cut - 1] == '.' || (name[cut - 1] >= '0' && name[cut - 1] <= '9'))) --cut;
  if (cut > 1 && cut < end && name[cut - 1] == '-') end = cut - 1;
  size_t begin = 0;
  int dashes = 0;
  for (size_t i = 0; i < end; ++i) {
    if (name[i] == '-' && ++dashes == 3 && i + 1 < end) begin = i + 1;
  }
  *bytes = end - begin;
  return name + begin;
}

bool ParseHeap(const char* mode, const char* end, tracer::Settings* settings) {
  const size_t bytes = static_cast<size_t>(end - mode);
  const auto is = [&](const char* word) {
    return Length(word) == bytes && __builtin_memcmp(mode, word, bytes) == 0;
  };
  if (is("off")) {
    settings->heap_mode = HeapMode::kOff;
  } else if (is("exact")) {
    settings->heap_mode = HeapMode::kExact;
  } else if (is("sampled")) {
    settings->heap_mode = HeapMode::kSampled;
  } else if (bytes > 8 && __builtin_memcmp(mode, "sampled:", 8) == 0) {
    uint64_t period = 0;
    if (!ParseSize(mode + 8, end, &period) || period == 0 || period > UINT32_MAX) return false;
    settings->heap_mode = HeapMode::kSampled;
    settings->heap_period = static_cast<uint32_t>(period);
  } else {
    return false;
  }
  return true;
}

// "shapes" or "names".
bool ParseOps(const char* detail, const char* end, tracer::Settings* settings) {
  const size_t bytes = static_cast<size_t>(end - detail);
  settings->op_names_alone = bytes == 5 && __builtin_memcmp(detail, "names", bytes) == 0 ? 1 : 0;
  return settings->op_names_alone != 0 ||
         (bytes == 6 && __builtin_memcmp(detail, "shapes", bytes) == 0);
}

// Reads what stands behind the '=' of a source.
bool ParseValue(uint32_t source, const char* value, const char* end, tracer::Settings* settings) {
  if (source == proto::kSourceHeap) return ParseHeap(value, end, settings);
  return source == proto::kSourceOps && ParseOps(value, end, settings);
}

bool ParseSources(const char* list, tracer::Settings* settings) {
  settings->sources = 0;
  for (const char* p = list; *p != 0;) {
    const char* end = ItemEnd(p);
    const char* equals = p;
    while (equals < end && *equals != '=') ++equals;
    const size_t bytes = static_cast<size_t>(equals - p);
    const auto is = [&](const char* word) {
      return Length(word) == bytes && __builtin_memcmp(p, word, bytes) == 0;
    };
    uint32_t source = 0;
#define GPUPROF_MATCH(constant, bit, name, needs, ...) \
  if (is(name)) source = proto::constant | (needs);
    GPUPROF_SOURCES(GPUPROF_MATCH)
#undef GPUPROF_MATCH
    if (source == 0 || (equals != end && !ParseValue(source, equals + 1, end, settings)))
      return false;
    settings->sources |= source;
    p = *end == ',' ? end + 1 : end;
  }
  if (settings->heap_mode == HeapMode::kOff) settings->sources &= ~proto::kSourceHeap;
  return true;
}

[[gnu::cold]] bool ReadRangeName(const char* text) {
  Text name(g_launch.range, sizeof(g_launch.range));
  name.Add(text);
  return *text != 0 && !name.cut();
}

// FIRST-LAST or FIRST, both as they are counted from 1, or as their ranges are numbered.
[[gnu::cold]] bool ParseSteps(const char* p) {
  if (!ParseNumber(&p, &g_launch.first_step)) return false;
  g_launch.last_step = g_launch.first_step;
  if (*p == '-' && (++p, !ParseNumber(&p, &g_launch.last_step))) return false;
  if (g_launch.last_step < g_launch.first_step) return false;
  return *p == 0 || (*p == '@' && ReadRangeName(p + 1));
}

[[gnu::cold]] bool ParseCapture(const char* text) {
  if (Equal(text, "now")) {
    g_launch.capture = CaptureMode::kNow;
  } else if (Equal(text, "off")) {
    g_launch.capture = CaptureMode::kOff;
  } else if (Equal(text, "cuda-profiler")) {
    g_launch.capture = CaptureMode::kProfilerCalls;
  } else if (__builtin_strncmp(text, "delay:", 6) == 0) {
    const char* p = text + 6;
    if (!ParseDuration(&p, &g_launch.delay_ns)) return false;
    if (*p == '+') {
      ++p;
      if (!ParseDuration(&p, &g_launch.length_ns)) return false;
    }
    if (*p != 0) return false;
    g_launch.capture = CaptureMode::kDelay;
  } else if (__builtin_strncmp(text, "nvtx:", 5) == 0) {
    if (!ReadRangeName(text + 5)) return false;
    g_launch.capture = CaptureMode::kRange;
  } else if (__builtin_strncmp(text, "steps:", 6) == 0) {
    if (!ParseSteps(text + 6)) return false;
    g_launch.capture = CaptureMode::kSteps;
  } else {
    return false;
  }
  return true;
}

bool ParseSignal(const char* text, int* signal) {
  if (Equal(text, "none")) {
    *signal = 0;
    return true;
  }
  if (Equal(text, "USR1") || Equal(text, "SIGUSR1")) {
    *signal = SIGUSR1;
    return true;
  }
  if (Equal(text, "USR2") || Equal(text, "SIGUSR2")) {
    *signal = SIGUSR2;
    return true;
  }
  uint64_t number = 0;
  if (!ParseNumber(&text, &number) || *text != 0 || number == 0 || number > 64) return false;
  *signal = static_cast<int>(number);
  return *signal != SIGKILL && *signal != SIGSTOP && *signal != SIGSEGV;
}

void ReadNumber(const char* variable, uint64_t most, uint32_t* target, const char* expected) {
  const char* text = Variable(variable);
  if (text == nullptr || *text == 0) return;
  const char* p = text;
  uint64_t value = 0;
  if (!ParseNumber(&p, &value) || *p != 0 || value > most)
    return RejectSetting(variable, text, expected);
  *target = static_cast<uint32_t>(value);
}

void ReadSources() {
  g_settings.heap_mode = HeapMode::kSampled;
  g_settings.heap_period = proto::kDefaultHeapPeriod;
  const char* text = Variable(proto::kEnvTrace);
  if (text != nullptr && *text != 0 && ParseSources(text, &g_settings)) return;
  if (text != nullptr && *text != 0) {
    RejectSetting(proto::kEnvTrace, text,
                  GPUPROF_SOURCES(GPUPROF_SOURCE_HELP) "separated by commas");
  }
  g_settings.heap_mode = HeapMode::kSampled;
  g_settings.heap_period = proto::kDefaultHeapPeriod;
  g_settings.op_names_alone = 0;
  g_settings.sources = proto::kDefaultSources;
}

// After the sources.
void ReadPython() {
  const char* text = Variable(proto::kEnvPython);
  if (text == nullptr || *text == 0) return;
  proto::PythonOption option;
  const char* from = nullptr;
  const char* to = nullptr;
  if (proto::ReadPythonOption(text, &option, &from, &to) != proto::PythonFault::kNone)
    return RejectSetting(proto::kEnvPython, text, proto::kPythonGrammar);
  static_assert(sizeof(option.globs) == sizeof(g_settings.python_globs));
  __builtin_memcpy(g_settings.python_globs, option.globs, sizeof(option.globs));
  if (option.globs[0] != 0) g_settings.sources |= proto::kSourcePythonCalls;
  if (option.has_gc) g_settings.sources |= proto::kSourcePythonGc;
}

void ReadClock() {
  const char* text = Variable(proto::kEnvClock);
  const bool known = text == nullptr || *text == 0 || Equal(text, "auto") || Equal(text, "tsc") ||
                     Equal(text, "monotonic");
  if (!known) RejectSetting(proto::kEnvClock, text, "auto, tsc or monotonic");
  const bool monotonic = known && text != nullptr && Equal(text, "monotonic");
  const bool tsc = known && text != nullptr && Equal(text, "tsc");
  g_settings.clock =
      !monotonic && (tsc || TscIsFit()) ? proto::ClockKind::kTsc : proto::ClockKind::kMonotonic;
}

void ReadSize(const char* variable, uint64_t least, uint64_t most, uint64_t* target,
              const char* expected) {
  const char* text = Variable(variable);
  if (text == nullptr || *text == 0) return;
  uint64_t bytes = 0;
  if (!ParseSize(text, text + Length(text), &bytes) || bytes < least || bytes > most)
    return RejectSetting(variable, text, expected);
  *target = bytes;
}

void ReadSizes() {
  constexpr uint64_t kMost = uint64_t{1} << 34;
  ReadSize(proto::kEnvRingMemory, 1u << 20, kMost, &g_ring_memory, "a size between 1MiB and 16GiB");
  g_settings.memory_limit = 64u << 20;
  ReadSize(proto::kEnvMemory, 8u << 20, kMost, &g_settings.memory_limit,
           "a size between 8MiB and 16GiB");
  ReadSize(proto::kEnvRing, proto::kMinFlightBytes, proto::kMaxFlightBytes,
           &g_settings.flight_bytes, "a size between 1MiB and 1TiB");
  ReadSize(proto::kEnvBundleLimit, 64u << 10, UINT64_MAX, &g_settings.bundle_limit,
           "a size of 64KiB or more");
  g_settings.keep_free = ~uint64_t{0};
  const char* free = Variable(proto::kEnvKeepFree);
  if (free == nullptr || !Equal(free, "auto"))
    ReadSize(proto::kEnvKeepFree, 0, UINT64_MAX, &g_settings.keep_free, "auto or a size");
}

void ReadGraphs() {
  g_settings.graph_mode = proto::GraphMode::kNode;
  const char* text = Variable(proto::kEnvGraphs);
  if (text == nullptr || *text == 0 || Equal(text, "node")) return;
  if (!Equal(text, "whole")) return RejectSetting(proto::kEnvGraphs, text, "node or whole");
  g_settings.graph_mode = proto::GraphMode::kWhole;
}

// N, calls=N, nodes=N, or both with a comma between.
bool ParseGpuRate(const char* text) {
  const char* p = text;
  while (*p != 0) {
    uint64_t* limit = &g_settings.gpu_calls_limit;
    if (__builtin_strncmp(p, "calls=", 6) == 0) {
      p += 6;
    } else if (__builtin_strncmp(p, "nodes=", 6) == 0) {
      limit = &g_settings.gpu_nodes_limit;
      p += 6;
    }
    if (!ParseNumber(&p, limit) || *limit == 0 || *limit > UINT32_MAX) return false;
    if (*p == 0) return true;
    if (*p++ != ',') return false;
  }
  return false;
}

void ReadGpuRate() {
  const char* text = Variable(proto::kEnvGpuRate);
  if (text == nullptr || *text == 0 || ParseGpuRate(text)) return;
  g_settings.gpu_calls_limit = g_settings.gpu_nodes_limit = 0;
  RejectSetting(proto::kEnvGpuRate, text,
                "rows per second: N, calls=N, nodes=N or calls=N,nodes=N");
}

void ReadGpuFinish() {
  g_settings.gpu_finish_ns = 500'000'000;
  const char* text = Variable(proto::kEnvGpuFinish);
  if (text == nullptr || *text == 0) return;
  const char* p = text;
  uint64_t ns = 0;
  if (!ParseDuration(&p, &ns) || *p != 0 || ns > proto::kMostGpuFinishNs)
    return RejectSetting(proto::kEnvGpuFinish, text, "a time up to 2m, for example 500ms");
  g_settings.gpu_finish_ns = ns;
}

void ReadArguments() {
  g_settings.arguments = proto::Arguments::kMasked;
  const char* text = Variable(proto::kEnvArguments);
  if (text == nullptr || *text == 0 || Equal(text, proto::kArgumentsMasked)) return;
  if (Equal(text, proto::kArgumentsNone)) {
    g_settings.arguments = proto::Arguments::kNone;
  } else if (Equal(text, proto::kArgumentsAll)) {
    g_settings.arguments = proto::Arguments::kAll;
  } else {
    RejectSetting(proto::kEnvArguments, text, "masked, none or all");
  }
}

// The base name of the running executable, from the kernel: argv[0] may be anything.
bool ExecutableName(char* name, size_t capacity) {
  char path[512];
  const long n =
      raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(path), sizeof(path) - 1);
  if (n <= 0) return false;
  path[n] = 0;
  Text text(name, capacity);
  text.Add(BaseName(path));
  return true;
}

// Programs in Python are known by their script: torchrun is one.
bool RunsExcludedScript(const char* include, const char* exclude) {
  char words[2048];
  const size_t bytes = ReadCommandLine(words, sizeof(words));
  return bytes != 0 && IsExcludedScript(words, bytes, include, exclude);
}

void ReadRuntimeFolder() {
  const char* folder = Variable("XDG_RUNTIME_DIR");
  Text text(g_launch.runtime_folder, sizeof(g_launch.runtime_folder));
  if (folder != nullptr) text.Add(folder);
  if (text.cut()) g_launch.runtime_folder[0] = 0;
}

void ReadInjectPath() {
  Text text(g_inject_path, sizeof(g_inject_path));
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&TracerPath), &info) != 0 && info.dli_fname != nullptr)
    text.Add(info.dli_fname);
  if (text.cut()) g_inject_path[0] = 0;
}

void ReadTracerPath() {
  Text text(g_tracer_path, sizeof(g_tracer_path));
  const char* given = Variable(proto::kEnvTracer);
  if (given != nullptr && *given != 0) {
    text.Add(given);
  } else {
    text.Add(g_inject_path, static_cast<size_t>(BaseName(g_inject_path) - g_inject_path))
        .Add(proto::kTracerObject);
  }
  if (text.cut() || g_tracer_path[0] != '/') g_tracer_path[0] = 0;
}

}  // namespace

void GiveSettings(const char* entries, size_t bytes) noexcept {
  g_given = entries;
  g_given_end = entries + bytes;
}

const char* Variable(const char* name) noexcept {
  const size_t bytes = Length(name);
  for (const char* entry = g_given; entry < g_given_end; entry += Length(entry) + 1) {
    if (__builtin_strncmp(entry, name, bytes) == 0 && entry[bytes] == '=') return entry + bytes + 1;
  }
  if (environ == nullptr || g_given != nullptr) return nullptr;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (__builtin_strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=')
      return *entry + bytes + 1;
  }
  return nullptr;
}

bool IsExcludedProgram(const char* name, const char* include, const char* exclude) noexcept {
  size_t bytes = 0;
  const char* reduced = ReduceName(name, &bytes);
  if (ListContains(include, name, Length(name)) || ListContains(include, reduced, bytes))
    return false;
  if (ListContains(exclude, name, Length(name)) || ListContains(exclude, reduced, bytes))
    return true;
  for (const char* program = proto::kExcludedPrograms; *program != 0;
       program += Length(program) + 1) {
    if (Equal(program, reduced, bytes) || Equal(program, name)) return true;
  }
  return proto::IsJobLauncher(name);
}

size_t ReadCommandLine(char* words, size_t capacity) noexcept {
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg("/proc/self/cmdline"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const long n = raw::Call(SYS_read, fd, raw::Arg(words), capacity - 1);
  raw::Call(SYS_close, fd);
  if (n <= 0) return 0;
  words[n] = 0;
  return static_cast<size_t>(n);
}

bool IsExcludedScript(const char* words, size_t bytes, const char* include,
                      const char* exclude) noexcept {
  const char* script = proto::ScriptOf(words, bytes);
  if (script == nullptr || ListContains(include, script, Length(script))) return false;
  return ListContains(exclude, script, Length(script)) || proto::IsJobLauncher(script);
}

namespace {

// Exact means exact: all of the heap's events are asked for.
void ReadOnFull() {
  const char* value = Variable(proto::kEnvOnFull);
  const bool is_auto = value == nullptr || *value == 0 || Equal(value, "auto");
  g_settings.waits_for_room =
      is_auto ? g_settings.heap_mode == proto::HeapMode::kExact : Equal(value, "wait");
  if (!is_auto && !Equal(value, "wait") && !Equal(value, "drop"))
    RejectSetting(proto::kEnvOnFull, value, "auto, wait or drop");
}

// Of an object that dlopen loads the constructor runs under the loader's lock.
bool IsPreloaded() {
  const char* list = Variable("LD_PRELOAD");
  for (; list != nullptr && *list != 0; ++list) {
    if (strncmp(list, proto::kInjectObject, sizeof proto::kInjectObject - 1) == 0) return true;
  }
  return false;
}

// The driver looks at the variable when the program initialises CUDA: what the program does to its
// environment until then is not known.
bool NamesAnotherInjection() {
  const char* path = Variable("CUDA_INJECTION64_PATH");
  return path == nullptr || !Equal(BaseName(path), proto::kInjectObject);
}

// Another user who owns the bundle could exchange its files, and would own what root records. Root
// is trusted. An own folder loses the right of others to write in it, as in `gpuprof run`.
bool IsForeign(const char* bundle) {
  constexpr mode_t kOthersMayWrite = 022;
  struct stat status;
  if (raw::Call(SYS_stat, raw::Arg(bundle), raw::Arg(&status)) != 0) return false;  // told later
  const auto user = static_cast<uid_t>(raw::Call(SYS_geteuid));
  if (status.st_uid == user && (status.st_mode & kOthersMayWrite) != 0)
    raw::Call(SYS_chmod, raw::Arg(bundle), status.st_mode & 07777 & ~kOthersMayWrite);
  return status.st_uid != user && status.st_uid != 0;
}

[[gnu::cold]] void SayForeign(const char* bundle) {
  char line[640];
  Say(Text(line, sizeof(line))
          .Add("nothing is recorded: ")
          .Add(bundle)
          .Add(" belongs to another user, who could change the bundle; name a new folder of your "
               "own with 'gpuprof env -o DIR'")
          .c_str());
}

}  // namespace

const char* TracerPath() noexcept { return g_tracer_path; }
const char* InjectPath() noexcept { return g_inject_path; }

bool ReadSettings() noexcept {
  // A program with more rights than its caller: what the caller's variables name is not its own.
  if (getauxval(AT_SECURE) != 0) return false;
  const char* bundle = Variable(proto::kEnvBundle);
  if (bundle == nullptr || *bundle == 0) return false;
  ReadInjectPath();  // for the programs that excluded ones start
  const char* include = Variable(proto::kEnvInclude);
  const char* exclude = Variable(proto::kEnvExclude);
  char name[256];
  if (ExecutableName(name, sizeof(name)) &&
      (IsExcludedProgram(name, include, exclude) ||
       (proto::RunsScripts(name) && RunsExcludedScript(include, exclude)))) {
    return false;
  }
  Text path(g_settings.bundle, sizeof(g_settings.bundle));
  path.Add(bundle);
  if (path.cut() || bundle[0] != '/') {
    g_settings.bundle[0] = 0;
    RejectSetting(proto::kEnvBundle, bundle,
                  "an absolute path of less than 512 bytes; nothing is recorded");
    return false;
  }
  if (IsForeign(g_settings.bundle)) {
    g_settings.bundle[0] = 0;
    SayForeign(bundle);
    return false;
  }
  g_settings.stack_depth = proto::kDefaultStackFrames;
  ReadNumber(proto::kEnvStacks, proto::kMaxStackFrames, &g_settings.stack_depth,
             "a number of frames from 0 to 127");
  ReadNumber(proto::kEnvDebug, 9, &g_settings.debug, "0 or 1");
  SetDebug(g_settings.debug != 0);
  ReadSources();
  ReadPython();
  ReadClock();
  ReadSizes();
  ReadArguments();
  ReadGraphs();
  ReadGpuRate();
  ReadGpuFinish();
  ReadTracerPath();
  ReadLauncher();
  ReadRuntimeFolder();
  g_launch.preloaded = IsPreloaded();
  g_settings.injection_lost = NamesAnotherInjection() ? 1 : 0;
  const char* times = Variable(proto::kEnvHeapTimes);
  g_settings.exact_heap_times = times != nullptr && Equal(times, "exact") ? 1 : 0;
  ReadOnFull();
  const char* capture = Variable(proto::kEnvCapture);
  if (capture != nullptr && *capture != 0 && !ParseCapture(capture)) {
    RejectSetting(
        proto::kEnvCapture, capture,
        "now, off, delay:START[+LENGTH], steps:FIRST-LAST[@RANGE], nvtx:RANGE or cuda-profiler");
  }
  const char* budget = Variable(proto::kEnvBudget);
  if (!budget::ReadLimit(budget))
    RejectSetting(proto::kEnvBudget, budget, "N%, or a time for each step, for example 50us");
  if (budget::IsLimited()) g_launch.capture = CaptureMode::kBudget;
  ReadTriggers();
  g_launch.watches_ranges = g_launch.capture == CaptureMode::kRange || WatchesSteps();
  ReadNumber(proto::kEnvSnapshots, 1'000'000, &g_launch.snapshots, "a number of snapshots");
  g_launch.signal = SIGUSR1;
  const char* signal = Variable(proto::kEnvSignal);
  if (signal != nullptr && *signal != 0 && !ParseSignal(signal, &g_launch.signal)) {
    RejectSetting(proto::kEnvSignal, signal, "USR1, USR2, a signal number, or none");
  }
  return true;
}

}  // namespace gpuprof::inject
