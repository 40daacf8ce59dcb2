// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See output_file.h.

#include "launcher/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "launcher/base/text.h"

namespace gpuprof::launcher {

struct OutputFile::Deflater {
  z_stream stream = {};
  bool is_ready = false;
  char room[64 * 1024];
  ~Deflater() {
    if (is_ready) deflateEnd(&stream);
  }
};

namespace {
constexpr char kRemedy[] = "; remove it, or name another file with -o FILE";
}

OutputFile::OutputFile() = default;

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (has_name_) unlink(path_.c_str());
}

// A file without a name leaves nothing behind if the command is killed. Not every file system has
// such files.
bool OutputFile::CreateUnnamed() {
  const size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  fd_ = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  return fd_ >= 0;
}

bool OutputFile::GiveName() {
  const std::string link = "/proc/self/fd/" + std::to_string(fd_);
  if (linkat(AT_FDCWD, link.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  fault_ = errno == EEXIST ? path_ + " exists meanwhile" + kRemedy
                           : path_ + " cannot be created: " + std::strerror(errno);
  return false;
}

std::string OutputFile::Create(const std::string& path, bool is_compressed) {
  path_ = path;
  is_stdout_ = path == "-";
  if (is_stdout_) return is_compressed ? BeginCompressing() : "";
  struct stat status;
  if (lstat(path.c_str(), &status) == 0) return path + " exists already" + kRemedy;
  has_name_ = access("/proc/self/fd", X_OK) != 0 || !CreateUnnamed();
  if (has_name_) fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0 && errno == EEXIST) return path + " exists already" + kRemedy;
  if (fd_ < 0) return path + " cannot be created: " + std::strerror(errno);
  return is_compressed || path.ends_with(".gz") ? BeginCompressing() : "";
}

std::string OutputFile::BeginCompressing() {
  constexpr int kGzip = 16 + MAX_WBITS, kMemory = 8;
  deflater_ = std::make_unique<Deflater>();
  deflater_->is_ready = deflateInit2(&deflater_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip,
                                     kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  return deflater_->is_ready ? "" : "not enough memory to compress " + path_;
}

bool OutputFile::Write(std::string_view text) {
  if (!fault_.empty()) return false;
  return deflater_ == nullptr ? WriteBytes(text) : Compress(text, false);
}

bool OutputFile::WriteBytes(std::string_view bytes) {
  if (is_stdout_) {
    PutBytes(bytes);
    return true;
  }
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fault_ = path_ + " cannot be written: " + std::strerror(errno);
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool OutputFile::Compress(std::string_view text, bool is_end) {
  z_stream& stream = deflater_->stream;
  do {
    const size_t piece =
        text.size() < std::numeric_limits<uInt>::max() ? text.size() : size_t{1} << 30;
    // zlib does not change the input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(piece);
    text.remove_prefix(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(deflater_->room);
      stream.avail_out = sizeof(deflater_->room);
      deflate(&stream, is_end ? Z_FINISH : Z_NO_FLUSH);
      if (!WriteBytes({deflater_->room, sizeof(deflater_->room) - stream.avail_out})) return false;
    } while (stream.avail_out == 0);
  } while (!text.empty());
  return true;
}

std::string OutputFile::Finish() {
  if (fault_.empty() && deflater_ != nullptr) Compress("", true);
  if (is_stdout_) return "";
  if (!fault_.empty() || (!has_name_ && !GiveName())) return fault_;
  const bool is_closed = close(fd_) == 0;
  fd_ = -1;
  if (is_closed) return "";
  unlink(path_.c_str());
  return path_ + " cannot be written: " + std::strerror(errno);
}

}  // namespace gpuprof::launcher
