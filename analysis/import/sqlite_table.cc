// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sqlite_table.h.

#include "analysis/import/sqlite_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kFileHead = 100;
constexpr char kInner = 5, kLeaf = 13;

uint32_t Big(const char* at, size_t bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<unsigned char>(at[i]);
  return number;
}

// Reads a number of one to nine bytes. Null: the bytes end within it.
const char* ReadNumber(const char* at, const char* end, uint64_t* number) {
  if (at < end && static_cast<unsigned char>(*at) < 0x80) {
    *number = static_cast<unsigned char>(*at);
    return at + 1;
  }
  constexpr int kLast = 8;
  uint64_t sum = 0;
  for (int i = 0; at < end; ++i) {
    const auto byte = static_cast<unsigned char>(*at++);
    if (i == kLast) {
      *number = sum << 8 | byte;
      return at;
    }
    sum = sum << 7 | (byte & 0x7fu);
    if (byte < 0x80) {
      *number = sum;
      return at;
    }
  }
  return nullptr;
}

bool ReadAll(const RandomBytes& bytes, uint64_t from, char* to, size_t size) {
  for (size_t at = 0; at < size;) {
    const Result<size_t> got = bytes.ReadAt(from + at, to + at, size - at);
    if (!got.ok() || *got == 0) return false;
    at += *got;
  }
  return true;
}

}  // namespace

std::optional<SqlitePages> SqlitePages::Of(const RandomBytes& bytes) {
  char head[kFileHead];
  if (!ReadAll(bytes, 0, head, sizeof head)) return std::nullopt;
  constexpr size_t kPageAt = 16, kReservedAt = 20, kEncodingAt = 56;
  constexpr uint32_t kUtf8 = 1, kLeastBytes = 512, kMostBytes = 65'536, kLeastUsable = 480;
  SqlitePages pages;
  pages.page_bytes = Big(head + kPageAt, 2);
  if (pages.page_bytes == 1) pages.page_bytes = kMostBytes;
  pages.usable_bytes = pages.page_bytes - static_cast<unsigned char>(head[kReservedAt]);
  const bool is_valid = pages.page_bytes >= kLeastBytes && std::has_single_bit(pages.page_bytes) &&
                        pages.usable_bytes >= kLeastUsable;
  if (!is_valid || Big(head + kEncodingAt, 4) != kUtf8) return std::nullopt;
  pages.pages =
      static_cast<uint32_t>(std::min<uint64_t>(bytes.size() / pages.page_bytes, UINT32_MAX));
  return pages;
}

SqliteTable::SqliteTable(const RandomBytes* bytes, const SqlitePages& pages, uint32_t root,
                         size_t last_column)
    : bytes_(bytes), pages_(pages), fields_(last_column + 1) {
  Push(root);
}

bool SqliteTable::Fail(const char* why) {
  error_ = why;
  depth_ = 0;
  return false;
}

// Tables lie in long pieces, so pages behind a page are read with it.
bool SqliteTable::ReadPage(uint32_t page, char* to) {
  constexpr size_t kAhead = 64 << 10;
  if (page == 0 || page > pages_.pages) return Fail("a page lies outside the file");
  if (++visited_ > pages_.pages) return Fail("its pages lead in circles");
  const uint64_t at = uint64_t{page - 1} * pages_.page_bytes;
  if (at < chunk_at_ || at + pages_.page_bytes > chunk_at_ + chunk_.size()) {
    const uint64_t end = uint64_t{pages_.pages} * pages_.page_bytes;
    chunk_.resize(static_cast<size_t>(
        std::min<uint64_t>(end - at, std::max<size_t>(kAhead, pages_.page_bytes))));
    chunk_at_ = at;
    if (!ReadAll(*bytes_, at, chunk_.data(), chunk_.size())) {
      chunk_.clear();
      return Fail("a page cannot be read");
    }
  }
  std::memcpy(to, chunk_.data() + (at - chunk_at_), pages_.page_bytes);
  return true;
}

bool SqliteTable::Push(uint32_t page) {
  if (depth_ == kMostDepth) return Fail("its pages are nested too deep");
  if (levels_.size() == depth_) levels_.emplace_back();
  Level& level = levels_[depth_];
  level.bytes.resize(pages_.page_bytes);
  if (!ReadPage(page, level.bytes.data())) return false;
  const size_t begin = page == 1 ? kFileHead : 0;
  const char kind = level.bytes[begin];
  if (kind != kInner && kind != kLeaf) return Fail("a page is not of a table");
  constexpr size_t kLeafHead = 8, kInnerHead = 12, kCellsAt = 3;
  level.is_leaf = kind == kLeaf;
  level.head = begin + (level.is_leaf ? kLeafHead : kInnerHead);
  level.cells = Big(level.bytes.data() + begin + kCellsAt, 2);
  level.at = 0;
  if (level.head + 2 * size_t{level.cells} > pages_.usable_bytes)
    return Fail("a page has more rows than fit");
  ++depth_;
  return true;
}

