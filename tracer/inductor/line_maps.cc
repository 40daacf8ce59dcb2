// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/inductor/line_maps.h"

#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "tracer/base/futex.h"
#include "tracer/base/loaded_library.h"
#include "tracer/inductor/generated_modules.h"
#include "tracer/python_agent/python_exit.h"

namespace gpuprof::tracer::inductor {
namespace {

using Text = std::string_view;

constexpr uint64_t kFirstPause = 500 * kMillisecond;
constexpr uint64_t kMostPause = 4 * kSecond;  // while nothing new comes
constexpr size_t kMostFiles = 8192;           // a power of two
// The end of a stack suffices: the program's own places stand there.
constexpr size_t kMostStackBytes = 4096;
constexpr ptrdiff_t kMostLines = 1 << 20;

struct State {
  std::atomic<uint64_t> next_look{0};  // CLOCK_MONOTONIC
  std::atomic<bool> is_capturing{false};
  // The rest changes under CPython's lock.
  uint64_t pause = kFirstPause;
  ptrdiff_t seen = 0;  // files in the dict at the last look
  uint32_t tid = 0;    // of the agent's thread
  size_t count = 0;    // of known files
};
constinit State g;
constinit uint64_t g_known[kMostFiles] = {};  // takes no room in the object's file

int VisitForCompiler(dl_phdr_info* info, size_t, void*) {
  return info->dlpi_name != nullptr && IsOfCompiler(info->dlpi_name) ? 1 : 0;
}

uint64_t HashOf(Text text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return hash | 1;
}

enum class Known { kNew, kOld, kFull };

// Returns whether a file was handed over before, and notes it. Half of the table stays free.
Known Note(Text path) {
  const uint64_t hash = HashOf(path);
  size_t at = hash % kMostFiles;
  for (; g_known[at] != 0; at = (at + 1) % kMostFiles)
    if (g_known[at] == hash) return Known::kOld;
  if (g.count >= kMostFiles / 2) return Known::kFull;
  g_known[at] = hash;
  ++g.count;
  return Known::kNew;
}

// Returns the end of a stack of Python's text. None and what is no text have none.
Text StackIn(const Python& python, PyObject* object) {
  if (object == nullptr || object == python.none) return {};
  const char* const text = python.text(object);
  if (text == nullptr) {
    python.clear_error();
    return {};
  }
  const size_t bytes = strlen(text);
  return bytes > kMostStackBytes ? Text(text + bytes - kMostStackBytes, kMostStackBytes)
                                 : Text(text, bytes);
}

// The two tuples of a file: its lines, and the stacks that they came from.
class LineMap {
 public:
  LineMap(const Python& python, PyObject* pair) : python_(python) {
    lines_ = python.element(pair, 0);
    stacks_ = lines_ != nullptr ? python.element(pair, 1) : nullptr;
    python.clear_error();
    count_ = stacks_ != nullptr ? python.size(lines_) : 0;
    if (count_ < 0 || count_ > kMostLines || (count_ != 0 && python.size(stacks_) != count_))
      count_ = 0;
    python.clear_error();
  }
  ~LineMap() {
    python_.Drop(stacks_);
    python_.Drop(lines_);
  }
  LineMap(const LineMap&) = delete;
  LineMap& operator=(const LineMap&) = delete;

  ptrdiff_t count() const { return count_; }
  // Calls use(line, stack) for each line.
  template <typename Use>
  void ForEach(const Use& use) const {
    for (ptrdiff_t i = 0; i < count_; ++i) {
      PyObject* const line = python_.element(lines_, i);
      PyObject* const stack = python_.element(stacks_, i);
      const long number = line != nullptr ? python_.as_long(line) : 0;
      python_.clear_error();
      if (number > 0 && number <= kMostLines)
        use(static_cast<uint32_t>(number), StackIn(python_, stack));
      python_.Drop(stack);
      python_.Drop(line);
    }
  }

