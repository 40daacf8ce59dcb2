// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An input that pages of a server ask about (analysis.h). A small one is read once, with all
// tables, and its session is kept. It is read again when its files have changed. For a large or
// damaged one, each question reads the tables of its pass. One thread at a time.

#pragma once

#include <memory>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

class PageInput {
 public:
  // Most rows, of all tables, of an input that is kept.
  static constexpr uint64_t kMostRows = 10'000'000;

  PageInput(InputPath path, OpenOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  Error Run(std::string_view pass, PassOptions options,
            std::unique_ptr<google::protobuf::Message>* result);

 private:
  // Returns the session of all tables, or null where none is to be kept.
  Session* Kept(const Trace& headers);
  Error RunOnce(std::string_view pass, const PassOptions& options,
                std::unique_ptr<google::protobuf::Message>* result);

  const InputPath path_;
  const OpenOptions options_;
  std::string state_;  // of the files whose session is kept
  std::shared_ptr<Session> session_;
};

}  // namespace gpuprof::analysis
