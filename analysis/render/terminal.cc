// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OneLine, PlainLines and PlainJson of analysis.h: what others wrote, so that a terminal shows it
// and does nothing else. Any thread.

#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/base/plain_text.h"

namespace gpuprof::analysis {
namespace {

std::string Plain(std::string_view text, PlainForm form) {
  std::string out;
  out.reserve(text.size());
  AppendPlain(text, form, &out);
  return out;
}

}  // namespace

std::string OneLine(std::string_view text) { return Plain(text, PlainForm::kLine); }

std::string PlainLines(std::string_view text) { return Plain(text, PlainForm::kLines); }

std::string PlainJson(std::string json) {
  json = Plain(json, PlainForm::kJson);
  return json;
}

}  // namespace gpuprof::analysis
