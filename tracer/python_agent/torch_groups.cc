// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_agent/torch_groups.h"

#include <atomic>
#include <cstring>

#include "tracer/base/futex.h"
#include "tracer/python_agent/python_exit.h"
#include "tracer/torch/op_names.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kFirstPause = 500 * kMillisecond;
constexpr uint64_t kMostPause = 32 * kSecond;  // while nothing new comes: programs make them once
constexpr uint32_t kMostGroups = 64;
constexpr size_t kNoteBytes = 256;
constexpr ptrdiff_t kMostRanks = 65536;

// Calls that PyTorch makes for a collective of any backend.
constexpr const char* kCalls[] = {"c10d::allreduce_",      "c10d::allreduce_coalesced_",
                                  "c10d::allgather_",      "c10d::_allgather_base_",
                                  "c10d::broadcast_",      "c10d::reduce_",
                                  "c10d::reduce_scatter_", "c10d::_reduce_scatter_base_",
                                  "c10d::alltoall_",       "c10d::alltoall_base_",
                                  "c10d::gather_",         "c10d::scatter_",
                                  "c10d::barrier"};

struct State {
  std::atomic<uint64_t> next_look{0};  // CLOCK_MONOTONIC
  std::atomic<bool> is_capturing{false};
  uint64_t pause = kFirstPause;  // changes under CPython's lock
};
constinit State g;

// Notes are only ever added, under CPython's lock.
constinit char g_notes[kMostGroups][kNoteBytes] = {};
constinit std::atomic<uint32_t> g_note_count{0};

// Writes a text of limited length.
class NoteWriter {
 public:
  explicit NoteWriter(char* text) : text_(text) {}

  bool fits() const { return fits_; }
  void Write(const char* part) {
    const size_t bytes = strlen(part);
    if (used_ + bytes + 1 > kNoteBytes) fits_ = false;
    if (!fits_) return;
    memcpy(text_ + used_, part, bytes + 1);
    used_ += bytes;
  }
  void Write(long number) {
    char digits[24];
    char* at = digits + sizeof(digits) - 1;
    *at = 0;
    do {
      *--at = static_cast<char>('0' + number % 10);
    } while ((number /= 10) > 0);
    Write(at);
  }

 private:
  char* text_;
  size_t used_ = 0;
  bool fits_ = true;
};

// Writes ranks as they come, those of one distance short: "0-3,8,16-30:2".
class RankWriter {
 public:
  explicit RankWriter(NoteWriter* out) : out_(*out) {}

  void Add(long rank) {
    const long distance = rank - last_;
    const bool goes_on = count_ == 1 ? distance > 0 : count_ > 1 && distance == stride_;
    if (!goes_on) End();
    if (count_ == 0) first_ = rank;
    if (count_ == 1) stride_ = distance;
    last_ = rank;
    ++count_;
  }
  // Writes what was begun.
  void End() {
    if (count_ == 0) return;
    if (has_begun_) out_.Write(",");
    has_begun_ = true;
    out_.Write(first_);
    if (count_ > 1) {
      out_.Write("-");
      out_.Write(last_);
    }
    if (count_ > 1 && stride_ != 1) {
      out_.Write(":");
      out_.Write(stride_);
    }
    count_ = 0;
  }

 private:
  NoteWriter& out_;
  bool has_begun_ = false;
  uint32_t count_ = 0;
  long first_ = 0, last_ = 0, stride_ = 0;
};

// Writes an object's attribute of text. Others write nothing.
void WriteText(const Python& python, PyObject* object, const char* before, NoteWriter* out) {
  const char* const text =
      object != nullptr && object != python.none ? python.text(object) : nullptr;
  python.clear_error();
  if (text == nullptr || *text == 0) return;
  out->Write(before);
  out->Write(text);
}

