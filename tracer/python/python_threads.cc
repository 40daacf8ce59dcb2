// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/python_threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kMostInterpreters = 64;
constexpr uint32_t kMostThreads = 4096;
constexpr uint32_t kThreadBytes = 256;  // of a PyThreadState
constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kPthreadBytes = 1024;  // that a thread's number is looked for in
constexpr uint32_t kMostCaller = 4096;    // frames that are followed, also those that are left out
constexpr int kWalks = 3;

uint64_t WordOf(const uint8_t* from, uint32_t place) {
  uint64_t word;
  std::memcpy(&word, from + place, sizeof(word));
  return word;
}

// Finds where libc keeps the number of a thread, by the calling thread's own.
uint32_t FindTidPlace() {
  const auto* words = reinterpret_cast<const int32_t*>(pthread_self());
  const auto tid = static_cast<int32_t>(syscall(SYS_gettid));
  for (uint32_t i = 16; i < kPthreadBytes / 4; ++i) {
    if (words[i] == tid) return i * 4;
  }
  return 0;
}

}  // namespace

PythonThreads::PythonThreads(const Interpreter& interpreter) : python_(interpreter) {
  if (python_.layout.thread_number == 0) tid_in_pthread_ = FindTidPlace();
  block_.resize(2 * kPageBytes);
}

int32_t PythonThreads::TidOf(uint64_t pthread, uint64_t number) {
  if (python_.layout.thread_number != 0) return static_cast<int32_t>(number);
  int32_t tid = 0;
  if (tid_in_pthread_ == 0 || !reads_.Read(pthread + tid_in_pthread_, &tid)) return 0;
  return tid;
}

bool PythonThreads::ReadLeaf(uint64_t state, uint64_t* leaf) {
  const PythonLayout& at = python_.layout;
  if (!reads_.Read(state + at.frame, leaf)) return false;
  return !at.has_cframe || *leaf == 0 || reads_.Read(*leaf + at.cframe_frame, leaf);
}

bool PythonThreads::AddThreads(uint64_t interpreter, std::vector<PythonThread>* threads) {
  const PythonLayout& at = python_.layout;
  uint64_t state = 0, gil = at.gil != 0 ? python_.runtime + at.gil : 0;
  if (!reads_.Read(interpreter + at.threads, &state)) return false;
  if (at.gil == 0 && !reads_.Read(interpreter + at.gil_pointer, &gil)) return false;
  uint64_t holder = 0;
  int32_t locked = 0;
  if (gil != 0) {
    const OwnReads::Part parts[] = {{gil + at.gil_holder, &holder, sizeof(holder)},
                                    {gil + at.gil_locked, &locked, sizeof(locked)}};
    if (reads_.ReadParts(parts, 2) != 2) return false;
  }
  const size_t first = threads->size();
  uint8_t bytes[kThreadBytes];
  while (state != 0 && threads->size() < kMostThreads) {
    if (!reads_.Read(state, bytes, sizeof(bytes))) return false;
    PythonThread thread;
    thread.state = state;
    thread.gil = gil;
    thread.has_gil = locked != 0 && holder == state;
    thread.tid = TidOf(WordOf(bytes, at.pthread), WordOf(bytes, at.thread_number));
    thread.leaf = WordOf(bytes, at.frame);  // or its cframe
    if (thread.tid > 0) threads->push_back(thread);
    state = WordOf(bytes, at.next_thread);
  }
  if (!at.has_cframe) return true;
  for (size_t i = first; i < threads->size(); ++i) {
    PythonThread& thread = (*threads)[i];
    if (thread.leaf != 0 && !reads_.Read(thread.leaf + at.cframe_frame, &thread.leaf))
      thread.leaf = 0;
  }
  return true;
}

bool PythonThreads::List(std::vector<PythonThread>* threads) {
  threads->clear();
  uint64_t interpreter = 0;
  if (!reads_.Read(python_.runtime + python_.layout.interpreters, &interpreter)) return false;
  for (uint32_t i = 0; interpreter != 0 && i < kMostInterpreters; ++i) {
    if (!AddThreads(interpreter, threads)) return false;
    if (!reads_.Read(interpreter + python_.layout.next_interpreter, &interpreter)) return false;
  }
  return true;
}

