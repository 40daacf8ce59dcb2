// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a .gpt file: file header, then blocks, each with one writev, then the end marker. An index
// of the blocks comes before the end marker, and after each kBlocksPerIndex blocks, so that little
// is kept in memory. Blocks with work of GPUs are summed, too (proto/FORMAT.md, "Sums of work").
// Never rewrites earlier bytes.
//
// One thread at a time. Works in a foreign process: its descriptor may be closed or replaced behind
// its back, so every write first checks that the descriptor is still its file and otherwise opens
// the file again by path. A full disk or any write error makes it stop and count rows, never fail;
// it tries again at the next block. Into a file that was removed nothing is written: it would take
// room on the disk, and nobody could see it. No exceptions; memory comes from operator new.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/index_builder.h"
#include "proto/codec/work_sums_builder.h"
#include "proto/container.h"

namespace gpuprof::codec {

class KeptFolder;

// Whoever can free room on a full disk.
class RoomMaker {
 public:
  // True: there may be some now, the write is tried again. It must not write with the writer that
  // asks.
  virtual bool MakeRoom() = 0;

 protected:
  ~RoomMaker() = default;
};

class TraceWriter {
 public:
  TraceWriter();
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Creates the file with its header (mode 0600; magic, version and checksum are filled in here).
  // False: errno tells why (EEXIST if there is one already), no file of this name was left, and the
  // writer goes on with the one that it had, and its counts.
  // `given`: the path of a new file that another process has made for this one, and that lies at
  // `path`; "": this writer makes the file.
  bool Create(const char* path, const proto::FileHeader& header, const char* given = "");
  // Continues a file that was cut: `bytes` is the length of its readable part (the rest is
  // truncated), `next_sequence`, `blocks` and `rows` what it holds. For recovery.
  bool Continue(const char* path, uint64_t bytes, uint32_t next_sequence, uint64_t blocks,
                uint64_t rows);

  // Writes the builder's rows as one block and resets it. `ring_end`: see BlockHeader. False: not
  // written (rows are counted as lost, the builder is reset all the same).
  bool WriteEvents(ChunkBuilder* builder, uint32_t capture, uint64_t ring_end);
  // Writes one table: `field` is the number of the Chunk field (8 to 14) and `message` its
  // serialized bytes.
  bool WriteTable(proto::ChunkKind kind, uint32_t capture, int field, const uint8_t* message,
                  uint64_t bytes, uint32_t entries);
  // Resets the builder, its rows are lost: what they refer to could not be written, or they
  // themselves.
  void LoseEvents(ChunkBuilder* builder);
  void CountLost(uint64_t rows) { rows_lost_ += rows; }
  // Appends a block of another trace file: its header, which gets this file's next sequence number,
  // and the header.compressed_bytes behind it.
  bool CopyBlock(proto::BlockHeader header, const uint8_t* body);
  // Leaves a hole in the numbers of the blocks, by which readers see that some are missing here.
  void LeaveHole() { ++sequence_; }
  // The number of the next block, holes counted in.
  uint32_t next_sequence() const { return sequence_; }
  // So many had been written: those that are not here any more leave a hole.
  void ExpectBlocks(uint64_t number) {
    constexpr uint64_t kMost = 1u << 31;  // a damaged file may claim anything
    if (sequence_ < number && number < kMost) sequence_ = static_cast<uint32_t>(number);
  }
  // Writes the index of the last blocks and the end marker. An index that cannot be written is left
  // out.
  bool WriteEnd(proto::EndMarker marker);
  // Leaves out the index of every file from now on.
  void WriteNoIndex() { wants_index_ = has_index_ = false; }
  // Adds a block that a continued file has already to its index. Call this after Continue for every
  // block, in their order. Otherwise a continued file has no index.
  void IndexBlock(const proto::BlockHeader& header, uint64_t offset) {
    has_index_ = wants_index_;
    if (has_index_) index_.Add(header, offset);
  }
  // Where the process may not write longer files (ulimit -f), blocks leave so much room for those
  // that follow, beside that for the end.
  void KeepRoom(uint64_t bytes) { room_kept_ = bytes; }
  // Who is asked when the disk is full (or the quota), for every file of this writer.
  void AskForRoom(RoomMaker* maker) { room_maker_ = maker; }
  // Reaches its files in `folder`, which outlives it.
  void LiveIn(KeptFolder* folder) { folder_ = folder; }
  // Takes no more blocks into this file: each fails with `error`. 0: takes them again.
  void Refuse(int error) { refusal_ = error; }
  bool refuses() const { return refusal_ != 0; }

  // Whether the calling thread can write: with the descriptor at hand if its table has it, else
  // with one that it opens. Not every thread of a process has the same table.
  bool CanWriteHere() { return EnsureDescriptor(); }

  // Forgets the file without touching it (a forked child).
  void Abandon();
  void Close();
  bool is_open() const { return path_[0] != 0; }

  uint64_t bytes_written() const { return bytes_written_; }
  // Length of the file, as far as it is whole.
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t rows_in_file() const { return rows_in_file_; }
  uint64_t rows_written() const { return rows_written_; }
  uint64_t rows_lost() const { return rows_lost_; }
  // errno of the last failed write, EIDRM where the file was removed; 0 when the last one
  // succeeded.
  int last_error() const { return last_error_; }
  uint64_t memory_bytes() const;

  static constexpr uint32_t kBlocksPerIndex = 512;

 private:
  void Reset();
  bool Adopt(int fd);
  bool Make(const char* path, const proto::FileHeader& header, const char* given);
  bool EnsureDescriptor();
  bool Reopen();
  bool CutTornTail(uint64_t size);
  bool WriteAll(const uint8_t* data, uint64_t bytes);
  bool WriteBlock(proto::BlockHeader* header);
  bool AppendBlock(proto::BlockHeader* header);
  bool LeavesRoomForEnd(uint64_t bytes) const;
  void WriteIndex();
  void WriteSums();
  bool WriteOneIndex();
  bool Compress(uint64_t* bytes);
  uint64_t CompressBySeams(uint8_t* out, uint64_t room);
  bool Fail(int error);

  int fd_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  bool has_link_count_ = false;  // some file systems have none
  char path_[1024] = {};
  char given_[64] = {};  // another path of the same file, which needs no right to the folder
  uint32_t sequence_ = 0;
  uint64_t blocks_ = 0;
  uint64_t file_bytes_ = 0;  // whole blocks; what the file holds beyond is torn
  uint64_t bytes_written_ = 0;
  uint64_t room_kept_ = 0;
  RoomMaker* room_maker_ = nullptr;
  KeptFolder* folder_ = nullptr;
  int refusal_ = 0;
  IndexBuilder index_;     // blocks that no index has yet
  uint64_t index_at_ = 0;  // offset of the last index
  bool wants_index_ = true;
  bool has_index_ = true;  // the indexes and index_ have all blocks of the file
  WorkSumsBuilder sums_;   // of blocks that no table has the sums of yet
  uint64_t rows_in_file_ = 0;
  uint64_t rows_written_ = 0;
  uint64_t rows_lost_ = 0;
  int last_error_ = 0;
  void* compressor_ = nullptr;  // ZSTD_CCtx
  std::vector<uint8_t> raw_;
  std::vector<uint64_t> seams_;  // in raw_; empty: it is compressed in one go
  std::vector<uint8_t> compressed_;
};

}  // namespace gpuprof::codec
