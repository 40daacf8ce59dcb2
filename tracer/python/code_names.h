// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of frames: what a code object of CPython and an instruction of its are called in stacks,
// "file.py(12): function". Each code object is read once. An address comes to hold another one: a
// few of its words are compared each time.
//
// The sampler's thread alone.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/name_table.h"
#include "tracer/python/frame_names.h"
#include "tracer/python/layout.h"
#include "tracer/python/own_reads.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

class CodeNames {
 public:
  CodeNames(const Host* host, const PythonLayout& layout, OwnReads* reads);

  // Returns the string id of a frame, whose definition is in the ring then. 0: what is read is no
  // code object's. `code`: kCodeBytes of it.
  uint32_t NameOf(uint64_t address, const uint8_t* code, uint64_t instruction,
                  proto::RingHeader* ring, uint64_t now);

 private:
  struct Line {
    uint32_t offset;
    proto::NameTable::Text* text;
  };
  struct Code {
    uint64_t address = 0;
    uint64_t words[3] = {};  // of its name, file name and lines
    int32_t first_line = 0;
    std::vector<char> file, name;
    std::vector<uint8_t> lines;
    std::vector<Line> known;  // a ring of the last ones
    uint32_t next = 0;
  };

  Code* Find(uint64_t address, const uint8_t* code);
  bool ReadCode(Code* known);
  bool ReadName(uint64_t address, std::vector<char>* text);
  bool ReadBytes(uint64_t address, std::vector<uint8_t>* bytes);
  proto::NameTable::Text* Intern(const Code& code, int32_t line);

  const Host* host_;
  PythonLayout layout_;
  OwnReads* reads_;
  std::vector<std::unique_ptr<Code>> slots_;
  uint64_t bytes_ = 0;  // of all code objects since they were last forgotten
};

}  // namespace gpuprof::tracer
