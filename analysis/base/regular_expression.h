// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The regular expressions of users, in the syntax of RE2. The time of a search is linear in the
// text, and its stack is bounded. So neither a pattern nor a name stops a server or a report's
// engine.
//
// Threads: a compiled expression may be used by several.

#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

class RegularExpression {
 public:
  // Returns null, and says why in `fault`, if the pattern is not a regular expression.
  static std::shared_ptr<const RegularExpression> Of(std::string_view pattern, std::string* fault);
  RegularExpression(const RegularExpression&) = delete;
  RegularExpression& operator=(const RegularExpression&) = delete;
  ~RegularExpression();

  // Returns whether a part of the text matches.
  bool Matches(std::string_view text) const;

 private:
  struct Compiled;
  explicit RegularExpression(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace gpuprof::analysis
