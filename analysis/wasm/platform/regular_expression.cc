// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See analysis/base/regular_expression.h. A page gives no regular expressions, and RE2 would make
// each report 50 kB larger.

#include "analysis/base/regular_expression.h"

namespace gpuprof::analysis {

struct RegularExpression::Compiled {};

RegularExpression::~RegularExpression() = default;

std::shared_ptr<const RegularExpression> RegularExpression::Of(std::string_view,
                                                               std::string* fault) {
  *fault = "a report has no regular expressions; ask the command";
  return nullptr;
}

bool RegularExpression::Matches(std::string_view) const { return false; }

}  // namespace gpuprof::analysis
