// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See inflating_source.h.

#include "analysis/import/inflating_source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
// Traces of events inflate to 10 to 40 times their size. Deflate allows a little more than 1,000.
constexpr uint64_t kMostRatio = 1000;
constexpr uint64_t kAlwaysAllowed = uint64_t{1} << 30;
// Bits of zlib's window, and the flag that asks for gzip.
constexpr int kGzipWindow = 15 + 16;

}  // namespace

struct InflatingSource::Inflater {
  z_stream stream = {};
  bool is_ready = false;
  ~Inflater() {
    if (is_ready) inflateEnd(&stream);
  }
};

InflatingSource::InflatingSource(ByteSource* inner, std::string name)
    : inner_(inner),
      name_(std::move(name)),
      inflater_(new Inflater),
      buffer_(new char[kBufferBytes]) {}

InflatingSource::~InflatingSource() = default;

Error InflatingSource::Fill() {
  if (inner_ended_ || end_ - begin_ == kBufferBytes) return {};
  if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const Result<size_t> got = inner_->Read(buffer_.get() + end_, kBufferBytes - end_);
  if (!got.ok()) return got.error();
  end_ += *got;
  bytes_in_ += *got;
  inner_ended_ = *got == 0;
  return {};
}

Error InflatingSource::Start() {
  has_started_ = true;
  const Result<bool> is_gzip = NextMember();
  if (!is_gzip.ok()) return is_gzip.error();
  is_compressed_ = *is_gzip;
  has_ended_ = false;
  return {};
}

Result<bool> InflatingSource::NextMember() {
  while (end_ - begin_ < 2 && !inner_ended_) {
    if (Error error = Fill()) return error;
  }
  const auto* next = reinterpret_cast<const unsigned char*>(buffer_.get() + begin_);
  if (end_ - begin_ < 2 || next[0] != 0x1f || next[1] != 0x8b) return false;
  z_stream& stream = inflater_->stream;
  const int result =
      inflater_->is_ready ? inflateReset(&stream) : inflateInit2(&stream, kGzipWindow);
  if (result != Z_OK) return Unreadable(name_ + ": zlib cannot start; free some memory");
  inflater_->is_ready = true;
  is_in_member_ = true;
  return true;
}

Result<size_t> InflatingSource::Read(char* to, size_t most) {
  if (!has_started_) {
    if (Error error = Start()) return error;
  }
  if (most == 0) return size_t{0};
  return is_compressed_ ? Inflate(to, most) : ReadPlain(to, most);
}

Result<size_t> InflatingSource::ReadPlain(char* to, size_t most) {
  if (begin_ == end_) return inner_->Read(to, most);
  const size_t bytes = std::min(most, end_ - begin_);
  std::memcpy(to, buffer_.get() + begin_, bytes);
  begin_ += bytes;
  return bytes;
}

Result<size_t> InflatingSource::Inflate(char* to, size_t most) {
  most = std::min<size_t>(most, size_t{1} << 30);
  z_stream& stream = inflater_->stream;
  while (!has_ended_) {
    if (begin_ == end_) {
      if (Error error = Fill()) return error;
    }
    if (!is_in_member_) {
      const Result<bool> is_gzip = NextMember();
      if (!is_gzip.ok()) return is_gzip.error();
      if (!*is_gzip) break;
    }
    stream.next_in = reinterpret_cast<Bytef*>(buffer_.get() + begin_);
    stream.avail_in = static_cast<uInt>(end_ - begin_);
    stream.next_out = reinterpret_cast<Bytef*>(to);
    stream.avail_out = static_cast<uInt>(most);
    const int result = inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    const size_t made = most - stream.avail_out;
    bytes_out_ += made;
    if (result == Z_STREAM_END) is_in_member_ = false;
    const bool is_out_of_bytes = result == Z_BUF_ERROR && inner_ended_ && begin_ == end_;
    if (is_out_of_bytes || (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR))
      is_damaged_ = has_ended_ = true;
    if (bytes_out_ > kMostRatio * bytes_in_ + kAlwaysAllowed) {
      return Unreadable(name_ +
                        ": the compressed bytes inflate to more than 1,000 times their size, as no "
                        "trace does; inflate the file yourself if it is one");
    }
    if (made != 0) return made;
  }
  // The rest is no gzip. Zeros fill up the last block on a tape, so they need no word.
  while (!is_damaged_ && !inner_ended_ && !has_ended_) {
    bytes_behind_ +=
        end_ - begin_ -
        static_cast<size_t>(std::count(buffer_.get() + begin_, buffer_.get() + end_, '\0'));
    begin_ = end_;
    if (Error error = Fill()) return error;
  }
  has_ended_ = true;
  return size_t{0};
}

}  // namespace gpuprof::analysis::import
