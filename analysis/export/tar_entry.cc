// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tar_entry.h.

#include "analysis/export/tar_entry.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

constexpr size_t kTarBlock = 512;

// Fields of a header: where they begin, and their bytes.
struct Field {
  size_t at, bytes;
};
constexpr Field kName = {0, 100}, kMode = {100, 8}, kUser = {108, 8}, kGroup = {116, 8},
                kSize = {124, 12}, kTime = {136, 12}, kSum = {148, 8}, kType = {156, 1},
                kMagic = {257, 8};

void Put(Field field, std::string_view text, std::string* header) {
  header->replace(field.at, std::min(field.bytes, text.size()), text.substr(0, field.bytes));
}

// Numbers are octal. One that needs more digits is written in base 256, as GNU tar does.
void PutNumber(Field field, uint64_t value, std::string* header) {
  std::string digits(field.bytes - 1, '0');
  uint64_t rest = value;
  for (size_t i = digits.size(); i-- > 0; rest /= 8) digits[i] = static_cast<char>('0' + rest % 8);
  if (rest != 0) {
    digits.assign(field.bytes, '\0');
    for (size_t i = field.bytes; i-- > 0; value >>= 8) digits[i] = static_cast<char>(value & 0xff);
    digits[0] = static_cast<char>(0x80);
  }
  Put(field, digits, header);
}

}  // namespace

std::string TarHeader(std::string_view name, uint64_t bytes) {
  std::string header(kTarBlock, '\0');
  Put(kName, name, &header);
  PutNumber(kMode, 0644, &header);
  PutNumber(kUser, 0, &header);
  PutNumber(kGroup, 0, &header);
  PutNumber(kSize, bytes, &header);
  PutNumber(kTime, 0, &header);
  Put(kType, "0", &header);
  Put(kMagic, std::string_view("ustar\00000", 8), &header);
  // The sum counts its own field as blanks.
  Put(kSum, "        ", &header);
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  PutNumber({kSum.at, kSum.bytes - 1}, sum, &header);
  header[kSum.at + kSum.bytes - 2] = '\0';
  return header;
}

std::string TarPadding(uint64_t bytes) {
  return std::string((kTarBlock - bytes % kTarBlock) % kTarBlock, '\0');
}

std::string TarEnd() { return std::string(2 * kTarBlock, '\0'); }

}  // namespace gpuprof::analysis
