// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/profile_function.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>

#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/code_table.h"

namespace gpuprof::tracer {
namespace {

struct ThreadState;  // CPython's
struct InterpreterState;

using ProfileFunction = int (*)(PyObject* self, PyObject* frame, int what, PyObject* argument);
enum What : int { kCall = 0, kReturn = 3 };  // PyTrace_CALL, PyTrace_RETURN

// Words of a PyThreadState in which its profile function is looked for.
constexpr uint32_t kMostWords = 24;
// A list of threads that changes while it is read is read again, no more often than this.
constexpr uint32_t kMostThreads = 10'000;

struct State {
  void (*set_own)(ProfileFunction, PyObject*) = nullptr;
  int (*set)(ThreadState*, ProfileFunction, PyObject*) = nullptr;  // from 3.9 on
  ThreadState* (*own)() = nullptr;
  ThreadState* (*current)() = nullptr;
  InterpreterState* (*main)() = nullptr;
  ThreadState* (*first)(InterpreterState*) = nullptr;
  ThreadState* (*next)(ThreadState*) = nullptr;
  PyObject* (*code_of)(PyObject* frame) = nullptr;  // from 3.9 on
  const Python* python = nullptr;
  PyObject* stands_in = nullptr;  // for sys.setprofile
  uint32_t code_place = 0;        // in a frame, in 3.8
  uint32_t function_place = 0;    // word of a PyThreadState
  std::atomic<bool> is_on{false};
  std::atomic<uint32_t> foreign{0};
};
constinit State g;

int OnEvent(PyObject*, PyObject* frame, int what, PyObject*) {
  if (what != kCall && what != kReturn) return 0;
  PyObject* code;
  if (g.code_of != nullptr) {
    code = g.code_of(frame);
  } else {
    memcpy(&code, reinterpret_cast<const char*>(frame) + g.code_place, sizeof(code));
  }
  if (proto::NameTable::Text* const text = TextOfCode(code); text != nullptr)
    what == kCall ? CallBegins(code, text) : CallEnds(code);
  if (g.code_of != nullptr) g.python->decrement(code);
  return 0;
}

uint64_t WordOf(const ThreadState* thread, uint32_t place) {
  uint64_t word;
  memcpy(&word, reinterpret_cast<const char*>(thread) + place * sizeof(word), sizeof(word));
  return word;
}

int32_t UseTracing38(const ThreadState* thread) {
  int32_t value;
  memcpy(&value, reinterpret_cast<const char*>(thread) + g.function_place * 8 - 8, sizeof(value));
  return value;
}

// Finds where a thread's state has its profile function, by giving it to the calling thread.
bool FindPlace() {
  ThreadState* const own = g.own();
  if (own == nullptr) return false;
  g.function_place = 0;
  uint32_t found = 0;
  const auto look = [&](uint64_t value) {
    found = 0;
    for (uint32_t i = 2; i < kMostWords; ++i) {
      if (WordOf(own, i) != value) continue;
      ++found;
      g.function_place = i;
    }
  };
  g.set_own(OnEvent, nullptr);
  look(reinterpret_cast<uint64_t>(OnEvent));
  const bool is_found = found == 1;
  const int32_t with = is_found && g.set == nullptr ? UseTracing38(own) : 1;
  g.set_own(nullptr, nullptr);
  const int32_t without = is_found && g.set == nullptr ? UseTracing38(own) : 0;
  return is_found && WordOf(own, g.function_place) == 0 && with == 1 && without == 0;
}

// In 3.8 no function of CPython does this for another thread. The lock is had: the thread does not
// run.
void Write38(ThreadState* thread, bool begins) {
  char* const word = reinterpret_cast<char*>(thread) + g.function_place * 8;
  const uint64_t function = begins ? reinterpret_cast<uint64_t>(OnEvent) : 0;
  const bool has_trace = WordOf(thread, g.function_place + 1) != 0;  // c_tracefunc
  const int32_t uses = begins || has_trace ? 1 : 0;
  memcpy(word, &function, sizeof(function));
  memcpy(word - 8, &uses, sizeof(uses));
}

void Give(ThreadState* thread, bool begins) {
  if (g.set == nullptr) return Write38(thread, begins);
  if (g.set(thread, begins ? OnEvent : nullptr, nullptr) != 0) g.python->clear_error();
}

// Sets or removes the function of each thread. An audit hook of the program may run and let other
// threads come and go: then the list is read anew.
void GiveAll(bool begins) {
  const uint64_t wanted = begins ? 0 : reinterpret_cast<uint64_t>(OnEvent);
  uint32_t foreign = 0;
  const ThreadState* last = nullptr;
  for (uint32_t round = 0; round < kMostThreads; ++round) {
    ThreadState* thread = g.first(g.main());
    foreign = 0;
    for (; thread != nullptr; thread = g.next(thread)) {
      const uint64_t function = WordOf(thread, g.function_place);
      if (thread == g.own() && begins) continue;
      if (function == wanted) break;
      if (function != 0 && function != reinterpret_cast<uint64_t>(OnEvent)) ++foreign;
    }
    if (thread == nullptr || thread == last) break;  // the last one was refused
    Give(thread, begins);
    last = thread;
  }
  if (begins && foreign > g.foreign.load()) g.foreign.store(foreign);
}

// While a thread has a profile function, CPython reports the end of each call of a C function: of
// sys.setprofile() to the function that the program has just set, which knows of no such call. A
// callable of another type stands in its place, as calls of those are not reported.
void StandBeforeSetter() {
  PyObject* const modules = g.python->modules();
  PyObject* const sys = modules != nullptr ? g.python->item(modules, "sys") : nullptr;
  PyObject* const real = sys != nullptr ? g.python->attribute(sys, "setprofile") : nullptr;
  g.stands_in = real != nullptr ? g.python->new_method(real) : nullptr;
  if (g.stands_in != nullptr) g.python->set_attribute(sys, "setprofile", g.stands_in);
  g.python->Drop(real);
  g.python->clear_error();
}

// Puts the program's function back, unless something else is in its place by now.
void LeaveSetter() {
  PyObject* const modules = g.python->modules();
  PyObject* const sys = modules != nullptr ? g.python->item(modules, "sys") : nullptr;
  PyObject* const present = sys != nullptr ? g.python->attribute(sys, "setprofile") : nullptr;
  PyObject* const real =
      g.stands_in != nullptr ? g.python->attribute(g.stands_in, "__func__") : nullptr;
  if (real != nullptr && present == g.stands_in) g.python->set_attribute(sys, "setprofile", real);
  g.python->Drop(real);
  g.python->Drop(present);
  g.python->Drop(g.stands_in);
  g.stands_in = nullptr;
  g.python->clear_error();
}

template <typename Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

}  // namespace

const char* ProfileBegin(const Python& python, const Interpreter& interpreter) {
  constexpr const char* kUnknown =
      "calls are not recorded: this interpreter of Python keeps its threads in another way";
  void* const handle = python.handle;
  g.python = &python;
  g.code_place = interpreter.layout.code;
  const bool is_old = interpreter.version <= 0x0308;
  if (!Find(handle, "PyEval_SetProfile", &g.set_own) ||
      !Find(handle, "PyGILState_GetThisThreadState", &g.own) ||
      !Find(handle, "_PyThreadState_UncheckedGet", &g.current) ||
      !Find(handle, "PyInterpreterState_Main", &g.main) ||
      !Find(handle, "PyInterpreterState_ThreadHead", &g.first) ||
      !Find(handle, "PyThreadState_Next", &g.next))
    return kUnknown;
  if (!is_old &&
      (!Find(handle, "_PyEval_SetProfile", &g.set) || !Find(handle, "PyFrame_GetCode", &g.code_of)))
    return kUnknown;
  if (!FindPlace()) return kUnknown;
  StandBeforeSetter();
  GiveAll(/*begins=*/true);
  g.is_on.store(true);
  return nullptr;
}

void ProfileLook() { GiveAll(/*begins=*/true); }

void ProfileEnd() {
  if (!g.is_on.exchange(false)) return;
  GiveAll(/*begins=*/false);
  LeaveSetter();
}

void ProfileThreadBegins() {
  if (!g.is_on.load(std::memory_order_acquire)) return;
  ThreadState* const own = g.own();
  if (own == nullptr || g.current() != own) return;
  // The newest stands first.
  ThreadState* const newest = g.first(g.main());
  if (newest != nullptr && newest != own && WordOf(newest, g.function_place) == 0)
    Give(newest, /*begins=*/true);
}

void ProfileAfterFork() { g.foreign.store(0); }

uint32_t ThreadsWithOwnProfile() { return g.foreign.load(); }

}  // namespace gpuprof::tracer
