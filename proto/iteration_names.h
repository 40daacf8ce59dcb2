// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the names of iterations say: a serving engine names each pass over its model by the requests
// and tokens in it. The pass is a step (step_names.h). One table has the forms of the names, and
// what each number means. A number that a name does not tell stays untold. Any thread, hooks; no
// allocation.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

// What the requests of an iteration are at.
enum class IterationPhase : uint8_t {
  kUnknown,  // the name does not tell
  kPrefill,  // prompts are read
  kDecode,   // tokens are made
  kMixed,    // both, for different requests
  kIdle,     // no request
};

struct IterationName {
  static constexpr uint64_t kUntold = UINT64_MAX;
  bool is_iteration = false;
  uint32_t word_bytes = 0;    // the length of the part that all iterations of the engine share
  uint64_t number = kUntold;  // of the iteration
  IterationPhase phase = IterationPhase::kUnknown;
  uint64_t requests = kUntold;
  uint64_t tokens = kUntold;  // that the model computes with, of all requests
};

namespace iteration_names {

constexpr uint64_t kUntold = IterationName::kUntold;

// %n: number of the iteration. %P, %D, %R: requests at prefill, at decode, of both. %p, %d, %t:
// tokens of these. %u: another number. %w: a word. *: anything. Letters may be small or large. What
// a program may name so by chance has a form without *.
struct Form {
  const char* text;
  const char* word;      // what the name begins with
  IterationPhase phase;  // kUnknown: by the numbers of requests
};

inline constexpr Form kForms[] = {
    // vLLM, for a profiler of PyTorch or for NVTX.
    {"execute_context_%P(%p)_generation_%D(%d)", "execute", IterationPhase::kUnknown},
    {"execute_context_%P(%p_%u)_generation_%D(%d)", "execute", IterationPhase::kUnknown},
    {"execute_context_%P(%p_%u)_generation_%D(%d_%u)", "execute", IterationPhase::kUnknown},
    {"execute_%t_context_%P(sq%psk%u)_generation_%D(sq%dsk%u)", "execute",
     IterationPhase::kUnknown},
    {"execute_%t_context_%P(sq%psk%usqsq%usqsk%u)_generation_%D(sq%dsk%usqsq%usqsk%u)", "execute",
     IterationPhase::kUnknown},
    {"Iteration(%n): %P context requests, %p context tokens, %D generation requests, %d generation "
     "tokens*",
     "Iteration", IterationPhase::kUnknown},
    {"Iteration(%n)*", "Iteration", IterationPhase::kUnknown},
    // TensorRT-LLM.
    {"[Executor] _forward_step %n: %P ctx reqs, %p ctx tokens, %D gen reqs*",
     "[Executor] _forward_step", IterationPhase::kUnknown},
    {"[Executor] _forward_step %n: %P ctx reqs, %D gen reqs*", "[Executor] _forward_step",
     IterationPhase::kUnknown},
    {"_forward_step: %P ctx reqs, %D gen reqs*", "_forward_step", IterationPhase::kUnknown},
    {"executeStep: %P ctx reqs, %D gen reqs*", "executeStep", IterationPhase::kUnknown},
    // sglang, and ATOM.
    {"step[decode bs=%D*]", "step", IterationPhase::kDecode},
    {"step[prefill bs=%P toks=%p*]", "step", IterationPhase::kPrefill},
    {"step[extend bs=%P toks=%p*]", "step", IterationPhase::kPrefill},
    {"step[extend bs=%P*]", "step", IterationPhase::kPrefill},
    {"step[mixed bs=%R ext=%p dec=%d*]", "step", IterationPhase::kMixed},
    {"step[mixed bs=%R*]", "step", IterationPhase::kMixed},
    {"step[target_verify bs=%D*]", "step", IterationPhase::kDecode},
    {"step[idle*]", "step", IterationPhase::kIdle},
    {"step[%w bs=%R*]", "step", IterationPhase::kUnknown},
    {"prefill[bs=%P tok=%p*]", "prefill", IterationPhase::kPrefill},
    {"decode[bs=%D*]", "decode", IterationPhase::kDecode},
};

struct Numbers {
  uint64_t iteration = kUntold;
  uint64_t prefill_requests = kUntold, decode_requests = kUntold, requests = kUntold;
  uint64_t prefill_tokens = kUntold, decode_tokens = kUntold, tokens = kUntold;
  uint64_t other = kUntold;
  uint64_t* Of(char kind) noexcept {
    switch (kind) {
      case 'n':
        return &iteration;
      case 'P':
        return &prefill_requests;
      case 'D':
        return &decode_requests;
      case 'R':
        return &requests;
      case 'p':
        return &prefill_tokens;
      case 'd':
        return &decode_tokens;
      case 'u':
        return &other;
      default:
        return &tokens;
    }
  }
};

constexpr char Small(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool IsOfWord(char c) noexcept {
  return IsDigit(c) || c == '_' || (Small(c) >= 'a' && Small(c) <= 'z');
}

// Reads a name by a form, both from some place on.
inline bool Match(const char* form, const char* name, const char* end, Numbers* numbers) noexcept {
  constexpr int kMostDigits = 18;
  for (; *form != 0; ++form) {
    if (*form == '*') {
      // The shortest that fits.
      for (; name <= end; ++name)
        if (Match(form + 1, name, end, numbers)) return true;
      return false;
    }
    if (*form != '%') {
      if (name == end || Small(*form) != Small(*name)) return false;
      ++name;
      continue;
    }
    const char kind = *++form;
    const char* const begin = name;
    if (kind == 'w') {
      while (name != end && IsOfWord(*name)) ++name;
    } else {
      uint64_t number = 0;
      while (name != end && IsDigit(*name) && name - begin < kMostDigits)
        number = number * 10 + static_cast<uint64_t>(*name++ - '0');
      if (name != end && IsDigit(*name)) return false;
      *numbers->Of(kind) = number;
    }
    if (name == begin) return false;
  }
  return name == end;
}

// Returns the sum of two numbers; untold if one is missing that may not be 0.
constexpr uint64_t Sum(uint64_t prefill, bool has_prefill, uint64_t decode,
                       bool has_decode) noexcept {
  if ((has_prefill && prefill == kUntold) || (has_decode && decode == kUntold)) return kUntold;
  return (has_prefill ? prefill : 0) + (has_decode ? decode : 0);
}

constexpr bool IsSome(uint64_t number) noexcept { return number != 0 && number != kUntold; }

}  // namespace iteration_names

// Reads the name of a range. It need not end with a zero.
inline IterationName ReadIterationName(const char* chars, uint32_t bytes) noexcept {
  namespace names = iteration_names;
  IterationName result;
  for (const names::Form& form : names::kForms) {
    names::Numbers n;
    if (bytes == 0 || !names::Match(form.text, chars, chars + bytes, &n)) continue;
    result.is_iteration = true;
    while (form.word[result.word_bytes] != 0) ++result.word_bytes;
    result.number = n.iteration;
    const bool is_split =
        n.prefill_requests != names::kUntold || n.decode_requests != names::kUntold;
    bool prefills = names::IsSome(n.prefill_requests), decodes = names::IsSome(n.decode_requests);
    result.phase = form.phase != IterationPhase::kUnknown ? form.phase
                   : !is_split                            ? IterationPhase::kUnknown
                   : prefills && decodes                  ? IterationPhase::kMixed
                   : prefills                             ? IterationPhase::kPrefill
                   : decodes                              ? IterationPhase::kDecode
                                                          : IterationPhase::kIdle;
    if (result.phase == IterationPhase::kMixed) prefills = decodes = true;
    result.requests = n.requests;
    if (result.requests == names::kUntold && is_split)
      result.requests = names::Sum(n.prefill_requests, prefills, n.decode_requests, decodes);
    result.tokens = n.tokens;
    const bool is_idle = result.phase == IterationPhase::kIdle && !is_split;
    if (result.tokens == names::kUntold && result.phase != IterationPhase::kUnknown && !is_idle)
      result.tokens = names::Sum(n.prefill_tokens, prefills, n.decode_tokens, decodes);
    return result;
  }
  return result;
}

}  // namespace gpuprof::proto
