// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sessions.h. Of JAX is relied on: jaxlib's module with the classes ProfilerSession and
// ProfileOptions, and ProfilerSession.stop(), which returns an XSpace as bytes.

#include "tracer/jax/sessions.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "tracer/base/futex.h"
#include "tracer/jax/device_tracer.h"

namespace gpuprof::tracer::jax {
namespace {

constexpr const char* kModules[] = {"jaxlib._profiler", "jaxlib._jax.profiler",
                                    "jaxlib.xla_extension.profiler"};
constexpr uint64_t kLockLimit = 2 * kSecond;
// Python's end waits longer: a thread that it ends in the middle of JAX's code ends the process.
constexpr uint64_t kExitLimit = 30 * kSecond;
// A program's session that was dropped and not stopped ends unseen.
constexpr uint64_t kLookAgain = 5 * kSecond;
// Marks of these names mean that programs were compiled.
constexpr char kCompiled[] = "backend_compile";

// What a function of ours stands in front of.
enum class Call : long { kBegin, kEnd, kServer };

struct State {
  const Python* python = nullptr;
  PyObject* session_class = nullptr;  // JAX's own
  PyObject* options_class = nullptr;
  std::atomic<PyObject*> session{nullptr};
  Moment begun;
  uint32_t capture = 0;
  uint32_t last_capture = 0;    // that a window was handed over for
  bool knows_programs = false;  // of this capture
  bool has_cuda = false;
  PyObject* exit = nullptr;                // the handler
  std::atomic<bool> is_before_jax{false};  // it is called before JAX's own
  uint32_t tid = 0;                        // of the agent's thread
  std::atomic<uint32_t> lock{0};
  std::atomic<bool> has_user{false};
  std::atomic<bool> has_begun{false};  // a session of ours, at some time
  std::atomic<uint64_t> user_since{0};
  std::atomic<bool> has_server{false};
  std::atomic<bool> is_over{false};
  std::atomic<bool> is_forked{false};
  std::atomic<bool> holds_for_fork{false};
  std::atomic<bool> saw_device_tracer{false};
  std::atomic<uint64_t> yielded{0};
  std::atomic<const char*> note{""};
  std::atomic<const char*> framework{nullptr};
  AgentThread thread = {};
};
constinit State g;
constinit Windows g_windows;

uint32_t ThreadId() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

// Gives the interpreter's lock away while it waits. A thread that is ended there holds nothing.
bool Lock(const Python& python, uint64_t limit = kLockLimit) {
  const uint64_t until = Monotonic() + limit;
  uint32_t free = 0;
  while (!g.lock.compare_exchange_strong(free, 1)) {
    if (Monotonic() >= until) return false;
    void* const thread = python.save_thread();
    FutexWait(&g.lock, 1, 20 * kMillisecond);
    python.restore_thread(thread);
    free = 0;
  }
  return true;
}

void Unlock() {
  g.lock.store(0);
  FutexWake(&g.lock);
}

Moment Now(proto::ClockKind kind) {
  Moment moment;
  moment.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  moment.ticks = proto::ReadTicks(kind);
  moment.monotonic_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  return moment;
}

// Takes a new reference to the value.
void Set(const Python& python, PyObject* object, const char* name, PyObject* value) {
  if (value != nullptr) python.set_attribute(object, name, value);
  python.Drop(value);
  python.clear_error();  // older releases lack some
}

// Null: it could not be made, or would take CUPTI.
PyObject* MakeOptions(const Python& python, bool has_programs) {
  PyObject* const options = python.CallWith(g.options_class, nullptr);
  if (options == nullptr) {
    python.clear_error();
    return nullptr;
  }
  const bool is_off = DeviceTracerOff(python, options);
  if (g.has_cuda && (!is_off || g.saw_device_tracer.load())) {
    g.note.store(
        "not recorded: this release of JAX would take CUPTI for its own profiler, from gpuprof");
    python.decrement(options);
    return nullptr;
  }
  Set(python, options, "host_tracer_level", python.new_long(2));
  Set(python, options, "python_tracer_level", python.new_long(0));
  Set(python, options, "enable_hlo_proto", python.new_bool(has_programs ? 1 : 0));
  Set(python, options, "raise_error_on_start_failure", python.new_bool(1));
  return options;
}

PyObject* MakeSession(const Python& python, bool has_programs, Begun* how) {
  PyObject* const options = MakeOptions(python, has_programs);
  if (options == nullptr) {
    *how = Begun::kNever;
    return nullptr;
  }
  PyObject* const session = python.CallWith(g.session_class, options);
  *how = session == nullptr ? Begun::kBusy : Begun::kYes;
  python.clear_error();
  python.decrement(options);
  return session;
}

// Copies without the interpreter's lock: we keep a reference.
void HandOver(const Python& python, PyObject* bytes, const Window& facts, uint64_t length,
              const char* data) {
  Window* const window = g_windows.Make(length);
  if (window == nullptr) return g_windows.CountLost();
  window->capture = facts.capture;
  window->tid = facts.tid;
  window->is_first = facts.is_first;
  window->has_programs = facts.has_programs;
  window->begin = facts.begin;
  window->end = facts.end;
  python.increment(bytes);
  void* const thread = python.save_thread();
  memcpy(reinterpret_cast<char*>(window + 1), data, length);
  python.restore_thread(thread);
  python.decrement(bytes);
  if (!g_windows.HandOver(window)) g_windows.CountLost();
}

// Stops a session, and drops it. Returns the bytes of its XSpace; null: there are none.
PyObject* Stop(const Python& python, PyObject* session) {
  PyObject* const bytes = python.CallMethod(session, "stop");
  python.clear_error();
  python.decrement(session);
  return bytes;
}

bool Contains(const char* data, uint64_t length, const char* text) {
  return memmem(data, length, text, strlen(text)) != nullptr;
}

// Compiled programs come in a session of their own: they are many bytes, and the same ones again.
void FetchPrograms(const Python& python, Window facts) {
  Begun how;
  facts.begin = Now(g.thread.clock);
  PyObject* const session = MakeSession(python, /*has_programs=*/true, &how);
  if (session == nullptr) return;
  PyObject* const bytes = Stop(python, session);
  facts.end = Now(g.thread.clock);
  facts.has_programs = true;
  char* data = nullptr;
  ptrdiff_t length = 0;
  if (bytes != nullptr && python.bytes(bytes, &data, &length) == 0)
    HandOver(python, bytes, facts, static_cast<uint64_t>(length), data);
  python.clear_error();
  python.Drop(bytes);
}

Ended EndLocked(const Python& python) {
  Ended ended;
  PyObject* const session = g.session.exchange(nullptr);
  if (session == nullptr) return ended;
  ended.was_open = true;
  PyObject* const bytes = Stop(python, session);
  Window facts = {};
  facts.capture = g.capture;
  facts.tid = g.tid;
  facts.is_first = g.last_capture != g.capture;
  facts.begin = g.begun;
  facts.end = Now(g.thread.clock);
  char* data = nullptr;
  ptrdiff_t length = 0;
  if (bytes == nullptr || python.bytes(bytes, &data, &length) != 0) {
    python.clear_error();
    python.Drop(bytes);
    return ended;
  }
  ended.bytes = static_cast<uint64_t>(length);
  if (g.last_capture != g.capture) g.knows_programs = false;
  g.last_capture = g.capture;
  const bool has_new = !g.knows_programs || Contains(data, ended.bytes, kCompiled);
  HandOver(python, bytes, facts, ended.bytes, data);
  python.decrement(bytes);
  if (has_new) FetchPrograms(python, facts);
  g.knows_programs = true;
  return ended;
}

// --- Functions that Python calls, on threads of the program ---

void Before(const Python& python, Call call) {
  if (g.is_forked.load()) return;
  if (call == Call::kEnd) return;
  if (call == Call::kServer) g.has_server.store(true);
  if (call == Call::kBegin) {
    g.user_since.store(Monotonic());
    g.has_user.store(true);
    g.yielded.fetch_add(1);
  }
  if (!Lock(python)) return;
  EndLocked(python);
  Unlock();
}

void After(Call call, bool has_failed) {
  if (g.is_forked.load()) return;
  if (call == Call::kServer || (call == Call::kBegin && !has_failed)) return;
  g.has_user.store(false);
  if (g.thread.wake != nullptr) g.thread.wake();
}

// self: the function in whose place it stands, and what that does.
PyObject* Instead(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Python& python = *g.python;
  PyObject* const real = python.get_tuple(self, 0);
  const auto call = static_cast<Call>(python.as_long(python.get_tuple(self, 1)));
  Before(python, call);
  PyObject* const result = python.call(real, arguments, keywords);
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  python.fetch_error(&type, &value, &trace);
  After(call, result == nullptr);
  python.restore_error(type, value, trace);
  return result;
}

// Waits for the end of the agent's thread: objects of JAX's that are the thread's own must be gone
// before JAX's library comes to its end.
PyObject* AtExit(PyObject*, PyObject*) {
  const Python& python = *g.python;
  g.is_over.store(true);
  if (g.is_forked.load()) return python.Kept(python.none);
  if (Lock(python, kExitLimit)) {
    EndLocked(python);
    Unlock();
  }
  void* const thread = python.save_thread();
  g.thread.wake();
  g.thread.await_end(kExitLimit);
  python.restore_thread(thread);
  return python.Kept(python.none);
}

// The child's copy of a session would be the program's obstacle for good.
PyObject* BeforeFork(PyObject*, PyObject*) {
  const Python& python = *g.python;
  if (!g.is_forked.load() && Lock(python)) {
    EndLocked(python);
    g.holds_for_fork.store(true);
  }
  return python.Kept(python.none);
}

PyObject* AfterFork(PyObject*, PyObject*) {
  if (g.holds_for_fork.exchange(false)) Unlock();
  if (!g.is_forked.load() && g.thread.wake != nullptr) g.thread.wake();
  return g.python->Kept(g.python->none);
}

// --- Taking the place of JAX's class ---

PyMethod MethodOf(const char* name, void* function, int flags) {
  return {name, function, flags, nullptr};
}

// Python keeps pointers to these.
PyMethod g_init, g_stop, g_stop_and_export, g_stop_and_get, g_server, g_exit, g_before, g_after;

// Returns a function that stands in the place of `real`; null: it cannot be made.
PyObject* InsteadOf(const Python& python, PyMethod* method, const char* name, PyObject* real,
                    Call call) {
  *method = MethodOf(name, reinterpret_cast<void*>(Instead), kPyArguments | kPyKeywords);
  PyObject* const self = python.new_tuple(2);
  if (self == nullptr) return nullptr;
  python.set_tuple(self, 0, python.Kept(real));
  python.set_tuple(self, 1, python.new_long(static_cast<long>(call)));
  PyObject* const function = python.new_function(method, self, nullptr);
  python.decrement(self);
  return function;
}

// Puts a method into the members of our class, if JAX's class has it.
bool AddMethod(const Python& python, PyObject* members, PyMethod* method, const char* name,
               Call call) {
  PyObject* const real = python.attribute(g.session_class, name);
  if (real == nullptr) {
    python.clear_error();
    return true;
  }
  PyObject* const function = InsteadOf(python, method, name, real, call);
  python.decrement(real);
  PyObject* const bound = function != nullptr ? python.new_method(function) : nullptr;
  python.Drop(function);
  const bool is_added = bound != nullptr && python.set_item(members, name, bound) == 0;
  python.Drop(bound);
  return is_added;
}

bool CopyAttribute(const Python& python, PyObject* members, const char* name) {
  PyObject* const value = python.attribute(g.session_class, name);
  if (value == nullptr) return false;
  const bool is_copied = python.set_item(members, name, value) == 0;
  python.decrement(value);
  return is_copied;
}

// type(ProfilerSession)("ProfilerSession", (ProfilerSession,), members)
PyObject* MakeClass(const Python& python) {
  PyObject* const members = python.new_dict();
  if (members == nullptr) return nullptr;
  PyObject* made = nullptr;
  if (AddMethod(python, members, &g_init, "__init__", Call::kBegin) &&
      AddMethod(python, members, &g_stop, "stop", Call::kEnd) &&
      AddMethod(python, members, &g_stop_and_export, "stop_and_export", Call::kEnd) &&
      AddMethod(python, members, &g_stop_and_get, "stop_and_get_profile_data", Call::kEnd) &&
      CopyAttribute(python, members, "__module__") &&
      CopyAttribute(python, members, "__qualname__") && CopyAttribute(python, members, "__doc__")) {
    PyObject* const bases = python.new_tuple(1);
    PyObject* const arguments = python.new_tuple(3);
    PyObject* const type = python.type_of(g.session_class);
    if (bases != nullptr && arguments != nullptr && type != nullptr) {
      python.set_tuple(bases, 0, python.Kept(g.session_class));
      python.set_tuple(arguments, 0, python.new_text("ProfilerSession"));
      python.set_tuple(arguments, 1, bases);
      python.set_tuple(arguments, 2, python.Kept(members));
      made = python.call(type, arguments, nullptr);
    }
    python.Drop(type);
    python.Drop(arguments);
  }
  python.decrement(members);
  python.clear_error();
  return made;
}

// Calls a function of a module. False: it raised, or there is none.
bool CallFunction(const Python& python, const char* module_name, const char* function_name,
                  PyObject* arguments, PyObject* keywords) {
  PyObject* const module = python.import(module_name);
  PyObject* const function = module != nullptr ? python.attribute(module, function_name) : nullptr;
  PyObject* const result =
      function != nullptr ? python.call(function, arguments, keywords) : nullptr;
  python.Drop(result);
  python.Drop(function);
  python.Drop(module);
  python.clear_error();
  return result != nullptr;
}

// A function of ours, for Python.
PyObject* Function(const Python& python, PyMethod* method, const char* name, PyFunction function) {
  *method = MethodOf(name, reinterpret_cast<void*>(function), kPyArguments);
  return python.new_function(method, nullptr, nullptr);
}

// Returns whether Python's exit handlers are still to be called: Python ends its main thread first.
bool MainThreadLives(const Python& python) {
  PyObject* const modules = python.modules();
  PyObject* const threading = modules != nullptr ? python.item(modules, "threading") : nullptr;
  PyObject* const main =
      threading != nullptr ? python.attribute(threading, "_main_thread") : nullptr;
  PyObject* const lives = main != nullptr ? python.CallMethod(main, "is_alive") : nullptr;
  const bool is_alive = lives != nullptr && python.as_long(lives) == 1;
  python.Drop(lives);
  python.Drop(main);
  python.clear_error();
  return is_alive;
}

// False: Python has come to its end, or cannot call us then. Between the look at the main thread
// and the registration no other thread has the interpreter's lock. A handler that is there already
// stays: while handlers run, new ones are not called.
bool RegisterExit(const Python& python) {
  if (g.exit == nullptr) g.exit = Function(python, &g_exit, "at_exit", AtExit);
  PyObject* const module = python.import("atexit");
  PyObject* const function = module != nullptr ? python.attribute(module, "register") : nullptr;
  bool is_registered = false;
  if (g.exit != nullptr && function != nullptr && MainThreadLives(python)) {
    PyObject* const result = python.CallWith(function, g.exit);
    is_registered = result != nullptr;
    python.Drop(result);
  }
  python.Drop(function);
  python.Drop(module);
  python.clear_error();
  return is_registered;
}

// Returns whether JAX's import has come to its end.
bool IsImported(const Python& python) {
  PyObject* const modules = python.modules();
  PyObject* const jax = modules != nullptr ? python.item(modules, "jax") : nullptr;
  PyObject* const spec = jax != nullptr ? python.attribute(jax, "__spec__") : nullptr;
  PyObject* const value = spec != nullptr ? python.attribute(spec, "_initializing") : nullptr;
  const bool is_initializing = value != nullptr && python.as_long(value) == 1;
  python.Drop(value);
  python.Drop(spec);
  python.clear_error();
  return spec != nullptr && !is_initializing;
}

bool RegisterForks(const Python& python) {
  PyObject* const before = Function(python, &g_before, "before_fork", BeforeFork);
  PyObject* const after = Function(python, &g_after, "after_fork", AfterFork);
  PyObject* const arguments = python.new_tuple(0);
  PyObject* const keywords = python.new_dict();
  if (before == nullptr || after == nullptr || arguments == nullptr || keywords == nullptr)
    return false;
  python.set_item(keywords, "before", before);
  python.set_item(keywords, "after_in_parent", after);
  python.set_item(keywords, "after_in_child", after);
  python.decrement(before);
  python.decrement(after);
  const bool is_registered = CallFunction(python, "os", "register_at_fork", arguments, keywords);
  python.decrement(arguments);
  python.decrement(keywords);
  return is_registered;
}

PyObject* FindModule(const Python& python) {
  PyObject* const modules = python.modules();
  for (const char* name : kModules) {
    PyObject* const module = modules != nullptr ? python.item(modules, name) : nullptr;
    if (module != nullptr) return python.Kept(module);
  }
  return nullptr;
}

// "JAX" and jaxlib's version, as far as it says one.
void NameFramework(const Python& python) {
  static char name[48];
  char* const end = stpcpy(name, "JAX");
  PyObject* const modules = python.modules();
  PyObject* const jaxlib = modules != nullptr ? python.item(modules, "jaxlib") : nullptr;
  PyObject* const version = jaxlib != nullptr ? python.attribute(jaxlib, "__version__") : nullptr;
  const char* const text = version != nullptr ? python.text(version) : nullptr;
  if (text != nullptr) {
    *end = ' ';
    strncpy(end + 1, text, sizeof name - 5);
  }
  python.Drop(version);
  python.clear_error();
  g.framework.store(name);
}

void StandBeforeServer(const Python& python, PyObject* module) {
  PyObject* const real = python.attribute(module, "start_server");
  PyObject* const function =
      real != nullptr ? InsteadOf(python, &g_server, "start_server", real, Call::kServer) : nullptr;
  if (function != nullptr) python.set_attribute(module, "start_server", function);
  python.Drop(function);
  python.Drop(real);
  python.clear_error();
}

}  // namespace

Ready Prepare(const Python& python) {
  PyObject* const module = FindModule(python);
  if (module == nullptr) return Ready::kLater;
  g.session_class = python.attribute(module, "ProfilerSession");
  g.options_class = python.attribute(module, "ProfileOptions");
  python.clear_error();
  if (g.session_class == nullptr || g.options_class == nullptr) {
    python.Drop(g.session_class);
    python.Drop(g.options_class);
    python.decrement(module);
    return Ready::kLater;  // the module is being made
  }
  g.python = &python;
  PyObject* const made = MakeClass(python);
  Ready ready = Ready::kNever;
  // Without a handler at the exit a session could be open while Python ends.
  if (made != nullptr && RegisterForks(python) && RegisterExit(python) &&
      python.set_attribute(module, "ProfilerSession", made) == 0) {
    StandBeforeServer(python, module);
    NameFramework(python);
    ready = Ready::kYes;
  } else if (made == nullptr) {
    g.note.store("not recorded: this release of JAX has another profiler");
  }
  python.clear_error();
  python.Drop(made);
  python.decrement(module);
  return ready;
}

// Handlers run in the order opposite to that of their registration. Ours is to run before that of
// JAX, which JAX registers while it is imported, and which forgets all programs.
void ComeBeforeJaxAtExit(const Python& python) {
  if (!IsImported(python)) return;
  RegisterExit(python);
  g.is_before_jax.store(true);
}

bool IsBeforeJaxAtExit() { return g.is_before_jax.load(); }

Begun Begin(const Python& python, uint32_t capture, bool has_cuda) {
  if (g.is_forked.load() || g.is_over.load()) return Begun::kNever;
  const bool may_be_over = Monotonic() - g.user_since.load() > kLookAgain;
  if (g.has_user.load() && !may_be_over) return Begun::kNotNow;
  if (!Lock(python)) return Begun::kNotNow;
  Begun how = Begun::kNotNow;
  // The program may have begun one, or have come to its end, while the lock was waited for.
  if (g.session.load() == nullptr && !g.is_over.load() && (!g.has_user.load() || may_be_over)) {
    g.capture = capture;
    g.tid = ThreadId();
    g.begun = Now(g.thread.clock);
    g.has_cuda = has_cuda;
    g.session.store(MakeSession(python, /*has_programs=*/false, &how));
    g.user_since.store(Monotonic());
    if (how == Begun::kYes) {
      g.has_user.store(false);
      g.has_begun.store(true);
    }
  }
  Unlock();
  return how;
}

Ended End(const Python& python) {
  Ended ended;
  if (!Lock(python)) return ended;
  ended = EndLocked(python);
  Unlock();
  return ended;
}

bool HasBackends(const Python& python) {
  PyObject* const modules = python.modules();
  PyObject* const bridge =
      modules != nullptr ? python.item(modules, "jax._src.xla_bridge") : nullptr;
  PyObject* const backends = bridge != nullptr ? python.attribute(bridge, "_backends") : nullptr;
  PyObject* const count = backends != nullptr ? python.CallMethod(backends, "__len__") : nullptr;
  // A release that keeps them elsewhere may have some.
  const bool has_some = bridge != nullptr && (count == nullptr || python.as_long(count) != 0);
  python.Drop(count);
  python.Drop(backends);
  python.clear_error();
  return has_some;
}

bool IsOpen() { return g.session.load() != nullptr; }
bool HasServer() { return g.has_server.load(); }
bool IsOver() { return g.is_over.load() || g.is_forked.load(); }
void NoteDeviceTracer() { g.saw_device_tracer.store(true); }
Windows& WaitingWindows() { return g_windows; }
const char* SessionNote() { return g.note.load(); }
const char* Framework() { return g.has_begun.load() ? g.framework.load() : nullptr; }
uint64_t TimesYielded() { return g.yielded.load(); }

void ForgetSessions() {
  if (g.python != nullptr) g.is_forked.store(true);
  g.session.store(nullptr);  // the parent's; it stays in this process's memory
  g.lock.store(0);
  g_windows.AfterForkChild();
}

void SetAgentThread(const AgentThread& thread) { g.thread = thread; }

}  // namespace gpuprof::tracer::jax
