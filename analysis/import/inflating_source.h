// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Inflates gzip and zstd, which it knows by the first bytes. Other bytes pass as they are.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/import/byte_source.h"
#include "proto/codec/zstd_stream.h"

namespace gpuprof::analysis::import {

class InflatingSource : public ByteSource {
 public:
  // Takes `name` for errors. `inner` outlives this object.
  InflatingSource(ByteSource* inner, std::string name);
  ~InflatingSource() override;
  InflatingSource(const InflatingSource&) = delete;
  InflatingSource& operator=(const InflatingSource&) = delete;

  // Reads several members of gzip or frames of zstd, one behind the other, as one text. A member
  // that is cut or damaged ends the text. Error: the source fails, or the bytes inflate beyond what
  // any text does.
  Result<size_t> Read(char* to, size_t most) override;

  bool is_compressed() const { return is_compressed_; }
  // Returns whether the compressed bytes end too early or cannot be inflated.
  bool is_damaged() const { return is_damaged_; }
  // Counts the bytes behind the last member, zeros left out.
  uint64_t bytes_behind() const { return bytes_behind_; }
  // Counts the bytes of the source that were inflated.
  uint64_t bytes_used() const { return bytes_in_ - (end_ - begin_); }

  // Returns whether text begins as a compressed file that is inflated here.
  static bool IsCompressed(std::string_view text);
  // Returns why a text is refused that is so much larger than its file. None: it may be so large.
  static Error CheckRatio(const std::string& name, uint64_t bytes_in, uint64_t bytes_out);

 private:
  struct Gzip;
  enum class Format { kNone, kGzip, kZstd };
  struct Step {
    size_t used = 0, made = 0;
    bool has_ended = false, is_broken = false;
  };

  static Format FormatOf(std::string_view text);
  // Inflates from the bytes that wait, within a member.
  Step InflateStep(char* to, size_t most);
  // Reads compressed bytes behind those that wait.
  Error Fill();
  Error Start();
  // Begins the next member. False: the bytes end, or something else follows.
  Result<bool> NextMember();
  Result<size_t> ReadPlain(char* to, size_t most);
  Result<size_t> Inflate(char* to, size_t most);

  ByteSource* inner_;
  std::string name_;
  std::unique_ptr<Gzip> gzip_;
  std::unique_ptr<codec::ZstdStream> zstd_;
  Format format_ = Format::kNone;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;  // the compressed bytes that wait in buffer_
  uint64_t bytes_in_ = 0, bytes_out_ = 0, bytes_behind_ = 0;
  bool has_started_ = false, is_compressed_ = false, is_damaged_ = false;
  bool is_in_member_ = false, has_ended_ = false, inner_ended_ = false;
};

}  // namespace gpuprof::analysis::import
