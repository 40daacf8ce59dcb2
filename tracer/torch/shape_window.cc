// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See shape_window.h.

#include "tracer/torch/shape_window.h"

#include <atomic>

namespace gpuprof::tracer {
namespace {

// Operations whose inputs are still to be read.
constinit std::atomic<int32_t> left = 0;
constinit std::atomic<uint32_t> failed = 0;  // in this window

struct Windows {
  ShapeObserver observer = {};
  bool is_running = false;
  bool is_open = false;
  uint64_t closed_ns = 0;
};
constinit Windows windows = {};

void Open(int32_t ops) {
  if (!windows.observer.add()) {
    windows.is_running = false;
    return;
  }
  windows.is_open = true;
  failed.store(0, std::memory_order_relaxed);
  left.store(ops, std::memory_order_relaxed);
}

void Close(uint64_t now_ns) {
  left.store(0, std::memory_order_relaxed);
  windows.observer.remove();
  windows.is_open = false;
  windows.closed_ns = now_ns;
}

}  // namespace

bool WantsInputs() { return left.load(std::memory_order_relaxed) > 0; }

bool NoteInputsRead() { return left.fetch_sub(1, std::memory_order_relaxed) == 1; }

void NoteInputsFailed() {
  if (failed.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostFailures)
    left.store(0, std::memory_order_relaxed);
}

void ShapeWindowsBegin(const ShapeObserver& observer) {
  windows = {};
  windows.observer = observer;
  windows.is_running = true;
  Open(kOpsOfFirstWindow);
}

bool ShapeWindowsAreDue(uint64_t now_ns) {
  if (!windows.is_running) return false;
  return windows.is_open ? !WantsInputs() : now_ns - windows.closed_ns >= kWindowPauseNs;
}

void ShapeWindowsTick(uint64_t now_ns) {
  if (!ShapeWindowsAreDue(now_ns)) return;
  if (windows.is_open) {
    Close(now_ns);
  } else {
    Open(kOpsOfWindow);
  }
}

void ShapeWindowsEnd() {
  if (windows.is_open) Close(0);
  windows.is_running = false;
}

}  // namespace gpuprof::tracer
