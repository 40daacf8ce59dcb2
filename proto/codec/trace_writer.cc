// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Frames, compresses and appends blocks. In a foreign process: descriptors are distrusted, errors
// end in counters, the file always ends in a whole block (or is cut back to one before the next
// write). The caller's thread has SIGXFSZ blocked or ignored.

#include "proto/codec/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "proto/codec/crc32c.h"
#include "proto/codec/high_descriptor.h"
#include "proto/codec/kept_folder.h"
#include "proto/codec/tables.h"
#include "proto/schema.h"

namespace gpuprof::codec {
namespace {

constexpr int kCompressionLevel = 1;
// A column of so many bytes is worth a block of its own in its frame, with its own code table. Of
// real kernels in chunks of 700 to 4400 that saves 6 to 11 %, of calls up to 4 %; where a chunk is
// short or nothing in it repeats it costs up to 2 %.
constexpr uint64_t kOwnBlockBytes = 1024;
constexpr size_t kMostBytesOfASeam = 64;  // that it adds to the bound of the compressed size
constexpr uint64_t kFrontBytes = proto::kBlockFrontBytes;

void* ZstdAllocate(void*, size_t bytes) { return ::operator new(bytes); }
void ZstdFree(void*, void* at) { ::operator delete(at); }

}  // namespace

TraceWriter::TraceWriter() = default;

TraceWriter::~TraceWriter() {
  Close();
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compressor_));
}

bool TraceWriter::Fail(int error) {
  last_error_ = error;
  errno = error;
  return false;
}

// Takes a freshly opened descriptor of the file and remembers which file that is.
bool TraceWriter::Adopt(int fd) {
  struct stat status;
  if (!Stat(fd, &status) || !S_ISREG(status.st_mode)) {
    close(fd);
    return Fail(EINVAL);
  }
  fd_ = MoveHigh(fd);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  has_link_count_ = status.st_nlink != 0;
  return true;
}

// Of a writer that has no file.
bool TraceWriter::Make(const char* path, const proto::FileHeader& header, const char* given) {
  if (std::strlen(path) >= sizeof path_ || std::strlen(given) >= sizeof given_)
    return Fail(ENAMETOOLONG);
  std::strcpy(given_, given);
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  int fd = -1;
  if (given_[0] != 0) {
    fd = open(given_, O_WRONLY | O_APPEND | O_CLOEXEC);
  } else {
    fd = folder_ != nullptr ? folder_->Open(path, kFlags, 0600) : open(path, kFlags, 0600);
  }
  if (fd < 0) return Fail(errno);
  // A strict umask (0777) would keep its own maker from reading it.
  struct stat status;
  if (Stat(fd, &status) && (status.st_mode & 0600) != 0600) fchmod(fd, 0600);
  if (!Adopt(fd)) return false;
  std::strcpy(path_, path);
  struct {
    proto::SkippableHeader frame;
    proto::FileHeader header;
  } front = {{proto::kSkippableFileHeader, sizeof(proto::FileHeader)}, header};
  static_assert(sizeof front == sizeof(proto::SkippableHeader) + sizeof(proto::FileHeader));
  std::memcpy(front.header.magic, proto::kFileMagic, sizeof front.header.magic);
  front.header.major = proto::kFormatMajor;
  front.header.minor = proto::kFormatMinor;
  front.header.features = proto::kKnownFeatures;
  front.header.crc = HeaderCrc(front.header);
  if (WriteAll(reinterpret_cast<const uint8_t*>(&front), sizeof front)) return true;
  const int error = last_error_;
  if (folder_ != nullptr) {
    folder_->Unlink(path);
  } else {
    unlink(path);
  }
  Close();
  return Fail(error);
}

// A disk may have room for a file's name and none for its header: until that is written, the file
// at hand stays the writer's.
bool TraceWriter::Create(const char* path, const proto::FileHeader& header, const char* given) {
  TraceWriter made;
  made.folder_ = folder_;
  if (!made.Make(path, header, given)) return Fail(made.last_error_);
  Close();
  Reset();
  fd_ = made.fd_;
  device_ = made.device_;
  inode_ = made.inode_;
  has_link_count_ = made.has_link_count_;
  std::strcpy(path_, made.path_);
  std::strcpy(given_, made.given_);
  file_bytes_ = made.file_bytes_;
  bytes_written_ = made.bytes_written_;
  made.fd_ = -1;
  return true;
}

bool TraceWriter::Continue(const char* path, uint64_t bytes, uint32_t next_sequence,
                           uint64_t blocks, uint64_t rows) {
  if (std::strlen(path) >= sizeof path_) return Fail(ENAMETOOLONG);
  const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Fail(errno);
  Close();
  Reset();
  if (!Adopt(fd)) return false;
  if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    Close();
    return Fail(error);
  }
  std::strcpy(path_, path);
  file_bytes_ = bytes;
  sequence_ = next_sequence;
  blocks_ = blocks;
  has_index_ = wants_index_ && blocks == 0;
  rows_in_file_ = rows;
  return true;
}

