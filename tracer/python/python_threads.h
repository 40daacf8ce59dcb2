// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The threads of CPython, and what each is doing: its frames, read while the program goes on. No
// lock of the interpreter is taken and no function of its is called.
//
// A frame may change while it is read. So what is read is checked: a code object has the type of
// code objects, and a thread's leaf must still be the same after the walk, or the walk is made
// again.
//
// The sampler's thread alone.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/record.h"
#include "tracer/python/interpreter.h"
#include "tracer/python/own_reads.h"

namespace gpuprof::tracer {

struct PythonThread {
  uint64_t state = 0;  // its PyThreadState
  int32_t tid = 0;
  uint64_t leaf = 0;  // the innermost frame; 0: it runs no Python
  uint64_t gil = 0;   // the lock of its interpreter
  bool has_gil = false;
};

struct PythonFrame {
  uint64_t code;
  uint64_t instruction;  // bytes from the begin of the code
  uint8_t bytes[kCodeBytes];
};

class PythonThreads {
 public:
  explicit PythonThreads(const Interpreter& interpreter);

  // Lists the threads. False: what is read makes no sense, as while the interpreter begins or ends.
  bool List(std::vector<PythonThread>* threads);

  // Reads the frames of a thread, innermost first. False: what was read makes no sense.
  bool Walk(const PythonThread& thread, std::vector<PythonFrame>* frames);

  OwnReads* reads() { return &reads_; }

 private:
  struct RawFrame {
    uint64_t code, instruction, caller;
    bool is_native;
  };
  bool ReadLeaf(uint64_t state, uint64_t* leaf);
  int32_t TidOf(uint64_t pthread, uint64_t number);
  bool AddThreads(uint64_t interpreter, std::vector<PythonThread>* threads);
  bool ReadFrame(uint64_t address, RawFrame* frame);
  bool WalkOnce(uint64_t leaf, std::vector<PythonFrame>* frames);
  bool CheckCodes(std::vector<PythonFrame>* frames);

  Interpreter python_;
  OwnReads reads_;
  uint32_t tid_in_pthread_ = 0;  // where libc has a thread's number; 0: not known
  // Memory before and at the last leaf that was read: the callers' frames lie there, too.
  std::vector<uint8_t> block_;
  uint64_t block_begin_ = 0, block_end_ = 0;
};

}  // namespace gpuprof::tracer
