// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See dwarf_forms.h. The numbers are those of DWARF 5, section 7.5.6, and of GNU's extensions.

#include "analysis/symbols/dwarf_forms.h"

namespace gpuprof::analysis {
namespace {

enum Form : uint64_t {
  kAddr = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRefAddr = 0x10,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kIndirect = 0x16,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kRefSup4 = 0x1c,
  kStrpSup = 0x1d,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kRefSig8 = 0x20,
  kImplicitConst = 0x21,
  kLoclistx = 0x22,
  kRnglistx = 0x23,
  kRefSup8 = 0x24,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx2 = 0x2a,
  kAddrx3 = 0x2b,
  kAddrx4 = 0x2c,
  kGnuAddrIndex = 0x1f01,
  kGnuStrIndex = 0x1f02,
  kGnuRefAlt = 0x1f20,
  kGnuStrpAlt = 0x1f21,
};

DwarfValue Known(uint64_t number) { return {number, "", true}; }

DwarfValue Skipped(uint64_t count, DwarfReader* reader) {
  reader->Skip(count);
  return Known(0);
}

}  // namespace

DwarfValue ReadForm(uint64_t form, const DwarfFormat& format, DwarfReader* reader) {
  switch (form) {
    case kFlagPresent:
    case kImplicitConst:  // the value stands with the abbreviation
      return Known(0);
    case kData1:
    case kFlag:
    case kRef1:
    case kStrx1:
    case kAddrx1:
      return Known(reader->Number<uint8_t>());
    case kData2:
    case kRef2:
    case kStrx2:
    case kAddrx2:
      return Known(reader->Number<uint16_t>());
    case kStrx3:
    case kAddrx3:
      return Skipped(3, reader);
    case kData4:
    case kRef4:
    case kRefSup4:
    case kStrx4:
    case kAddrx4:
      return Known(reader->Number<uint32_t>());
    case kData8:
    case kRef8:
    case kRefSig8:
    case kRefSup8:
      return Known(reader->Number<uint64_t>());
    case kData16:
      return Skipped(16, reader);
    case kAddr:
      return Skipped(format.address_size, reader);
    case kRefAddr:
      if (format.version <= 2) return Skipped(format.address_size, reader);
      return Known(reader->Offset(format.is_large));
    case kSecOffset:
    case kStrpSup:
    case kGnuRefAlt:
    case kGnuStrpAlt:
      return Known(reader->Offset(format.is_large));
    case kUdata:
    case kRefUdata:
    case kStrx:
    case kAddrx:
    case kLoclistx:
    case kRnglistx:
    case kGnuAddrIndex:
    case kGnuStrIndex:
      return Known(reader->Unsigned());
    case kSdata:
      return Known(static_cast<uint64_t>(reader->Signed()));
    case kString:
      return {0, reader->Text(), true};
    case kStrp:
      return {0, TextAt(format.texts, reader->Offset(format.is_large)), true};
    case kLineStrp:
      return {0, TextAt(format.line_texts, reader->Offset(format.is_large)), true};
    case kBlock1:
      return Skipped(reader->Number<uint8_t>(), reader);
    case kBlock2:
      return Skipped(reader->Number<uint16_t>(), reader);
    case kBlock4:
      return Skipped(reader->Number<uint32_t>(), reader);
    case kBlock:
    case kExprloc:
      return Skipped(reader->Unsigned(), reader);
    case kIndirect: {
      const uint64_t inner = reader->Unsigned();
      if (inner == kIndirect) return {};
      return ReadForm(inner, format, reader);
    }
    default:
      return {};
  }
}

}  // namespace gpuprof::analysis
