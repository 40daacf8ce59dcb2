// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs one pass over a trace made by a test.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis::test {

// Without names of program counters: made ones have none.
template <typename Result>
Result RunPass(const std::string& pass, const Trace& trace, PassOptions options = {}) {
  options.symbolize = false;
  std::unique_ptr<google::protobuf::Message> result;
  const Error error = analysis::Run(pass, trace, options, &result);
  EXPECT_FALSE(error) << error.message;
  return dynamic_cast<Result&>(*result);
}

}  // namespace gpuprof::analysis::test
