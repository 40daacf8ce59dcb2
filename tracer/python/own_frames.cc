// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/own_frames.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "proto/named_frame.h"
#include "proto/ticks.h"
#include "tracer/base/map_table.h"
#include "tracer/python/far_part.h"
#include "tracer/python/frame_names.h"
#include "tracer/python/frame_text.h"
#include "tracer/python/line_table.h"
#include "tracer/stack/stack_bounds.h"

namespace gpuprof::tracer {
namespace {

using Text = proto::NameTable::Text;

// What a place in a code object is called. The key tells code objects apart that have had one
// address: it is made of their contents, too.
struct KnownPlace {
  std::atomic<uint64_t> key;
  std::atomic<Text*> text;
};
constexpr uint32_t kPlaces = 1u << 14;
constexpr uint32_t kProbes = 4;
// A name is made of what is read on the stack.
constexpr uint64_t kNamingStack = 8 * 1024;

struct Python {
  const Host* host = nullptr;
  PythonLayout layout = {};
  uint32_t version = 0;
  CodePart loop, far_loop;  // the interpreter's loop
  uint64_t (*this_thread)() = nullptr;
  int (*is_finalizing)() = nullptr;
  KnownPlace* places = nullptr;
};
Python python;
std::atomic<bool> is_ready{false};

uint64_t WordAt(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

struct Frame {
  uint64_t code, instruction, caller;
  bool is_native;  // stands for native code
  bool is_entry;   // the loop began with it
};

Frame ReadFrame(uint64_t address) {
  const PythonLayout& at = python.layout;
  Frame frame = {};
  frame.code = WordAt(address + at.code) & ~uint64_t{at.code_tags};
  frame.caller = WordAt(address + at.caller);
  if (at.has_index) {
    int32_t index;
    std::memcpy(&index, reinterpret_cast<const void*>(address + at.instruction), sizeof(index));
    frame.instruction = index > 0 ? static_cast<uint64_t>(index) * at.unit : 0;
    frame.is_entry = true;
    return frame;
  }
  const uint64_t begin = frame.code + at.code_units, now = WordAt(address + at.instruction);
  frame.instruction = now > begin ? now - begin : 0;
  const auto byte = [address](uint32_t place) {
    return *reinterpret_cast<const uint8_t*>(address + place);
  };
  constexpr uint32_t kIsEntry311 = 68;
  if (at.owner == 0) {
    frame.is_entry = byte(kIsEntry311) != 0;
  } else {
    frame.is_native = byte(at.owner) >= at.native_owner;
  }
  return frame;
}

// Makes the text of a frame.
[[gnu::noinline]] Text* NamePlace(const Frame& frame) {
  const uint64_t sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (!StackHasRoom(sp, kNamingStack)) return nullptr;
  const PythonLayout& at = python.layout;
  const uint64_t lines = WordAt(frame.code + at.lines);
  const auto* table = reinterpret_cast<const uint8_t*>(lines + kBytesData);
  int32_t first_line;
  std::memcpy(&first_line, reinterpret_cast<const void*>(frame.code + at.first_line),
              sizeof(first_line));
  const int32_t line =
      LineAt(at.line_format, table, static_cast<uint32_t>(WordAt(lines + kBytesSize)), first_line,
             static_cast<uint32_t>(frame.instruction));
  DirectReads reads;
  char file[kMostTextBytes], name[kMostTextBytes], text[proto::kMostNameBytes];
  uint32_t file_bytes = 0, name_bytes = 0;
  if (!ReadText(&reads, at, WordAt(frame.code + at.file_name), file, &file_bytes)) return nullptr;
  if (!ReadText(&reads, at, WordAt(frame.code + at.name), name, &name_bytes)) return nullptr;
  const uint32_t bytes = WriteFrame(file, file_bytes, line > 0 ? line : first_line, name,
                                    name_bytes, text, sizeof(text));
  return FrameNames().Intern(text, bytes);
}

uint64_t KeyOf(const Frame& frame) {
  const PythonLayout& at = python.layout;
  uint64_t key = frame.code * 0x9e3779b97f4a7c15u;
  for (const uint64_t part :
       {WordAt(frame.code + at.name), WordAt(frame.code + at.lines), frame.instruction}) {
    key = (key ^ part) * 0xff51afd7ed558ccdu;
    key ^= key >> 32;
  }
  return key | 1;
}

// Returns the program counter that stands for the frame. 0: it has no name now.
uint64_t PcOf(const Frame& frame, proto::RingHeader* ring) {
  const uint64_t key = KeyOf(frame);
  Text* text = nullptr;
  KnownPlace* free = nullptr;
  for (uint32_t probe = 0; probe < kProbes && text == nullptr; ++probe) {
    KnownPlace& place = python.places[((key >> 16) + probe) % kPlaces];
    const uint64_t known = place.key.load(std::memory_order_acquire);
    if (known == key) text = place.text.load(std::memory_order_acquire);
    if (known == 0 && free == nullptr) free = &place;
  }
  if (text == nullptr) {
    text = NamePlace(frame);
    if (text == nullptr) return 0;
    uint64_t none = 0;
    // The text first: who finds the key finds the text. Of two threads one takes the place.
    if (free != nullptr && free->key.load() == 0) {
      Text* no_text = nullptr;
      if (free->text.compare_exchange_strong(no_text, text))
        free->key.compare_exchange_strong(none, key, std::memory_order_acq_rel);
    }
  }
  const uint64_t now = proto::ReadTicks(python.host->settings->clock);
  const auto defined = FrameNames().Define(ring, text, now, WakeForNames{python.host});
  return defined == proto::NameTable::Defined::kHasNoRoom ? 0 : proto::NamedFrame(text->id);
}

bool IsLoop(uint64_t pc) { return python.loop.Has(pc - 1) || python.far_loop.Has(pc - 1); }

// Takes the functions of one run of the loop, from the frame at `*at` on. Returns how many frames
// it stored.
uint32_t TakeRun(uint64_t* at, uint64_t* pcs, uint32_t most, proto::RingHeader* ring) {
  uint32_t count = 0;
  constexpr uint32_t kMostFollowed = 4096;
  for (uint32_t followed = 0; *at != 0 && followed < kMostFollowed; ++followed) {
    const Frame frame = ReadFrame(*at);
    *at = frame.caller;
    if (frame.is_native) break;
    const uint64_t pc = count < most ? PcOf(frame, ring) : 0;
    if (pc != 0) pcs[count++] = pc;
    if (frame.is_entry) break;
  }
  return count;
}

uint64_t LeafOf(uint64_t state) {
  const PythonLayout& at = python.layout;
  const uint64_t leaf = WordAt(state + at.frame);
  return at.has_cframe && leaf != 0 ? WordAt(leaf + at.cframe_frame) : leaf;
}

}  // namespace

bool OwnFramesBegin(const Host* host, const Interpreter& interpreter) {
  if (is_ready.load()) return true;
  void* const handle = interpreter.handle;
  void* const loop = dlsym(handle, "_PyEval_EvalFrameDefault");
  const auto this_thread = dlsym(handle, "PyGILState_GetThisThreadState");
  void* is_finalizing = dlsym(handle, "Py_IsFinalizing");
  if (is_finalizing == nullptr) is_finalizing = dlsym(handle, "_Py_IsFinalizing");
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (loop == nullptr || this_thread == nullptr || is_finalizing == nullptr ||
      dladdr1(loop, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr || symbol->st_size == 0)
    return false;
  void* const places = MapTable(kPlaces * sizeof(KnownPlace));
  if (places == nullptr || !FrameNamesInit()) return false;
  python.host = host;
  python.layout = interpreter.layout;
  python.version = interpreter.version;
  const auto begin = reinterpret_cast<uint64_t>(loop);
  python.loop = {begin, begin + symbol->st_size};
  CodeObject object;
  if (FindCode(begin, &object)) python.far_loop = FarPartOf(python.loop, object);
  python.this_thread = reinterpret_cast<uint64_t (*)()>(this_thread);
  python.is_finalizing = reinterpret_cast<int (*)()>(is_finalizing);
  python.places = static_cast<KnownPlace*>(places);
  is_ready.store(true, std::memory_order_release);
  return true;
}

uint32_t MergePython(uint64_t* pcs, uint32_t count, uint32_t most) noexcept {
  if (!is_ready.load(std::memory_order_acquire) || python.is_finalizing() != 0) return count;
  const auto first = static_cast<uint32_t>(std::find_if(pcs, pcs + count, IsLoop) - pcs);
  if (first == count) return count;
  const uint64_t state = python.this_thread();
  uint64_t at = state != 0 ? LeafOf(state) : 0;
  // Python's end frees the states of threads that wait for its lock, and no frames of theirs: what
  // was read of the state before that is good.
  if (at == 0 || python.is_finalizing() != 0) return count;
  proto::RingHeader* const ring = python.host->own_ring();
  if (ring == nullptr) return count;
  // The rest of the native stack, while the merged one is written over it.
  uint64_t native[proto::kMaxStackFrames];
  const uint32_t rest = count - first;
  std::memcpy(native, pcs + first, rest * sizeof(uint64_t));
  uint32_t merged = first;
  for (uint32_t i = 0; i < rest && merged < most; ++i) {
    const uint32_t taken =
        IsLoop(native[i]) && at != 0 ? TakeRun(&at, pcs + merged, most - merged, ring) : 0;
    if (taken == 0) pcs[merged++] = native[i];
    merged += taken;
  }
  // A native stack that ends early has less than the interpreter knows.
  while (at != 0 && merged < most) {
    const uint32_t taken = TakeRun(&at, pcs + merged, most - merged, ring);
    merged += taken;
  }
  return merged;
}

}  // namespace gpuprof::tracer
