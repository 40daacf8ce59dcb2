// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See own_file.h.

#include "analysis/read/own_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/read/input_file.h"
#include "proto/codec/trace_bytes.h"
#include "proto/codec/trace_reader.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

// A manifest is smaller. Read one byte more to tell.
constexpr uint64_t kMostManifestBytes = 64u << 20;

// Reads a manifest from its beginning.
Error ReadManifest(const OwnFile& own, const std::string& path, proto::Bundle* manifest) {
  const uint64_t size = std::min(static_cast<uint64_t>(own.status.st_size), kMostManifestBytes + 1);
  const Result<FileBytes> bytes = ReadOpenFile(own.file.fd(), path, size);
  if (!bytes.ok()) return Unreadable(CauseOf(bytes.error(), path));
  const bool is_manifest =
      bytes->bytes != 0 && bytes->bytes <= kMostManifestBytes &&
      manifest->ParseFromArray(bytes->data.get(), static_cast<int>(bytes->bytes));
  if (is_manifest) return {};
  manifest->Clear();
  return Unreadable(kNoManifest);
}

// Looks at a manifest more closely than readers must: another program's message may have fields of
// the same numbers, and the name of the writer tells them apart.
Error LookAtManifest(const OwnFile& own, const std::string& path) {
  proto::Bundle manifest;
  if (Error error = ReadManifest(own, path, &manifest)) return error;
  const bool is_ours =
      manifest.format_major() != 0 && manifest.writer_version().starts_with("gpuprof");
  return is_ours ? Error() : Unreadable(kNoManifest);
}

Error LookAtTrace(const OwnFile& own) {
  codec::TraceBytes bytes(own.file.fd(), static_cast<uint64_t>(own.status.st_size));
  codec::TraceScan scan;
  if (codec::ScanFileHeader(&bytes, &scan)) return {};
  return Unreadable(scan.faults.front().what);
}

// Opens the file, whatever it holds.
Error OpenAny(const codec::InputPath& path, OwnFile* own) {
  own->file = codec::OwnedFile(codec::OpenInput(path, &own->status));
  return own->file.fd() < 0 ? OpenError(path.path, errno) : Error();
}

}  // namespace

Error ReadManifestFile(const codec::InputPath& path, proto::Bundle* manifest) {
  OwnFile own;
  if (const Error error = OpenAny(path, &own)) return Unreadable(CauseOf(error, path.path));
  return ReadManifest(own, path.path, manifest);
}

Error OpenOwnFile(const InputPath& path, OwnFile* own) {
  if (Error error = OpenAny(path, own)) return error;
  const bool is_manifest = path.path.substr(path.path.rfind('/') + 1) == proto::kBundleFile;
  const Error error = is_manifest ? LookAtManifest(*own, path.path) : LookAtTrace(*own);
  return error ? Unreadable(path.path + ": " + error.message) : Error();
}

}  // namespace gpuprof::analysis
