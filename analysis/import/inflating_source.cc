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

struct InflatingSource::Gzip {
  z_stream stream = {};
  bool is_ready = false;
  bool Start() {
    const int result = is_ready ? inflateReset(&stream) : inflateInit2(&stream, kGzipWindow);
    is_ready = is_ready || result == Z_OK;
    return result == Z_OK;
  }
  ~Gzip() {
    if (is_ready) inflateEnd(&stream);
  }
};

InflatingSource::InflatingSource(ByteSource* inner, std::string name)
    : inner_(inner),
      name_(std::move(name)),
      gzip_(new Gzip),
      zstd_(new codec::ZstdStream),
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
  const Result<bool> has_member = NextMember();
  if (!has_member.ok()) return has_member.error();
  is_compressed_ = *has_member;
  has_ended_ = false;
  return {};
}

Result<bool> InflatingSource::NextMember() {
  while (end_ - begin_ < codec::ZstdStream::kMagicBytes && !inner_ended_) {
    if (Error error = Fill()) return error;
  }
  format_ = FormatOf({buffer_.get() + begin_, end_ - begin_});
  if (format_ == Format::kNone) return false;
  if (!(format_ == Format::kGzip ? gzip_->Start() : zstd_->Start()))
    return Unreadable(name_ + ": there is no memory to inflate it; free some");
  is_in_member_ = true;
  return true;
}

InflatingSource::Format InflatingSource::FormatOf(std::string_view text) {
  if (text.starts_with("\x1f\x8b")) return Format::kGzip;
  return codec::ZstdStream::Begins(text) ? Format::kZstd : Format::kNone;
}

bool InflatingSource::IsCompressed(std::string_view text) {
  return FormatOf(text) != Format::kNone;
}

Error InflatingSource::CheckRatio(const std::string& name, uint64_t bytes_in, uint64_t bytes_out) {
  if (bytes_out <= kMostRatio * bytes_in + kAlwaysAllowed) return {};
  return Unreadable(name +
                    ": the compressed bytes inflate to more than 1,000 times their size, as no "
                    "trace does; inflate the file yourself if it is one");
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

InflatingSource::Step InflatingSource::InflateStep(char* to, size_t most) {
  const std::string_view in(buffer_.get() + begin_, end_ - begin_);
  if (format_ == Format::kZstd) {
    const codec::ZstdStream::Step step = zstd_->Run(in, to, most);
    return {step.used, step.made, step.state == codec::ZstdStream::State::kFrameEnds,
            step.state == codec::ZstdStream::State::kBroken};
  }
  z_stream& stream = gzip_->stream;
  // zlib does not change the input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(most);
  const int result = inflate(&stream, Z_NO_FLUSH);
  return {in.size() - stream.avail_in, most - stream.avail_out, result == Z_STREAM_END,
          result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR};
}

Result<size_t> InflatingSource::Inflate(char* to, size_t most) {
  most = std::min<size_t>(most, size_t{1} << 30);
  while (!has_ended_) {
    if (begin_ == end_) {
      if (Error error = Fill()) return error;
    }
    if (!is_in_member_) {
      const Result<bool> has_member = NextMember();
      if (!has_member.ok()) return has_member.error();
      if (!*has_member) break;
    }
    const Step step = InflateStep(to, most);
    begin_ += step.used;
    bytes_out_ += step.made;
    if (step.has_ended) is_in_member_ = false;
    const bool is_out_of_bytes =
        !step.has_ended && step.made == 0 && inner_ended_ && begin_ == end_;
    if (is_out_of_bytes || step.is_broken) is_damaged_ = has_ended_ = true;
    if (Error error = CheckRatio(name_, bytes_in_, bytes_out_)) return error;
    if (step.made != 0) return step.made;
  }
  // The rest is not compressed. Zeros fill up the last block on a tape, so they need no word.
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
