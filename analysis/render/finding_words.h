// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes sentences of findings. Their words stand in the tables finding_rows_*.h, a row for each
// code. tests/checks/finding_words.py compares codes and rows. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/advice/finding.h"

namespace gpuprof::analysis {

// The words of a code. `{0}` stands for the first argument. `{0|step|steps}` is "step" if that
// argument is 1, and else "steps". Advice may have words for each framework: without them, all
// programs get the first ones.
struct FindingWords {
  std::string_view code, words;
  std::string_view torch = {}, tensorflow = {}, jax = {};
};

std::string SentenceText(const Sentence& sentence);
std::string ArgumentText(const Argument& argument);

// Returns the finding of a result. `device_word` replaces the word "GPU" in sentences: the devices
// may be TPUs.
results::Finding FindingInWords(const Finding& finding, std::string_view device_word);

}  // namespace gpuprof::analysis
