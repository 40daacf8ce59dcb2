// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Outlines of large tracks for a server's page. An outline is made when it is first asked for, and
// kept in a file without a name. Any thread may ask. One outline after the other is made, because
// each takes all cores.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "launcher/serve/page_results.h"

namespace gpuprof::launcher {

class PageOutlines {
 public:
  // Serves the tracks of a bundle or of one .gpt file.
  explicit PageOutlines(analysis::InputPath input) : input_(std::move(input)) {}

  // Reads an address FILE/TRACK/TABLES. TABLES are joined by commas. Each begins with the number of
  // a table and the letter of a class. Keys of other classes follow: a point, the key, a letter.
  // Returns false if the text is not of this form.
  static bool Read(std::string_view text, analysis::OutlineRequest* request);

  // Returns the outline, or says why it cannot be made.
  std::shared_ptr<const PageAnswer> Get(const std::string& text,
                                        const analysis::OutlineRequest& request);
  // Returns whether an outline is being made. This cannot be interrupted.
  bool IsBusy() const { return is_busy_; }

 private:
  std::shared_ptr<const PageAnswer> Find(const std::string& text);
  PageAnswer Make(const analysis::OutlineRequest& request);
  std::shared_ptr<const analysis::Outlines> Open(std::string* fault);

  const analysis::InputPath input_;
  std::mutex mutex_;   // of what is below
  std::mutex making_;  // held while an outline is made
  std::atomic<bool> is_busy_ = false;
  std::shared_ptr<const analysis::Outlines> outlines_;
  std::map<std::string, std::shared_ptr<const PageAnswer>> kept_;
};

}  // namespace gpuprof::launcher
