// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the machine code of a loaded module where it lies: an ELF file whose sections
// ".text.<function>" are its functions. Nothing is copied or kept.
//
// On the program's threads, inside of CUDA: no heap, no lock. The bytes may be anything: nothing
// outside of them is read, and what makes no sense says nothing.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::tracer::cupti {

struct CubinFunction {
  const char* name = nullptr;  // mangled, without an end mark
  size_t name_bytes = 0;
  const uint8_t* code = nullptr;
  size_t code_bytes = 0;
  bool is_kernel = false;  // not called by others
};

class Cubin {
 public:
  Cubin(const void* bytes, size_t size);

  // Of the code, as 90 of sm_90; 0: this is no cubin.
  uint32_t sm() const { return sm_; }
  // Sections, of which some are functions.
  uint32_t sections() const { return sections_; }
  // False: it is something else.
  bool ReadFunction(uint32_t section, CubinFunction* function) const;

 private:
  struct Section;  // as it lies in the file

  bool Has(uint64_t offset, uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  // `bytes` of the file, or null.
  const uint8_t* At(uint64_t offset, uint64_t bytes) const {
    return Has(offset, bytes) ? bytes_ + offset : nullptr;
  }
  bool ReadSection(uint32_t index, Section* section) const;
  bool IsKernel(uint32_t index, const Section& section) const;

  const uint8_t* bytes_;
  uint64_t size_;
  uint64_t table_ = 0;  // of sections
  uint64_t names_ = 0;  // of sections
  uint64_t names_size_ = 0;
  uint32_t sections_ = 0;
  uint32_t sm_ = 0;
};

}  // namespace gpuprof::tracer::cupti
