// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See regular_expression.h.

#include "analysis/base/regular_expression.h"

#include <re2/re2.h>

#include <cstdint>
#include <utility>

namespace gpuprof::analysis {
namespace {

// The memory of one expression, with what its searches keep, is limited: a file of kernel rules may
// have a thousand of them.
constexpr int64_t kMostBytes = 1 << 20;

RE2::Options Quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostBytes);
  return options;
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RegularExpression::Compiled {
  explicit Compiled(std::string_view pattern) : expression(Piece(pattern), Quiet()) {}

  RE2 expression;
};

RegularExpression::RegularExpression(std::unique_ptr<Compiled> compiled)
    : compiled_(std::move(compiled)) {}
RegularExpression::~RegularExpression() = default;

std::shared_ptr<const RegularExpression> RegularExpression::Of(std::string_view pattern,
                                                               std::string* fault) {
  auto compiled = std::make_unique<Compiled>(pattern);
  if (!compiled->expression.ok()) {
    *fault = compiled->expression.error();
    return nullptr;
  }
  return std::shared_ptr<const RegularExpression>(new RegularExpression(std::move(compiled)));
}

bool RegularExpression::Matches(std::string_view text) const {
  return RE2::PartialMatch(Piece(text), compiled_->expression);
}

}  // namespace gpuprof::analysis
