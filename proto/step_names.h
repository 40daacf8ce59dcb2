// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which names mark steps. The recorder counts these steps (--capture=steps), and analysis finds the
// same steps in a trace. Any thread, hooks; no allocation.
//
// A range is a step if its name is one of kStepWords, or the name that the user gave. A number may
// follow the name: "step 12", "iter_12", "ProfilerStep#12". Ranges are those of NVTX and ITT, and
// those that a framework's program names (PyTorch's record_function). The outermost range counts:
// a range that begins while another step is open is not a step. A serving engine names each pass
// over its model by the requests: "execute_context_1(888)_generation_0(0)". This is a step, too
// (iteration_names.h). So is a word with a description in brackets: "iteration (warm)".
//
// An optimizer step of PyTorch is a step if the process shows no range that is a step. So is a run
// of the function of TensorFlow that most time went to (inject/tensorflow/function_steps.h).

#pragma once

#include <string.h>
#include <strings.h>

#include <cstdint>

#include "proto/iteration_names.h"

namespace gpuprof::proto {

inline constexpr const char* kStepWords[] = {
    "step",         "iteration",       "iter",          "train_step",
    "trainstep",    "training_step",   "train step",    "training step",
    "ProfilerStep", "train_iteration", "denoising_step"};

// The domain of ranges that a program names through PyTorch.
inline constexpr char kFrameworkDomain[] = "PyTorch";

// Begins the names of PyTorch's optimizer steps; the class follows.
inline constexpr char kOptimizerStep[] = "Optimizer.step#";

// The triggers of --capture=steps, as traces have them: the end of an optimizer step, or a range
// that is a step. In TensorFlow, the end of a function's run, or the taking of an element. Before
// any step was seen, the first call of a loader or optimizer is the trigger.
inline constexpr char kAtOptimizerStep[] = "steps";
inline constexpr char kAtStepRange[] = "step_range";
inline constexpr char kAtFirstStep[] = "first_step";
inline constexpr char kAtFunctionRun[] = "function_run";
inline constexpr char kAtElement[] = "element";

// A text with its length.
struct NameText {
  const char* chars = nullptr;
  uint32_t bytes = 0;
};

struct StepName {
  bool is_step = false;
  bool has_number = false;
  uint64_t number = 0;
  uint32_t word_bytes = 0;  // the name's length without number and separators
};

inline bool IsNamed(NameText text, const char* name) noexcept {
  return text.bytes == strlen(name) && memcmp(text.chars, name, text.bytes) == 0;
}

// Returns whether `wanted` means a range: NAME, or NAME@DOMAIN. A domain without a name has no
// characters.
inline bool IsWantedRange(NameText name, NameText domain, const char* wanted) noexcept {
  if (IsNamed(name, wanted)) return true;
  const char* at = strrchr(wanted, '@');
  if (at == nullptr || domain.chars == nullptr) return false;
  return name.bytes == static_cast<uint32_t>(at - wanted) &&
         memcmp(name.chars, wanted, name.bytes) == 0 && IsNamed(domain, at + 1);
}

// Returns whether the name without a number is a step's. `wanted`: the name that the user gave, or
// "".
inline bool IsStepWord(NameText name, NameText domain, const char* wanted) noexcept {
  if (wanted[0] != 0) return IsWantedRange(name, domain, wanted);
  for (const char* word : kStepWords) {
    // The first letter refuses most names.
    if (name.bytes == 0 || (name.chars[0] | 0x20) != (word[0] | 0x20)) continue;
    if (strlen(word) == name.bytes && strncasecmp(name.chars, word, name.bytes) == 0) return true;
  }
  return false;
}

// Returns the bytes of a name in front of a description in brackets at its end: "step[DECODE
// bs=62]", "iteration (warm)". The whole name without one.
inline uint32_t BytesBeforeBrackets(NameText name) noexcept {
  if (name.bytes < 2) return name.bytes;
  const char close = name.chars[name.bytes - 1];
  const char open = close == ']' ? '[' : close == ')' ? '(' : close == '}' ? '{' : 0;
  if (open == 0) return name.bytes;
  for (uint32_t at = 0; at < name.bytes; ++at) {
    if (name.chars[at] != open) continue;
    while (at != 0 && (name.chars[at - 1] == ' ' || name.chars[at - 1] == '_')) --at;
    return at;
  }
  return name.bytes;
}

// Reads the name of a range: whether it is a step, and its number.
inline StepName ReadStepName(NameText name, NameText domain, const char* wanted) noexcept {
  constexpr uint32_t kMostDigits = 18;
  StepName step;
  step.word_bytes = name.bytes;
  step.is_step = IsStepWord(name, domain, wanted);
  if (step.is_step) return step;
  if (wanted[0] == 0) {
    const IterationName iteration = ReadIterationName(name.chars, name.bytes);
    if (iteration.is_iteration) {
      step.is_step = true;
      step.has_number = iteration.number != IterationName::kUntold;
      step.number = step.has_number ? iteration.number : 0;
      step.word_bytes = iteration.word_bytes;
      return step;
    }
  }
  if (const uint32_t bytes = BytesBeforeBrackets(name); wanted[0] == 0 && bytes != name.bytes) {
    step.is_step = IsStepWord({name.chars, bytes}, domain, wanted);
    step.word_bytes = bytes;
    if (step.is_step) return step;
  }
  uint32_t end = name.bytes;
  while (end != 0 && name.chars[end - 1] >= '0' && name.chars[end - 1] <= '9') --end;
  if (end == name.bytes || name.bytes - end > kMostDigits) return step;
  for (uint32_t i = end; i < name.bytes; ++i)
    step.number = step.number * 10 + static_cast<uint64_t>(name.chars[i] - '0');
  step.has_number = true;
  step.word_bytes = end;
  step.is_step = IsStepWord({name.chars, end}, domain, wanted);
  while (!step.is_step && end != 0 && name.chars[end - 1] != 0 &&
         strchr(" _#:-=[", name.chars[end - 1]) != nullptr) {
    step.word_bytes = --end;
    step.is_step = IsStepWord({name.chars, end}, domain, wanted);
  }
  return step;
}

// Returns whether a framework's range is an optimizer step that counts.
inline bool IsOptimizerStep(const char* name, const char* wanted) noexcept {
  if (strncmp(name, kOptimizerStep, sizeof(kOptimizerStep) - 1) != 0) return false;
  return wanted[0] == 0 || strcmp(name, wanted) == 0;
}

}  // namespace gpuprof::proto