bool PythonThreads::ReadFrame(uint64_t address, RawFrame* frame) {
  const PythonLayout& at = python_.layout;
  // What changes while it is read may be no address at all.
  constexpr uint64_t kAddressEnd = uint64_t{1} << 47;
  if (address < kPageBytes || address >= kAddressEnd || address % sizeof(uint64_t) != 0)
    return false;
  uint8_t own[128];
  const uint8_t* bytes = own;
  if (address >= block_begin_ && address + at.frame_bytes <= block_end_) {
    bytes = block_.data() + (address - block_begin_);
  } else {
    // Frames of a thread follow each other in memory: those of its callers lie before the leaf's.
    const uint64_t end = address + at.frame_bytes;
    const uint64_t begin = std::max<uint64_t>((end - 1) / kPageBytes * kPageBytes, kPageBytes);
    const auto size = static_cast<uint32_t>(end - std::min(begin, address));
    const uint64_t from = end - size;
    if (!at.has_index && reads_.Read(from, block_.data(), size)) {
      block_begin_ = from;
      block_end_ = end;
      bytes = block_.data() + (address - from);
    } else if (!reads_.Read(address, own, at.frame_bytes)) {
      return false;
    }
  }
  frame->code = WordOf(bytes, at.code) & ~uint64_t{at.code_tags};
  frame->caller = WordOf(bytes, at.caller);
  frame->is_native = at.owner != 0 && bytes[at.owner] >= at.native_owner;
  if (at.has_index) {
    int32_t index = 0;
    std::memcpy(&index, bytes + at.instruction, sizeof(index));
    frame->instruction = index > 0 ? static_cast<uint64_t>(index) * at.unit : 0;
  } else {
    const uint64_t begin = frame->code + at.code_units;
    const uint64_t instruction = WordOf(bytes, at.instruction);
    frame->instruction = instruction > begin ? instruction - begin : 0;
    constexpr uint64_t kMostCode = 1u << 28;
    if (frame->instruction > kMostCode) frame->instruction = 0;
  }
  return true;
}

// Reads the code objects of all frames at once. False: one is none.
bool PythonThreads::CheckCodes(std::vector<PythonFrame>* frames) {
  OwnReads::Part parts[proto::kMaxStackFrames];
  const auto count = static_cast<uint32_t>(frames->size());
  for (uint32_t i = 0; i < count; ++i)
    parts[i] = {(*frames)[i].code, (*frames)[i].bytes, kCodeBytes};
  if (reads_.ReadParts(parts, count) != count) return false;
  return std::all_of(frames->begin(), frames->end(), [this](const PythonFrame& frame) {
    return WordOf(frame.bytes, kPythonType) == python_.code_type;
  });
}

bool PythonThreads::WalkOnce(uint64_t leaf, std::vector<PythonFrame>* frames) {
  frames->clear();
  block_begin_ = block_end_ = 0;
  uint32_t followed = 0;
  for (uint64_t at = leaf; at != 0; ++followed) {
    RawFrame frame = {};
    if (followed == kMostCaller || !ReadFrame(at, &frame)) return false;
    if (!frame.is_native) {
      if (frames->size() == proto::kMaxStackFrames) break;
      frames->push_back({frame.code, frame.instruction, {}});
    }
    at = frame.caller;
  }
  return CheckCodes(frames);
}

bool PythonThreads::Walk(const PythonThread& thread, std::vector<PythonFrame>* frames) {
  uint64_t leaf = thread.leaf;
  for (int walk = 0; walk < kWalks; ++walk) {
    const bool is_sound = WalkOnce(leaf, frames);
    uint64_t now = 0;
    if (!ReadLeaf(thread.state, &now)) return false;
    // A busy thread calls and returns all the time: the last sound walk is as good as any.
    if (is_sound && (now == leaf || walk + 1 == kWalks)) return true;
    if (now == 0) return false;
    leaf = now;
  }
  return false;
}

}  // namespace gpuprof::tracer
