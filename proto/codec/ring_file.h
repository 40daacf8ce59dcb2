// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the ring file of a dead process: its header and one ring at a time, copied into private
// memory and checked, so that nobody can change or cut what is being read. Recovery's; one thread.
// Never writes to the file.

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/codec/recover.h"
#include "proto/ring.h"

namespace gpuprof::codec {

class RingFile {
 public:
  enum class OpenResult { kOpen, kMissing, kBusy, kFailed };

  RingFile() = default;
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  // Opens and locks the file; waits for another that holds it. `error` says why not.
  OpenResult Open(const std::string& path, LockWait* wait, std::string* error);
  // The same without a lock, for a look at it: it may be recovered and removed meanwhile.
  OpenResult OpenToLook(const std::string& path, std::string* error);
  // Removes the file; the lock goes with it.
  bool Remove();

  bool has_header() const { return header_ != nullptr; }
  const proto::RingFileHeader& header() const { return *header_; }
  // The process died before it had written the header.
  bool is_blank() const { return is_blank_; }
  // Open failed because the header makes no sense. The file is locked all the same.
  bool is_damaged() const { return is_damaged_; }
  // Rings whose place in the file makes sense.
  size_t rings() const { return places_.size(); }
  // Rings in the directory that make none: they overlap, or the file was cut.
  uint32_t damaged_rings() const { return damaged_rings_; }

  // Copies the header page of ring `index`; null if it is damaged.
  const proto::RingHeader* LoadHeader(size_t index);
  // Copies the ring with its unread records. Null: damaged. Valid until the next Load.
  const proto::RingHeader* LoadRing(size_t index);

 private:
  struct Place {
    uint64_t offset;
    uint64_t bytes;
  };
  OpenResult ReadAllHeaders(const struct stat& file, std::string* error);
  bool ReadHeader(std::string* error);
  void ReadDirectory(uint64_t file_bytes);
  uint64_t ReadSome(uint64_t offset, void* to, uint64_t bytes) const;
  bool ReadAll(uint64_t offset, void* to, uint64_t bytes) const {
    return ReadSome(offset, to, bytes) == bytes;
  }
  bool IsSane(const proto::RingHeader& ring, const Place& place) const;

  std::string path_;
  int fd_ = -1;
  std::unique_ptr<proto::RingFileHeader> header_;
  std::vector<Place> places_;
  uint32_t damaged_rings_ = 0;
  bool is_blank_ = false;
  bool is_damaged_ = false;
  struct FreePages {
    void operator()(char* pages) const;
  };
  using Pages = std::unique_ptr<char[], FreePages>;
  static Pages MakePages(uint64_t bytes);

  Pages buffer_;
  uint64_t buffer_bytes_ = 0;
};

}  // namespace gpuprof::codec