// `ranks`: a dict whose keys are the ranks of the job, in the order of the group.
bool WriteGroup(const Python& python, PyObject* name, PyObject* group, PyObject* ranks,
                NoteWriter* out) {
  const ptrdiff_t size = python.size(ranks);
  python.clear_error();
  if (size <= 0 || size > kMostRanks || python.text(name) == nullptr) return false;
  out->Write("ranks ");
  RankWriter writer(out);
  PyObject *key = nullptr, *value = nullptr;
  for (ptrdiff_t at = 0; python.next(ranks, &at, &key, &value) != 0;) {
    const long rank = python.as_long(key);
    if (python.error() != nullptr || rank < 0) return false;
    writer.Add(rank);
  }
  writer.End();
  WriteText(python, name, " of group ", out);
  PyObject* const description = python.attribute(group, "group_desc");
  python.clear_error();
  WriteText(python, description, ", ", out);
  python.Drop(description);
  return out->fits();
}

// Adds the note of a group, if it is new. A text that is too long is left out: half of it would be
// another group.
bool Add(const Python& python, PyObject* names, PyObject* group, PyObject* ranks) {
  const uint32_t count = g_note_count.load(std::memory_order_relaxed);
  if (count == kMostGroups) return false;
  char* const text = g_notes[count];
  NoteWriter out(text);
  PyObject* const name = python.CallWith(names, group);
  const bool is_written = name != nullptr && WriteGroup(python, name, group, ranks, &out);
  python.Drop(name);
  python.clear_error();
  if (!is_written) return false;
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(g_notes[i], text) == 0) return false;
  g_note_count.store(count + 1, std::memory_order_release);
  return true;
}

// Returns a new reference to an attribute of torch.distributed's list of groups. Null: none.
PyObject* OfWorld(const Python& python, const char* name) {
  PyObject* const modules = python.modules();
  PyObject* const module =
      modules != nullptr ? python.item(modules, "torch.distributed.distributed_c10d") : nullptr;
  PyObject* const world = module != nullptr ? python.attribute(module, "_world") : nullptr;
  PyObject* const found = world != nullptr ? python.attribute(world, name) : nullptr;
  python.Drop(world);
  python.clear_error();
  return found;
}

// With CPython's lock.
void LookInside(const Python& python) {
  PyObject* const ranks = OfWorld(python, "pg_group_ranks");
  PyObject* const names = OfWorld(python, "pg_names");
  // The copy is nobody else's.
  PyObject* const groups = ranks != nullptr ? python.CallMethod(ranks, "copy") : nullptr;
  PyObject* const get = names != nullptr ? python.attribute(names, "get") : nullptr;
  python.clear_error();
  bool is_new = false;
  PyObject *group = nullptr, *of_group = nullptr;
  for (ptrdiff_t at = 0;
       groups != nullptr && get != nullptr && python.next(groups, &at, &group, &of_group) != 0;)
    is_new |= Add(python, get, group, of_group);
  g.pause = is_new ? kFirstPause : g.pause * 2 < kMostPause ? g.pause * 2 : kMostPause;
  python.Drop(get);
  python.Drop(groups);
  python.Drop(names);
  python.Drop(ranks);
  python.clear_error();
}

// At Python's exit, on its main thread.
void LookAtExit(const Python& python) {
  if (g.is_capturing.load()) LookInside(python);
}

}  // namespace

bool CollectivesAreUsed() {
  for (const char* call : kCalls) {
    const proto::NameTable::Text* const text =
        OpNames().Find(call, static_cast<uint32_t>(strlen(call)));
    if (text != nullptr && OpNames().IsDefined(*text)) return true;
  }
  return false;
}

void GroupsBeginCapture() {
  g.is_capturing.store(true);
  g.next_look.store(0);
}

void GroupsEndCapture() {
  g.is_capturing.store(false);
  g.next_look.store(0);
}

bool GroupsAreDue() { return Monotonic() >= g.next_look.load(); }

void LookForGroups(const Python& python) {
  uint64_t pause = kMostPause;
  {
    const InsidePython inside(python);
    if (inside.is_in() && WatchExit(python, LookAtExit)) {
      LookInside(python);
      pause = g.pause;
    }
  }
  g.next_look.store(Monotonic() + pause);
}

const char* GroupNote(uint32_t index) {
  return index < g_note_count.load(std::memory_order_acquire) ? g_notes[index] : nullptr;
}

void GroupsAfterForkChild() {
  g_note_count.store(0);
  g.is_capturing.store(false);
}

}  // namespace gpuprof::tracer