bool TraceWriter::Reopen() {
  // The number at hand may be a stranger's in this thread's table, and good in another's: it is
  // neither closed nor forgotten.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  int fd = -1;
  if (given_[0] != 0) {
    fd = open(given_, kFlags & ~O_NOFOLLOW);
  } else {
    fd = folder_ != nullptr ? folder_->Open(path_, kFlags) : open(path_, kFlags);
  }
  if (fd < 0) return Fail(errno);
  struct stat status;
  if (!Stat(fd, &status) || status.st_dev != device_ || status.st_ino != inode_) {
    close(fd);
    return Fail(ESTALE);
  }
  fd_ = MoveHigh(fd);
  return true;
}

// An earlier write stopped half-way and could not be taken back then.
bool TraceWriter::CutTornTail(uint64_t size) {
  if (size == file_bytes_) return true;
  if (size < file_bytes_)
    return Fail(ESTALE);  // somebody truncated it: what follows would have no start
  if (ftruncate(fd_, static_cast<off_t>(file_bytes_)) != 0) return Fail(errno);
  return true;
}

bool TraceWriter::EnsureDescriptor() {
  if (path_[0] == 0) return Fail(EBADF);
  struct stat status;
  if (fd_ < 0 || !Stat(fd_, &status) || status.st_dev != device_ || status.st_ino != inode_) {
    if (!Reopen()) return false;
    if (!Stat(fd_, &status)) return Fail(errno);
  }
  if (has_link_count_ && status.st_nlink == 0) return Fail(EIDRM);
  return CutTornTail(static_cast<uint64_t>(status.st_size));
}

// All of it or nothing.
bool TraceWriter::WriteAll(const uint8_t* data, uint64_t bytes) {
  if (!EnsureDescriptor()) return false;
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t written = write(fd_, data + done, bytes - done);
    if (written > 0) {
      done += static_cast<uint64_t>(written);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    const int error = written < 0 ? errno : ENOSPC;
    const bool is_full = error == ENOSPC || error == EDQUOT;
    if (is_full && room_maker_ != nullptr && room_maker_->MakeRoom()) continue;
    // If this fails too, the next write finds a file that is too long and tries again.
    if (done != 0 && ftruncate(fd_, static_cast<off_t>(file_bytes_)) != 0) errno = error;
    return Fail(error);
  }
  file_bytes_ += bytes;
  bytes_written_ += bytes;
  last_error_ = 0;
  return true;
}

// raw_ into compressed_, behind the room for the block's headers.
bool TraceWriter::Compress(uint64_t* bytes) {
  if (compressor_ == nullptr) {
    ZSTD_CCtx* made = ZSTD_createCCtx_advanced({ZstdAllocate, ZstdFree, nullptr});
    if (made == nullptr) return Fail(ENOMEM);
    compressor_ = made;
    ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, kCompressionLevel);
    ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(made, ZSTD_c_contentSizeFlag, 1);
  }
  if (raw_.size() > proto::kMaxRawChunkBytes) return Fail(EFBIG);
  const uint64_t bound =
      kFrontBytes + ZSTD_compressBound(raw_.size()) + seams_.size() * kMostBytesOfASeam;
  if (compressed_.size() < bound) compressed_.resize(bound);
  uint8_t* out = compressed_.data() + kFrontBytes;
  const size_t room = compressed_.size() - kFrontBytes;
  const size_t size = seams_.empty() ? ZSTD_compress2(static_cast<ZSTD_CCtx*>(compressor_), out,
                                                      room, raw_.data(), raw_.size())
                                     : CompressBySeams(out, room);
  if (ZSTD_isError(size)) return Fail(ENOMEM);
  if (size > proto::kMaxCompressedChunkBytes) return Fail(EFBIG);
  *bytes = size;
  return true;
}

