// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An input that pages of a server ask about (analysis.h). It is opened once, with all tables, and
// its session is kept. It is opened again when its files have changed. Rows of a large one stay in
// its files until a question reads them; so do those of each one if the options say so. Each
// question reads the tables of its pass if the input is damaged, or if it asks for sums of very
// much work. One thread at a time.

#pragma once

#include <memory>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

class PageInput {
 public:
  // An input with more rows, of all tables, is large.
  static constexpr uint64_t kMostRows = 10'000'000;

  PageInput(InputPath path, OpenOptions options, uint64_t most_rows = kMostRows)
      : path_(std::move(path)), options_(std::move(options)), most_rows_(most_rows) {}

  Error Run(std::string_view pass, PassOptions options,
            std::unique_ptr<google::protobuf::Message>* result);
  Error ReadHeaders(std::shared_ptr<const Trace>* headers) const;

 private:
  // Returns the session of all tables, or null where none is to be kept.
  Session* Kept(const Trace& headers);
  // Looks at what a question found out about lazy rows. Returns whether the answer is right. If it
  // is not, the session is gone.
  bool IsRight();
  Error RunOnce(std::string_view pass, const PassOptions& options,
                std::unique_ptr<google::protobuf::Message>* result);

  const InputPath path_;
  const OpenOptions options_;
  const uint64_t most_rows_;
  std::string state_;  // of the files whose session is kept
  std::shared_ptr<Session> session_;
  TableSet eager_;           // tables of these files that cannot be lazy
  bool is_damaged_ = false;  // these files cannot be read lazily
};

}  // namespace gpuprof::analysis
