// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See zip_file.h.

#include "analysis/import/zip_file.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "analysis/import/inflating_source.h"
#include "analysis/import/random_bytes.h"

namespace gpuprof::analysis::import {
namespace {

// An archive of a stranger may list more files than anybody has.
constexpr size_t kMostMembers = 100'000;
constexpr size_t kMostNameBytes = 4096;
constexpr uLong kEncrypted = 1;
// An archive without members is the end of its list.
constexpr std::string_view kEmpty = "PK\x05\x06";

// The file as minizip reads it: opened by this program's own rules.
struct OpenFile {
  std::unique_ptr<RandomBytes> bytes;
  uint64_t at = 0;
  bool has_failed = false;
};

OpenFile* FileOf(voidpf stream) { return static_cast<OpenFile*>(stream); }

voidpf OpenAgain(voidpf opaque, const void*, int) { return opaque; }

uLong ReadBytes(voidpf, voidpf stream, void* to, uLong most) {
  OpenFile* const file = FileOf(stream);
  const Result<size_t> got = file->bytes->ReadAt(file->at, static_cast<char*>(to), most);
  file->has_failed = file->has_failed || !got.ok();
  if (!got.ok()) return 0;
  file->at += *got;
  return *got;
}

uLong WriteNothing(voidpf, voidpf, const void*, uLong) { return 0; }

ZPOS64_T Tell(voidpf, voidpf stream) { return FileOf(stream)->at; }

long Seek(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  OpenFile* const file = FileOf(stream);
  const uint64_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? file->at
                        : origin == ZLIB_FILEFUNC_SEEK_END ? file->bytes->size()
                                                           : 0;
  const uint64_t at = from + offset;
  if (at < from || at > file->bytes->size()) return -1;
  file->at = at;
  return 0;
}

int CloseNothing(voidpf, voidpf) { return 0; }

int HasFailed(voidpf, voidpf stream) { return FileOf(stream)->has_failed ? 1 : 0; }

// An open archive.
class Archive {
 public:
  Archive() = default;
  ~Archive() {
    if (zip_ != nullptr) unzClose(zip_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  Error Open(const codec::InputPath& path) {
    Result<std::unique_ptr<RandomBytes>> bytes = FileBytesAt::Open(path);
    if (!bytes.ok()) return bytes.error();
    file_.bytes = std::move(*bytes);
    zlib_filefunc64_def functions = {OpenAgain, ReadBytes,    WriteNothing, Tell,
                                     Seek,      CloseNothing, HasFailed,    &file_};
    zip_ = unzOpen2_64(path.path.c_str(), &functions);
    if (zip_ != nullptr) return {};
    char first[4] = {};
    const Result<size_t> got = file_.bytes->ReadAt(0, first, sizeof first);
    // minizip opens no archive without members.
    if (got.ok() && std::string_view(first, *got) == kEmpty) return {};
    return Unreadable(path.path + ": the list of this zip archive is missing: the file is cut or " +
                      "damaged; copy it again");
  }
  unzFile zip() const { return zip_; }

 private:
  OpenFile file_;
  unzFile zip_ = nullptr;
};

class MemberSource : public ByteSource {
 public:
  ~MemberSource() override {
    if (is_open_) unzCloseCurrentFile(archive_.zip());
  }

  Error Open(const codec::InputPath& path, const ZipMember& member) {
    name_ = path.path + ": " + member.name;
    if (Error error = archive_.Open(path)) return error;
    if (member.is_encrypted)
      return Unreadable(name_ +
                        ": this member is encrypted; unpack the archive, and name the file");
    unz_file_info64 info = {};
    if (unzSetOffset64(archive_.zip(), member.at) != UNZ_OK ||
        unzGetCurrentFileInfo64(archive_.zip(), &info, nullptr, 0, nullptr, 0, nullptr, 0) !=
            UNZ_OK) {
      return Unreadable(name_ + ": the archive has changed meanwhile; read it again");
    }
    packed_bytes_ = info.compressed_size;
    is_open_ = unzOpenCurrentFile(archive_.zip()) == UNZ_OK;
    if (is_open_) return {};
    return Unreadable(name_ +
                      ": this member is damaged, or compressed in a way that is not read here; "
                      "unpack the archive, and name the file");
  }

  Result<size_t> Read(char* to, size_t most) override {
    if (!is_open_) return size_t{0};
    constexpr size_t kMost = 1 << 30;
    const int got =
        unzReadCurrentFile(archive_.zip(), to, static_cast<unsigned>(std::min(most, kMost)));
    if (got < 0) return Damaged();
    bytes_ += static_cast<uint64_t>(got);
    if (Error error = InflatingSource::CheckRatio(name_, packed_bytes_, bytes_)) return error;
    if (got > 0) return static_cast<size_t>(got);
    // The sum of the bytes is compared now.
    is_open_ = false;
    if (unzCloseCurrentFile(archive_.zip()) != UNZ_OK) return Damaged();
    return size_t{0};
  }

 private:
  Error Damaged() const {
    return Unreadable(name_ + ": this member of the archive is cut or damaged behind byte " +
                      std::to_string(bytes_) + " of its text; copy the file again");
  }

  Archive archive_;
  std::string name_;
  uint64_t packed_bytes_ = 0, bytes_ = 0;
  bool is_open_ = false;
};

// Returns whether people put it into an archive. File managers add members of their own.
bool IsFile(const std::string& name) {
  const size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  return !last.empty() && last[0] != '.' && !name.starts_with("__MACOSX/");
}

}  // namespace

bool BeginsAsZip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with(kEmpty);
}

Result<std::vector<ZipMember>> ListZip(const codec::InputPath& path) {
  Archive archive;
  if (Error error = archive.Open(path)) return error;
  std::vector<ZipMember> members;
  unzFile zip = archive.zip();
  if (zip == nullptr) return members;
  int state = unzGoToFirstFile(zip);
  for (size_t i = 0; state == UNZ_OK && i < kMostMembers; ++i, state = unzGoToNextFile(zip)) {
    unz_file_info64 info = {};
    char name[kMostNameBytes] = {};
    if (unzGetCurrentFileInfo64(zip, &info, name, sizeof name - 1, nullptr, 0, nullptr, 0) !=
        UNZ_OK)
      break;
    if (IsFile(name))
      members.push_back(
          {name, unzGetOffset64(zip), info.uncompressed_size, (info.flag & kEncrypted) != 0});
  }
  std::sort(members.begin(), members.end(),
            [](const ZipMember& x, const ZipMember& y) { return x.name < y.name; });
  return members;
}

Result<std::unique_ptr<ByteSource>> OpenZipMember(const codec::InputPath& path,
                                                  const ZipMember& member) {
  auto source = std::make_unique<MemberSource>();
  if (Error error = source->Open(path, member)) return error;
  return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace gpuprof::analysis::import