// As ZSTD_compress2, but at the seams of long columns the frame begins a new block.
uint64_t TraceWriter::CompressBySeams(uint8_t* out, uint64_t room) {
  ZSTD_CCtx* const compressor = static_cast<ZSTD_CCtx*>(compressor_);
  ZSTD_CCtx_reset(compressor, ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(compressor, raw_.size());
  ZSTD_outBuffer to = {out, room, 0};
  ZSTD_inBuffer from = {raw_.data(), 0, 0};
  seams_.push_back(raw_.size());
  for (size_t i = 0, begin = 0; i < seams_.size(); begin = seams_[i++]) {
    const bool is_last = i + 1 == seams_.size();
    const uint64_t next = is_last ? 0 : seams_[i + 1] - seams_[i];
    if (!is_last && seams_[i] - begin < kOwnBlockBytes && next < kOwnBlockBytes) continue;
    from.size = seams_[i];
    size_t left = 1;
    while (left != 0) {
      left = ZSTD_compressStream2(compressor, &to, &from, is_last ? ZSTD_e_end : ZSTD_e_flush);
      if (ZSTD_isError(left)) return left;
      // There is room for everything: without this it would turn for ever if there were not.
      if (left != 0 && to.pos == to.size) return static_cast<size_t>(-1);
    }
  }
  return to.pos;
}

bool TraceWriter::WriteBlock(proto::BlockHeader* header) {
  // Nothing is compressed in vain, and of a file that was removed that is the reason given.
  if (!EnsureDescriptor()) return false;
  if (refusal_ != 0) return Fail(refusal_);
  uint64_t bytes = 0;
  if (!Compress(&bytes)) return false;
  header->compressed_bytes = static_cast<uint32_t>(bytes);
  header->raw_bytes = static_cast<uint32_t>(raw_.size());
  return AppendBlock(header);
}

// A process that may write no longer files (ulimit -f) may have its rings in memory: nobody could
// tell later that a trace without an end is all there is.
bool TraceWriter::LeavesRoomForEnd(uint64_t bytes) const {
  constexpr uint64_t kEndBytes = sizeof(proto::SkippableHeader) + sizeof(proto::EndMarker);
  const uint64_t wanted = bytes + room_kept_ + kEndBytes;
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
         (limit.rlim_cur >= wanted && limit.rlim_cur - wanted >= file_bytes_);
}

// The body is in compressed_ already, behind the room for the headers.
bool TraceWriter::AppendBlock(proto::BlockHeader* header) {
  header->sequence = sequence_;
  header->reserved = 0;
  header->crc = HeaderCrc(*header);
  const proto::SkippableHeader frame = {proto::kSkippableBlockHeader, sizeof *header};
  std::memcpy(compressed_.data(), &frame, sizeof frame);
  std::memcpy(compressed_.data() + sizeof frame, header, sizeof *header);
  const uint64_t bytes = kFrontBytes + header->compressed_bytes;
  if (!LeavesRoomForEnd(bytes)) return Fail(EFBIG);
  if (!WriteAll(compressed_.data(), bytes)) return false;
  ++sequence_;
  ++blocks_;
  if (has_index_) index_.Add(*header, file_bytes_ - header->compressed_bytes);
  if (index_.blocks() >= kBlocksPerIndex) WriteIndex();
  return true;
}

// Writes an index of the first blocks that no index has yet.
bool TraceWriter::WriteOneIndex() {
  struct {
    proto::SkippableHeader frame;
    proto::IndexHeader header;
  } front = {};
  static_assert(sizeof front == sizeof front.frame + sizeof front.header);
  static_assert(sizeof front <= kFrontBytes);
  raw_.clear();
  seams_.clear();
  front.header.previous = index_at_;
  front.header.blocks = index_.Take(kBlocksPerIndex, &raw_);
  front.header.raw_bytes = static_cast<uint32_t>(raw_.size());
  front.header.crc = HeaderCrc(front.header);
  uint64_t bytes = 0;
  if (!Compress(&bytes)) return false;
  front.frame = {proto::kSkippableIndex, static_cast<uint32_t>(sizeof front.header + bytes)};
  uint8_t* const begin = compressed_.data() + kFrontBytes - sizeof front;
  std::memcpy(begin, &front, sizeof front);
  bytes += sizeof front;
  const uint64_t at = file_bytes_;
  if (!LeavesRoomForEnd(bytes) || !WriteAll(begin, bytes)) return false;
  index_at_ = at;
  return true;
}

// The blocks are in the file already. So what fails here costs the index and nothing else, and
// nobody is asked for room.
void TraceWriter::WriteIndex() {
  RoomMaker* const room_maker = room_maker_;
  room_maker_ = nullptr;
  while (has_index_ && index_.blocks() != 0) has_index_ = WriteOneIndex();
  room_maker_ = room_maker;
  if (!has_index_) index_.Clear();
  last_error_ = 0;
}

// The blocks are in the file already. So what fails here costs the sums and nothing else, and
// nobody is asked for room.
void TraceWriter::WriteSums() {
  std::vector<uint8_t> message;
  const uint32_t groups = sums_.Take(sequence_, &message);
  if (groups == 0) return;
  RoomMaker* const room_maker = room_maker_;
  room_maker_ = nullptr;
  WriteTable(proto::ChunkKind::kWorkSums, sums_.capture(), chunk_field::kWorkSums, message.data(),
             message.size(), groups);
  room_maker_ = room_maker;
  last_error_ = 0;
}

bool TraceWriter::CopyBlock(proto::BlockHeader header, const uint8_t* body) {
  const uint64_t bytes = kFrontBytes + header.compressed_bytes;
  if (compressed_.size() < bytes) compressed_.resize(bytes);
  std::memcpy(compressed_.data() + kFrontBytes, body, header.compressed_bytes);
  if (!AppendBlock(&header)) return false;
  if (proto::FindTable(static_cast<proto::ChunkKind>(header.kind)) != nullptr) {
    rows_in_file_ += header.count;
  }
  return true;
}

bool TraceWriter::WriteEvents(ChunkBuilder* builder, uint32_t capture, uint64_t ring_end) {
  proto::BlockHeader header = {};
  header.kind = static_cast<uint16_t>(builder->kind());
  header.capture = static_cast<uint16_t>(capture);
  header.track = builder->track();
  header.count = builder->count();
  header.first_time = builder->first_time();
  header.last_time = builder->last_time();
  header.dropped_before = builder->dropped_before();
  header.ring_end = ring_end;
  const uint32_t sampled_one_in = builder->sampled_one_in();
  raw_.clear();
  seams_.clear();
  builder->Finish(capture, &raw_, builder->has_long_columns() ? &seams_ : nullptr);
  if (header.count > proto::kMaxRowsPerChunk) Fail(EFBIG);
  if (header.count > proto::kMaxRowsPerChunk || !WriteBlock(&header)) {
    rows_lost_ += header.count;
    return false;
  }
  rows_written_ += header.count;
  rows_in_file_ += header.count;
  if (builder->sums() != nullptr) {
    sums_.Add(header, sampled_one_in, *builder->sums());
    if (sums_.is_due()) WriteSums();
  }
  return true;
}

void TraceWriter::LoseEvents(ChunkBuilder* builder) {
  rows_lost_ += builder->count();
  raw_.clear();
  builder->Finish(0, &raw_, nullptr);
}

bool TraceWriter::WriteTable(proto::ChunkKind kind, uint32_t capture, int field,
                             const uint8_t* message, uint64_t bytes, uint32_t entries) {
  proto::BlockHeader header = {};
  header.kind = static_cast<uint16_t>(kind);
  header.capture = static_cast<uint16_t>(capture);
  header.count = entries;
  raw_.clear();
  seams_.clear();
  raw_.reserve(bytes + 64);
  PbWriter writer(&raw_);
  const uint64_t chunk = writer.Begin(chunk_field::kTraceChunk);
  writer.Varint(chunk_field::kKind, header.kind);
  writer.Varint(chunk_field::kCount, entries);
  writer.Varint(chunk_field::kCapture, header.capture);
  writer.Bytes(field, message, bytes);
  writer.End(chunk);
  return WriteBlock(&header);
}

bool TraceWriter::WriteEnd(proto::EndMarker marker) {
  WriteSums();
  if (index_.blocks() != 0) WriteIndex();
  marker.blocks = blocks_;
  marker.rows = rows_in_file_;
  marker.index = has_index_ ? index_at_ : 0;
  marker.crc = HeaderCrc(marker);
  struct {
    proto::SkippableHeader frame;
    proto::EndMarker marker;
  } end = {{proto::kSkippableEnd, sizeof marker}, marker};
  static_assert(sizeof end == sizeof(proto::SkippableHeader) + sizeof(proto::EndMarker));
  return WriteAll(reinterpret_cast<const uint8_t*>(&end), sizeof end);
}

void TraceWriter::Close() {
  struct stat status;
  if (fd_ >= 0 && Stat(fd_, &status) && status.st_dev == device_ && status.st_ino == inode_) {
    close(fd_);
  }
  fd_ = -1;
  path_[0] = 0;
}

// The child's copy of the descriptor goes; the file and its offset are the parent's.
void TraceWriter::Abandon() {
  Close();
  Reset();
}

void TraceWriter::Reset() {
  sequence_ = 0;
  blocks_ = file_bytes_ = bytes_written_ = 0;
  rows_in_file_ = rows_written_ = rows_lost_ = 0;
  index_.Clear();
  index_at_ = 0;
  sums_.Clear();
  has_index_ = wants_index_;
  last_error_ = 0;
  refusal_ = 0;
}

uint64_t TraceWriter::memory_bytes() const {
  uint64_t bytes = sizeof(*this) + raw_.capacity() + compressed_.capacity() +
                   seams_.capacity() * sizeof(uint64_t) + index_.memory_bytes() +
                   sums_.memory_bytes();
  if (compressor_ != nullptr) bytes += ZSTD_sizeof_CCtx(static_cast<ZSTD_CCtx*>(compressor_));
  return bytes;
}

}  // namespace gpuprof::codec