bool SqliteTable::Next() {
  while (depth_ != 0) {
    Level& level = levels_[depth_ - 1];
    if (level.at > level.cells || (level.is_leaf && level.at == level.cells)) {
      --depth_;
      continue;
    }
    const char* const bytes = level.bytes.data();
    const uint32_t number = level.at++;
    // The last child stands before the list of the others.
    if (!level.is_leaf && number == level.cells) {
      if (!Push(Big(bytes + level.head - 4, 4))) return false;
      continue;
    }
    const size_t at = Big(bytes + level.head + 2 * size_t{number}, 2);
    if (at < level.head || at + 4 > pages_.usable_bytes) return Fail("a row lies outside its page");
    if (level.is_leaf) return ReadCell(level, at);
    if (!Push(Big(bytes + at, 4))) return false;
  }
  return false;
}

bool SqliteTable::ReadCell(const Level& level, size_t at) {
  const char* const end = level.bytes.data() + pages_.usable_bytes;
  const char* from = level.bytes.data() + at;
  uint64_t size = 0, row = 0;
  from = ReadNumber(from, end, &size);
  if (from != nullptr) from = ReadNumber(from, end, &row);
  if (from == nullptr) return Fail("a row is cut");
  row_id_ = static_cast<int64_t>(row);
  // The rest of a long row lies on pages of its own.
  const uint64_t usable = pages_.usable_bytes, most = usable - 35;
  uint64_t local = size;
  if (size > most) {
    const uint64_t least = (usable - 12) * 32 / 255 - 23;
    local = least + (size - least) % (usable - 4);
    if (local > most) local = least;
  }
  const uint64_t needed = local + (local == size ? 0 : 4);
  if (needed > static_cast<uint64_t>(end - from)) return Fail("a row is cut");
  const std::string_view part(from, static_cast<size_t>(local));
  if (local == size) {
    payload_ = part;
  } else if (!ReadRest(part, size, Big(from + local, 4))) {
    return false;
  }
  return ReadFields();
}

bool SqliteTable::ReadRest(std::string_view local, uint64_t bytes, uint32_t page) {
  constexpr size_t kNextBytes = 4;
  if (bytes > bytes_->size()) return Fail("a row is larger than the file");
  room_ = local;
  page_.resize(pages_.page_bytes);
  while (room_.size() < bytes) {
    if (!ReadPage(page, page_.data())) return false;
    const uint64_t left = bytes - room_.size();
    room_.append(page_, kNextBytes,
                 static_cast<size_t>(std::min<uint64_t>(left, pages_.usable_bytes - kNextBytes)));
    page = Big(page_.data(), kNextBytes);
  }
  payload_ = room_;
  return true;
}

bool SqliteTable::ReadFields() {
  constexpr uint8_t kBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  const char* const begin = payload_.data();
  uint64_t head = 0;
  const char* at = ReadNumber(begin, begin + payload_.size(), &head);
  if (at == nullptr || head > payload_.size() || head < static_cast<uint64_t>(at - begin))
    return Fail("a row's head is damaged");
  const char* const end = begin + head;
  auto place = static_cast<size_t>(head);
  columns_ = 0;
  while (at < end && columns_ < fields_.size()) {
    Field& field = fields_[columns_];
    at = ReadNumber(at, end, &field.serial);
    if (at == nullptr) return Fail("a row's head is damaged");
    if (field.serial < std::size(kBytes)) {
      field.bytes = kBytes[field.serial];
    } else if (field.serial < kFirstBlob) {
      return Fail("a value has an unknown type");
    } else {
      field.bytes = (field.serial - kFirstBlob) / 2;
    }
    if (field.bytes > payload_.size() - place) return Fail("a value lies outside its row");
    field.at = place;
    place += static_cast<size_t>(field.bytes);
    ++columns_;
  }
  return true;
}

int64_t SqliteTable::Integer(size_t column) const {
  const Field& field = fields_[column];
  if (field.bytes == 0) return field.serial == kOne ? 1 : 0;
  const char* const at = payload_.data() + field.at;
  // The first byte has the sign.
  int64_t number = static_cast<signed char>(*at);
  for (uint64_t i = 1; i < field.bytes; ++i)
    number = static_cast<int64_t>(static_cast<uint64_t>(number) << 8 |
                                  static_cast<unsigned char>(at[i]));
  return number;
}

double SqliteTable::Real(size_t column) const {
  return std::bit_cast<double>(static_cast<uint64_t>(Integer(column)));
}

}  // namespace gpuprof::analysis::import
