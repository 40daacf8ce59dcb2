// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kept_parts.h.

#include "analysis/export/kept_parts.h"

#include <algorithm>
#include <new>
#include <utility>

#include "analysis/export/report_text.h"
#include "proto/container.h"

namespace gpuprof::analysis {
namespace {

// What a part costs beside its bytes: its place, in digits.
constexpr uint64_t kPartWords = 24;
// Parts that are so near each other are one.
constexpr uint64_t kNearBytes = 16;
// The first stretch is this part of the time.
constexpr int64_t kFirstPart = 4096;
}  // namespace

Error KeptParts::Open(const codec::InputPath& path, std::unique_ptr<KeptParts>* parts) {
  ModelBuilder model(path.path);
  PlacedFiles placed;
  try {
    if (Error error = PlaceFiles(path, false, 0, &model, &placed)) return error;
    auto made = std::make_unique<KeptParts>();
    for (const TraceFiles* files : {&placed.files, &placed.samplers}) {
      for (const std::unique_ptr<TraceFile>& file : *files) made->Add(*file);
    }
    *parts = std::move(made);
  } catch (const std::bad_alloc&) {
    return Unreadable(path.path + ": not enough memory to read it");
  }
  return {};
}

void KeptParts::Add(const TraceFile& file) {
  File& to = files_.emplace_back();
  to.name = file.name();
  to.size = file.input().bytes();
  uint64_t done = 0;
  for (const PlannedBlock& planned : file.Plan()) {
    const codec::BlockRef& block = *planned.block;
    const uint64_t begin = block.offset - proto::kBlockFrontBytes;
    if (begin < done) continue;
    // What comes before is tables and indexes.
    if (begin != done) to.always.push_back({done, begin - done});
    done = block.offset + block.header.compressed_bytes;
    Block& row = to.blocks.emplace_back();
    row.first_ns = planned.first_ns;
    row.last_ns = planned.last_ns;
    row.rows = planned.rows;
    row.part = {begin, done - begin};
    // Without an index, the page walks from header to header.
    if (!file.scan().is_by_index) to.always.push_back({begin, proto::kBlockFrontBytes});
  }
  if (done < to.size) to.always.push_back({done, to.size - done});
}

Interval KeptParts::Whole() const {
  Interval whole{0, 0};
  bool any = false;
  for (const File& file : files_) {
    for (const Block& block : file.blocks) {
      whole.start = any ? std::min(whole.start, block.first_ns) : block.first_ns;
      whole.end = any ? std::max(whole.end, block.last_ns) : block.last_ns;
      any = true;
    }
  }
  return whole;
}

std::vector<Interval> KeptParts::MiddleStretches() const {
  const Interval whole = Whole();
  const int64_t length = std::max<int64_t>(whole.end - whole.start, 1);
  const int64_t middle = whole.start + length / 2;
  std::vector<Interval> stretches;
  for (int64_t part = kFirstPart; part != 0; part /= 2)
    stretches.push_back({middle - length / part / 2, middle + length / part / 2 + 1});
  return stretches;
}

bool KeptParts::Keep(Interval window, uint64_t room) {
  std::vector<Block*> added;
  for (File& file : files_) {
    for (Block& block : file.blocks) {
      if (block.is_kept || block.last_ns < window.start || block.first_ns > window.end) continue;
      block.is_kept = true;
      added.push_back(&block);
    }
  }
  if (TextBytes() <= room) return true;
  for (Block* block : added) block->is_kept = false;
  return false;
}

std::vector<FilePart> KeptParts::PartsOf(const File& file) {
  std::vector<FilePart> parts = file.always;
  for (const Block& block : file.blocks) {
    if (block.is_kept) parts.push_back(block.part);
  }
  std::sort(parts.begin(), parts.end(),
            [](const FilePart& x, const FilePart& y) { return x.offset < y.offset; });
  std::vector<FilePart> joined;
  for (const FilePart& part : parts) {
    const bool is_near =
        !joined.empty() && part.offset <= joined.back().offset + joined.back().bytes + kNearBytes;
    if (is_near) {
      const uint64_t end =
          std::max(joined.back().offset + joined.back().bytes, part.offset + part.bytes);
      joined.back().bytes = end - joined.back().offset;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

std::vector<FilePart> KeptParts::PartsOf(std::string_view name) const {
  for (const File& file : files_) {
    if (file.name == name) return PartsOf(file);
  }
  return {};
}

proto::BundleParts KeptParts::Message() const {
  proto::BundleParts message;
  for (const File& file : files_) {
    proto::PartsOfFile* const to = message.add_file();
    to->set_name(file.name);
    for (const FilePart& part : PartsOf(file)) {
      to->add_offset(part.offset);
      to->add_bytes(part.bytes);
    }
  }
  return message;
}

uint64_t KeptParts::TextBytes() const {
  uint64_t bytes = 0;
  for (const File& file : files_) {
    uint64_t whole = 0;
    for (const FilePart& part : PartsOf(file)) {
      bytes += kPartWords;
      whole += part.bytes;
    }
    bytes += Base64Length(whole);
  }
  return bytes;
}

uint64_t KeptParts::LeftOutRows() const {
  uint64_t rows = 0;
  for (const File& file : files_) {
    for (const Block& block : file.blocks) rows += block.is_kept ? 0 : block.rows;
  }
  return rows;
}

}  // namespace gpuprof::analysis
