// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/profile_function.h"

#include <pthread.h>
#include <string.h>

#include <atomic>

#include "tracer/python_calls/call_recorder.h"
#include "tracer/python_calls/code_table.h"
#include "tracer/python_calls/stand_in.h"

namespace gpuprof::tracer {
namespace {

enum What : int { kCall = 0, kReturn = 3 };  // PyTrace_CALL, PyTrace_RETURN

// Words of a PyThreadState in which its profile function is looked for.
constexpr uint32_t kMostWords = 24;
// CPython 3.8 sets the profile function of the running thread alone, and writes to stderr if an
// audit hook refuses that. So its words are known.
constexpr uint32_t kInterpreter38 = 2, kFunction38 = 7;
// The state of a new thread is looked for among so many.
constexpr uint32_t kMostNewer = 16, kMostTries = 10'000;
// A list of threads that changes while it is read is read again, no more often than this.
constexpr uint32_t kMostThreads = 10'000;

constexpr const char* kUnknownWords =
    "calls are not recorded: this interpreter of Python keeps its threads in another way";
constexpr const char* kRefusedWords =
    "calls are not recorded: an audit hook of the program refuses sys.setprofile";
constexpr const char* kRefusedLater =
    "calls of some threads are not recorded: an audit hook of the program refuses sys.setprofile";

enum class Place : uint8_t { kNotSought, kFound, kNotFound, kRefused };

struct State {
  const Python* python = nullptr;
  PyObject* stands_in = nullptr;    // for sys.setprofile
  uint32_t code_place = 0;          // in a frame, in 3.8
  Place place = Place::kNotSought;  // once a process: an audit hook may show it
  uint32_t function_place = 0;      // word of a PyThreadState
  uint32_t thread_place = 0;        // word: the thread that it is of, or that made it; 0: not known
  bool has_frames = false;  // the word before the function says where frames are (3.10, 3.11)
  bool is_refused = false;  // of a thread, in this capture
  std::atomic<bool> is_on{false};
  std::atomic<uint32_t> foreign{0};
};
constinit State g;

int OnEvent(PyObject*, PyObject* frame, int what, PyObject*) {
  if (what != kCall && what != kReturn) return 0;
  PyObject* code;
  const Python& python = *g.python;
  if (python.code_of_frame != nullptr) {
    code = python.code_of_frame(frame);
  } else {
    memcpy(&code, reinterpret_cast<const char*>(frame) + g.code_place, sizeof(code));
  }
  if (proto::NameTable::Text* const text = TextOfCode(code); text != nullptr)
    what == kCall ? CallBegins(code, text) : CallEnds(code);
  if (python.code_of_frame != nullptr) python.decrement(code);
  return 0;
}

uint64_t WordOf(const PyThread* thread, uint32_t place) {
  uint64_t word;
  memcpy(&word, reinterpret_cast<const char*>(thread) + place * sizeof(word), sizeof(word));
  return word;
}

void SetWord(PyThread* thread, uint32_t place, uint64_t word) {
  memcpy(reinterpret_cast<char*>(thread) + place * sizeof(word), &word, sizeof(word));
}

// Returns whether a thread's state is made as a whole. Threads that CPython did not make get one
// without its lock, and 3.11 lists it first.
bool IsWhole(const PyThread* thread) {
  return !g.has_frames || WordOf(thread, g.function_place - 1) != 0;
}

uint64_t OwnIdent() { return static_cast<uint64_t>(pthread_self()); }

// Finds the word that tells whose a state is. 0: no word, or several.
uint32_t FindThreadPlace(const PyThread* own) {
  uint32_t place = 0, found = 0;
  for (uint32_t i = 2; i < kMostWords; ++i) {
    if (WordOf(own, i) != OwnIdent()) continue;
    ++found;
    place = i;
  }
  return found == 1 ? place : 0;
}

// Returns the state that the calling thread has just made for a new one; null: there is none. It is
// among the first: others may come before it meanwhile. One that is not whole hides those behind it
// for a moment.
PyThread* NewestMadeHere(const Python& python, const PyThread* own) {
  for (uint32_t tries = 0; tries < kMostTries; ++tries) {
    bool are_whole = true;
    PyThread* thread = python.first_thread(python.main_interpreter());
    for (uint32_t i = 0; thread != nullptr && i < kMostNewer; ++i) {
      are_whole &= IsWhole(thread);
      if (thread != own && IsWhole(thread) && WordOf(thread, g.thread_place) == OwnIdent())
        return thread;
      thread = python.next_thread(thread);
    }
    if (are_whole) break;
  }
  return nullptr;
}

// Asks the audit hooks, as CPython does.
Place FindPlace38(const Python& python) {
  const PyThread* const own = python.own_thread();
  if (own == nullptr || python.audit == nullptr ||
      WordOf(own, kInterpreter38) != reinterpret_cast<uint64_t>(python.main_interpreter()))
    return Place::kNotFound;
  // The functions for profiles and traces, and what is given to them: the thread has none.
  for (uint32_t i = 0; i < 4; ++i) {
    if (WordOf(own, kFunction38 + i) != 0) return Place::kNotFound;
  }
  g.function_place = kFunction38;
  g.thread_place = FindThreadPlace(own);
  if (python.audit("sys.setprofile", nullptr) == 0) return Place::kFound;
  python.clear_error();
  return Place::kRefused;
}

// Finds where a thread's state has its profile function, by giving it to the calling thread.
Place FindPlace(const Python& python) {
  PyThread* const own = python.own_thread();
  if (own == nullptr) return Place::kNotFound;
  if (python.set_profile(own, OnEvent, nullptr) != 0) {
    python.clear_error();
    return Place::kRefused;
  }
  uint32_t found = 0;
  for (uint32_t i = 2; i < kMostWords; ++i) {
    if (WordOf(own, i) != reinterpret_cast<uint64_t>(OnEvent)) continue;
    ++found;
    g.function_place = i;
  }
  const bool is_taken_back = python.set_profile(own, nullptr, nullptr) == 0;
  if (!is_taken_back) python.clear_error();
  if (found != 1) return Place::kNotFound;
  if (!is_taken_back) SetWord(own, g.function_place, 0);
  if (WordOf(own, g.function_place) != 0) return Place::kNotFound;
  g.thread_place = FindThreadPlace(own);
  return is_taken_back ? Place::kFound : Place::kRefused;
}

// In 3.8 no function of CPython does this for another thread. The lock is had: the thread does not
// run.
void Write38(PyThread* thread, bool begins) {
  char* const word = reinterpret_cast<char*>(thread) + g.function_place * 8;
  const uint64_t function = begins ? reinterpret_cast<uint64_t>(OnEvent) : 0;
  const bool has_trace = WordOf(thread, g.function_place + 1) != 0;  // c_tracefunc
  const int32_t uses = begins || has_trace ? 1 : 0;
  memcpy(word, &function, sizeof(function));
  memcpy(word - 8, &uses, sizeof(uses));
}

void Give(PyThread* thread, bool begins) {
  const Python& python = *g.python;
  if (python.set_profile == nullptr) return Write38(thread, begins);
  if (python.set_profile(thread, begins ? OnEvent : nullptr, nullptr) == 0) return;
  python.clear_error();
  g.is_refused = true;
  // CPython calls no function that is not there.
  if (!begins) SetWord(thread, g.function_place, 0);
}

// Sets or removes the function of each thread. An audit hook of the program may run and let other
// threads come and go: then the list is read anew. Calls of threads that have lost the function
// have ended for us.
void GiveAll(bool begins) {
  const Python& python = *g.python;
  const uint64_t wanted = begins ? 0 : reinterpret_cast<uint64_t>(OnEvent);
  uint32_t foreign = 0;
  const PyThread* last = nullptr;
  for (uint32_t round = 0; round < kMostThreads; ++round) {
    PyThread* thread = python.first_thread(python.main_interpreter());
    foreign = 0;
    for (; thread != nullptr; thread = python.next_thread(thread)) {
      const uint64_t function = WordOf(thread, g.function_place);
      if (begins && (thread == python.own_thread() || !IsWhole(thread))) continue;
      if (function == wanted) break;
      if (function == 0 || function == reinterpret_cast<uint64_t>(OnEvent)) continue;
      ++foreign;
      if (begins) CallsOfThreadAreHidden(thread);
    }
    if (thread == nullptr || thread == last || (begins && g.is_refused)) break;
    if (begins) CallsOfThreadAreHidden(thread);
    Give(thread, begins);
    last = thread;
  }
  if (begins && foreign > g.foreign.load()) g.foreign.store(foreign);
}

// The program has given this thread a function of its own.
void OnSet(uint64_t since) {
  if (g.is_on.load()) CallsAreHidden(since);
}

// While a thread has a profile function, CPython reports the end of each call of a C function: of
// sys.setprofile() to the function that the program has just set, which knows of no such call. A
// callable of another type stands in its place, as calls of those are not reported.
void StandBeforeSetter() {
  PyObject* const modules = g.python->modules();
  PyObject* const sys = modules != nullptr ? g.python->item(modules, "sys") : nullptr;
  PyObject* const real = sys != nullptr ? g.python->attribute(sys, "setprofile") : nullptr;
  g.stands_in = real != nullptr ? NewStandIn(*g.python, real, OnSet) : nullptr;
  if (g.stands_in != nullptr) g.python->set_attribute(sys, "setprofile", g.stands_in);
  g.python->Drop(real);
  g.python->clear_error();
}

// Puts the program's function back, unless something else is in its place by now.
void LeaveSetter() {
  PyObject* const modules = g.python->modules();
  PyObject* const sys = modules != nullptr ? g.python->item(modules, "sys") : nullptr;
  PyObject* const present = sys != nullptr ? g.python->attribute(sys, "setprofile") : nullptr;
  if (present != nullptr && present == g.stands_in)
    g.python->set_attribute(sys, "setprofile", RealOfStandIn(g.stands_in));
  g.python->Drop(present);
  g.python->Drop(g.stands_in);
  g.stands_in = nullptr;
  g.python->clear_error();
}

}  // namespace

const char* ProfileBegin(const Python& python, const Interpreter& interpreter) {
  g.python = &python;
  g.code_place = interpreter.layout.code;
  const bool is_old = interpreter.version <= 0x0308;
  g.has_frames = interpreter.version >= 0x030a;
  const bool has_all = python.own_thread != nullptr && python.current_thread != nullptr &&
                       python.main_interpreter != nullptr && python.first_thread != nullptr &&
                       python.next_thread != nullptr;
  const bool has_newer = python.set_profile != nullptr && python.code_of_frame != nullptr;
  if (!has_all || is_old == has_newer) return kUnknownWords;
  if (g.place == Place::kNotSought) g.place = is_old ? FindPlace38(python) : FindPlace(python);
  if (g.place != Place::kFound) return g.place == Place::kRefused ? kRefusedWords : kUnknownWords;
  CallRecorderKnowThreads([] { return static_cast<const void*>(g.python->own_thread()); });
  g.is_refused = false;
  StandBeforeSetter();
  g.is_on.store(true);
  GiveAll(/*begins=*/true);
  return nullptr;
}

const char* ProfileLook() {
  if (!g.is_refused) GiveAll(/*begins=*/true);
  return g.is_refused ? kRefusedLater : nullptr;
}

void ProfileEnd() {
  if (!g.is_on.exchange(false)) return;
  GiveAll(/*begins=*/false);
  LeaveSetter();
}

void ProfileThreadBegins() {
  if (!g.is_on.load(std::memory_order_acquire)) return;
  const Python& python = *g.python;
  PyThread* const own = python.own_thread();
  if (own == nullptr || python.current_thread() != own || g.is_refused || g.thread_place == 0)
    return;
  PyThread* const newest = NewestMadeHere(python, own);
  if (newest != nullptr && WordOf(newest, g.function_place) == 0) Give(newest, /*begins=*/true);
}

void ProfileAfterFork() { g.foreign.store(0); }

uint32_t ThreadsWithOwnProfile() { return g.foreign.load(); }

}  // namespace gpuprof::tracer
