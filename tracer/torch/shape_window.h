// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When the inputs of operations are read: in short windows, as reading costs each operation 0.3 to
// 1 us. The first window opens with the capture, and later ones follow for as long as it
// lasts. A window ends after so many operations, however long they take.
//
// In a window one more observer is registered, which only says that it needs the inputs: PyTorch
// then gives them to all observers. The recorder reads them (op_recorder.h).

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

inline constexpr int32_t kOpsOfFirstWindow = 10'000;
inline constexpr int32_t kOpsOfWindow = 2'000;
// An exception takes microseconds: after so many the window ends, too.
inline constexpr uint32_t kMostFailures = 64;
inline constexpr uint64_t kWindowPauseNs = 2'000'000'000;  // from one window to the next

// What opens and closes a window. Control thread.
struct ShapeObserver {
  bool (*add)();  // false: it cannot be registered; no window opens in this capture
  void (*remove)();
};

// Returns whether the inputs of the operation that begins are to be read. Any thread, in each
// operation.
bool WantsInputs();
// Notes an operation whose inputs were read. True: it was the last one of its window. Any thread.
bool NoteInputsRead();
// Notes that PyTorch could not tell the inputs of an operation. Any thread.
void NoteInputsFailed();

// Control thread: the first window opens. The observer must not be registered.
void ShapeWindowsBegin(const ShapeObserver& observer);
// Control thread, now and then: returns whether a window is to be opened or closed.
bool ShapeWindowsAreDue(uint64_t now_ns);
// Control thread: opens or closes a window that is due.
void ShapeWindowsTick(uint64_t now_ns);
// Control thread: no window is open after it.
void ShapeWindowsEnd();

}  // namespace gpuprof::tracer
