// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Inflates gzip, which it knows by the first bytes. Other bytes pass as they are.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/import/byte_source.h"

namespace gpuprof::analysis::import {

class InflatingSource : public ByteSource {
 public:
  // Takes `name` for errors. `inner` outlives this object.
  InflatingSource(ByteSource* inner, std::string name);
  ~InflatingSource() override;
  InflatingSource(const InflatingSource&) = delete;
  InflatingSource& operator=(const InflatingSource&) = delete;

  // Reads several members of gzip, one behind the other, as one text. A member that is cut or
  // damaged ends the text. Error: the source fails, or the bytes inflate beyond what any text does.
  Result<size_t> Read(char* to, size_t most) override;

  bool is_compressed() const { return is_compressed_; }
  // Returns whether the compressed bytes end too early or cannot be inflated.
  bool is_damaged() const { return is_damaged_; }
  // Counts the bytes behind the last member, zeros left out.
  uint64_t bytes_behind() const { return bytes_behind_; }

 private:
  struct Inflater;

  // Reads compressed bytes behind those that wait.
  Error Fill();
  Error Start();
  // Begins the next member. False: the bytes end, or something else follows.
  Result<bool> NextMember();
  Result<size_t> ReadPlain(char* to, size_t most);
  Result<size_t> Inflate(char* to, size_t most);

  ByteSource* inner_;
  std::string name_;
  std::unique_ptr<Inflater> inflater_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;  // the compressed bytes that wait in buffer_
  uint64_t bytes_in_ = 0, bytes_out_ = 0, bytes_behind_ = 0;
  bool has_started_ = false, is_compressed_ = false, is_damaged_ = false;
  bool is_in_member_ = false, has_ended_ = false, inner_ended_ = false;
};

}  // namespace gpuprof::analysis::import