 private:
  const Python& python_;
  PyObject* lines_ = nullptr;
  PyObject* stacks_ = nullptr;
  ptrdiff_t count_ = 0;
};

void HandOver(const Python& python, Text path, PyObject* pair) {
  const LineMap lines(python, pair);
  uint64_t bytes = 0;
  lines.ForEach([&](uint32_t, Text stack) { bytes += stack.size(); });
  GeneratedModule* const module =
      GeneratedModule::Make(path, static_cast<uint64_t>(lines.count()), bytes);
  if (module == nullptr) return WaitingModules().CountLost();
  lines.ForEach([&](uint32_t line, Text stack) { module->Add(line, stack); });
  module->tid = g.tid;
  WaitingModules().HandOver(module);
}

// Returns a new reference to a copy of the compiler's dict if it has changed: the copy is nobody
// else's. Null: there is nothing new.
PyObject* ChangedMaps(const Python& python) {
  PyObject* const modules = python.modules();
  PyObject* const module =
      modules != nullptr ? python.item(modules, "torch._inductor.codecache") : nullptr;
  PyObject* const cache = module != nullptr ? python.attribute(module, "PyCodeCache") : nullptr;
  PyObject* const maps = cache != nullptr ? python.attribute(cache, "linemaps") : nullptr;
  const ptrdiff_t size = maps != nullptr ? python.size(maps) : 0;
  PyObject* const copy = size > 0 && size != g.seen ? python.CallMethod(maps, "copy") : nullptr;
  if (copy != nullptr) g.seen = size;
  python.Drop(maps);
  python.Drop(cache);
  python.clear_error();
  return copy;
}

// With CPython's lock.
void LookInside(const Python& python) {
  PyObject* const maps = ChangedMaps(python);
  if (maps == nullptr) {
    g.pause = g.pause * 2 < kMostPause ? g.pause * 2 : kMostPause;
    return;
  }
  g.pause = kFirstPause;
  PyObject *key = nullptr, *value = nullptr;
  for (ptrdiff_t at = 0; python.next(maps, &at, &key, &value) != 0;) {
    const char* const path = python.text(key);
    python.clear_error();
    if (path == nullptr) continue;
    const Known known = Note(path);
    if (known == Known::kNew) HandOver(python, path, value);
    if (known == Known::kFull) WaitingModules().CountLost();
  }
  python.Drop(maps);
}

// At Python's exit, on its main thread.
void LookAtExit(const Python& python) {
  if (g.is_capturing.load()) LookInside(python);
}

}  // namespace

bool IsOfCompiler(const char* path) {
  constexpr size_t kHashLetters = 51;  // behind a 'c'
  const char* const slash = strrchr(path, '/');
  const Text file(slash != nullptr ? slash + 1 : path);
  if (file.substr(0, 12) == "libtriton.so") return true;
  if (file.size() < kHashLetters + 1 || file.front() != 'c') return false;
  for (const char letter : file.substr(1, kHashLetters)) {
    const bool is_of_hash = (letter >= 'a' && letter <= 'z') || (letter >= '2' && letter <= '7');
    if (!is_of_hash) return false;
  }
  const Text rest = file.substr(kHashLetters + 1);
  return rest == ".so" || rest == ".main.so";
}

bool IsLoaded() {
  static uint64_t seen = 0;
  static bool is_loaded = false;
  if (is_loaded || !LoaderChanged(&seen)) return is_loaded;
  return is_loaded = dl_iterate_phdr(VisitForCompiler, nullptr) != 0;
}

void BeginCapture() {
  g.is_capturing.store(true);
  g.next_look.store(0);
}

void EndCapture() {
  g.is_capturing.store(false);
  g.next_look.store(0);
}

bool IsDue() { return Monotonic() >= g.next_look.load(); }

void Look(const Python& python) {
  uint64_t pause = kMostPause;
  {
    const InsidePython inside(python);
    if (inside.is_in() && WatchExit(python, LookAtExit)) {
      g.tid = static_cast<uint32_t>(syscall(SYS_gettid));
      LookInside(python);
      pause = g.pause;
    }
  }
  g.next_look.store(Monotonic() + pause);
}

void LineMapsAfterForkChild() { WaitingModules().AfterForkChild(); }

}  // namespace gpuprof::tracer::inductor
