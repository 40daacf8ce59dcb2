// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of DWARF attributes and of the lists of files, by their form. For the readers of source
// lines; one thread.

#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/symbols/dwarf_reader.h"

namespace gpuprof::analysis {

// What is the same for all values of a unit.
struct DwarfFormat {
  bool is_large = false;  // offsets have 8 bytes
  uint16_t version = 0;
  uint8_t address_size = 8;
  std::string_view texts;       // .debug_str
  std::string_view line_texts;  // .debug_line_str
};

struct DwarfValue {
  uint64_t number = 0;
  std::string_view text;
  bool is_known = false;  // false: the form is unknown, and what follows cannot be read
};

// Reads one value. A text that is kept elsewhere than in the two sections comes back empty.
DwarfValue ReadForm(uint64_t form, const DwarfFormat& format, DwarfReader* reader);

}  // namespace gpuprof::analysis
