// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An open trace file, and the views through which threads read it. A small file is kept in memory,
// a large one is read by blocks. For the reader and for verify.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/read/input_file.h"
#include "proto/codec/input_path.h"
#include "proto/codec/open_regular.h"
#include "proto/codec/trace_bytes.h"

namespace gpuprof::analysis {

// Through this, one thread reads a file. Valid as long as the TraceInput.
struct InputView {
  codec::TraceBytes bytes;
  std::shared_ptr<const codec::OwnedFile> file;  // open as long as `bytes` reads it
};

class TraceInput {
 public:
  // Opens the file. An error ends with what to do.
  Error Open(const codec::InputPath& path);
  // Returns how long the file was when it was opened.
  uint64_t bytes() const { return bytes_; }
  // Shows the file through `view`; any thread, each with a view of its own.
  void Show(InputView* view) const;

 private:
  codec::InputPath path_;
  uint64_t bytes_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::unique_ptr<uint8_t[]> small_;
  // Null: the file is small, or too many others are open. The latter is opened for each view.
  std::shared_ptr<const codec::OwnedFile> file_;
};

}  // namespace gpuprof::analysis
