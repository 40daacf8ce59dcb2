// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bundle_parts.h.

#include "analysis/wasm/bundle_parts.h"

#include <algorithm>
#include <utility>

#include "analysis/model/file_parts.h"
#include "analysis/read/input_file.h"
#include "proto/bundle_parts.pb.h"

namespace gpuprof::analysis {

void ReadBundleParts(const std::string& folder, OpenOptions* options,
                     std::shared_ptr<const std::vector<StepMark>>* steps) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  const Result<FileBytes> file = ReadFile(folder + "/parts.pb", kMostBytes);
  proto::BundleParts message;
  if (!file.ok() || !message.ParseFromArray(file->data.get(), static_cast<int>(file->bytes)))
    return;
  auto parts = std::make_shared<FileParts>();
  for (const proto::PartsOfFile& each : message.file()) {
    std::vector<FilePart>& list = parts->files[each.name()];
    for (int i = 0; i < std::min(each.offset_size(), each.bytes_size()); ++i)
      list.push_back({each.offset(i), each.bytes(i)});
  }
  auto marks = std::make_shared<std::vector<StepMark>>();
  ReadStepMarks({reinterpret_cast<const char*>(file->data.get()), static_cast<size_t>(file->bytes)},
                marks.get());
  options->parts = std::move(parts);
  *steps = std::move(marks);
}

}  // namespace gpuprof::analysis
