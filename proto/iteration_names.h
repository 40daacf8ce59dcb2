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
  bool checks_drafts = false;  // of tokens, as speculation makes them
  uint32_t word_bytes = 0;     // the length of the part that all iterations of the engine share
  uint64_t number = kUntold;   // of the iteration
  IterationPhase phase = IterationPhase::kUnknown;
  uint64_t requests = kUntold;
  uint64_t tokens = kUntold;  // that the model computes with, of all requests
  // The same of the requests that read prompts, and of those that make tokens.
  uint64_t prefill_requests = kUntold, decode_requests = kUntold;
  uint64_t prefill_tokens = kUntold, decode_tokens = kUntold;
  uint64_t cached_tokens = kUntold;  // that its requests have in the KV cache, with the new ones
};

namespace iteration_names {

constexpr uint64_t kUntold = IterationName::kUntold;

// %n: number of the iteration. %P, %D, %R: requests at prefill, at decode, of both. %p, %d, %t:
// tokens of these. %k, %K: what requests at prefill and at decode have in the KV cache. %N, %C:
// requests that are new, and that are not. %u: another number. %w: a word. *: anything. Letters may
// be small or large. What a program may name so by chance has a form without *. The first form that
// fits counts.
struct Form {
  const char* text;
  uint8_t word_bytes;    // of the word that the name begins with
  IterationPhase phase;  // kUnknown: by the numbers of requests
  bool checks_drafts = false;
};

// Returns the length of a word. A second pointer in each form would take 32 bytes of the object.
constexpr uint8_t Length(const char* word) noexcept {
  uint8_t length = 0;
  while (word[length] != 0) ++length;
  return length;
}

inline constexpr Form kForms[] = {
    // vLLM, for a profiler of PyTorch or for NVTX.
    {"execute_context_%P(%p)_generation_%D(%d)", Length("execute"), IterationPhase::kUnknown},
    {"execute_context_%P(%p_%u)_generation_%D(%d)", Length("execute"), IterationPhase::kUnknown},
    {"execute_context_%P(%p_%u)_generation_%D(%d_%u)", Length("execute"), IterationPhase::kUnknown},
    {"execute_%t_context_%P(sq%psk%k)_generation_%D(sq%dsk%K)", Length("execute"),
     IterationPhase::kUnknown},
    {"execute_%t_context_%P(sq%psk%ksqsq%usqsk%u)_generation_%D(sq%dsk%Ksqsq%usqsk%u)",
     Length("execute"), IterationPhase::kUnknown},
    {"execute_new_%N_cached_%C", Length("execute"), IterationPhase::kUnknown},
    {"Iteration(%n): %P context requests, %p context tokens, %D generation requests, %d generation "
     "tokens*",
     Length("Iteration"), IterationPhase::kUnknown},
    {"Iteration(%n)*", Length("Iteration"), IterationPhase::kUnknown},
    // TensorRT-LLM.
    {"[Executor] _forward_step %n: %P ctx reqs, %p ctx tokens, %D gen reqs*",
     Length("[Executor] _forward_step"), IterationPhase::kUnknown},
    {"[Executor] _forward_step %n: %P ctx reqs, %D gen reqs*", Length("[Executor] _forward_step"),
     IterationPhase::kUnknown},
    {"_forward_step: %P ctx reqs, %D gen reqs*", Length("_forward_step"), IterationPhase::kUnknown},
    {"executeStep: %P ctx reqs, %D gen reqs*", Length("executeStep"), IterationPhase::kUnknown},
    // sglang.
    {"step[decode bs=%D g_sq=%d * g_sk=%K*]", Length("step"), IterationPhase::kDecode},
    {"step[decode bs=%D * g_sk=%K*]", Length("step"), IterationPhase::kDecode},
    {"step[decode bs=%D*]", Length("step"), IterationPhase::kDecode},
    {"step[extend bs=%P toks=%p * c_sk=%k*]", Length("step"), IterationPhase::kPrefill},
    {"step[prefill bs=%P toks=%p*]", Length("step"), IterationPhase::kPrefill},
    {"step[extend bs=%P toks=%p*]", Length("step"), IterationPhase::kPrefill},
    {"step[extend bs=%P*]", Length("step"), IterationPhase::kPrefill},
    {"step[mixed bs=%R c=%P g=%D c_sq=%p c_sk=%k * g_sq=%d g_sk=%K*]", Length("step"),
     IterationPhase::kUnknown},
    {"step[mixed bs=%R ext=%p dec=%d*]", Length("step"), IterationPhase::kMixed},
    {"step[mixed bs=%R*]", Length("step"), IterationPhase::kMixed},
    {"step[target_verify bs=%D*]", Length("step"), IterationPhase::kDecode, true},
    {"step[idle*]", Length("step"), IterationPhase::kIdle},
    {"step[%w bs=%R*]", Length("step"), IterationPhase::kUnknown},
    // ATOM. A batch of 117 that is filled up to 128 is "117/128". With "p=" it prefills, too.
    {"prefill[bs=%P tok=%p * sk=%k*]", Length("prefill"), IterationPhase::kPrefill},
    {"prefill[bs=%P tok=%p*]", Length("prefill"), IterationPhase::kPrefill},
    {"decode[bs=%R* tok=%t p=%P d=%D*]", Length("decode"), IterationPhase::kUnknown},
    {"decode[bs=%D* tok=%d * sk=%K*]", Length("decode"), IterationPhase::kDecode},
    {"decode[bs=%D* tok=%d*]", Length("decode"), IterationPhase::kDecode},
    {"decode[bs=%D*]", Length("decode"), IterationPhase::kDecode},
    {"eager_decode[bs=%D tok=%d*]", Length("eager_decode"), IterationPhase::kDecode},
};

struct Numbers {
  uint64_t iteration = kUntold;
  uint64_t prefill_requests = kUntold, decode_requests = kUntold, requests = kUntold;
  uint64_t prefill_tokens = kUntold, decode_tokens = kUntold, tokens = kUntold;
  uint64_t prefill_cached = kUntold, decode_cached = kUntold;
  uint64_t new_requests = kUntold, old_requests = kUntold;
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
      case 'k':
        return &prefill_cached;
      case 'K':
        return &decode_cached;
      case 'N':
        return &new_requests;
      case 'C':
        return &old_requests;
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

enum class Fit : uint8_t {
  kNo,
  kYes,
  kNever,  // nor does it fit with more characters for an earlier *
};

// Reads a name by a form, both from some place on. What is behind a * fits at its first place or
// not at all, so a name is read once for each *.
inline Fit Match(const char* form, const char* name, const char* end, Numbers* numbers) noexcept {
  constexpr int kMostDigits = 18;
  for (; *form != 0; ++form) {
    if (*form == '*') {
      for (; name <= end; ++name) {
        const Fit rest = Match(form + 1, name, end, numbers);
        if (rest != Fit::kNo) return rest;
      }
      return Fit::kNever;
    }
    if (*form != '%') {
      if (name == end || Small(*form) != Small(*name)) return Fit::kNo;
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
      if (name != end && IsDigit(*name)) return Fit::kNo;
      *numbers->Of(kind) = number;
    }
    if (name == begin) return Fit::kNo;
  }
  return name == end ? Fit::kYes : Fit::kNo;
}

// Returns the sum of two numbers; untold if one is missing that may not be 0.
constexpr uint64_t Sum(uint64_t prefill, bool has_prefill, uint64_t decode,
                       bool has_decode) noexcept {
  if ((has_prefill && prefill == kUntold) || (has_decode && decode == kUntold)) return kUntold;
  return (has_prefill ? prefill : 0) + (has_decode ? decode : 0);
}

// Returns a number of requests of one kind, or of their tokens: 0 if the iteration lacks them.
constexpr uint64_t Part(uint64_t told, bool has) noexcept {
  return told == kUntold && !has ? 0 : told;
}

constexpr bool IsSome(uint64_t number) noexcept { return number != 0 && number != kUntold; }

}  // namespace iteration_names

// Reads the name of a range. It need not end with a zero.
inline IterationName ReadIterationName(const char* chars, uint32_t bytes) noexcept {
  namespace names = iteration_names;
  IterationName result;
  for (const names::Form& form : names::kForms) {
    // Each form begins with a letter or a bracket. Most names fail there.
    if (bytes == 0 || names::Small(form.text[0]) != names::Small(chars[0])) continue;
    names::Numbers n;
    if (names::Match(form.text, chars, chars + bytes, &n) != names::Fit::kYes) continue;
    result.is_iteration = true;
    result.checks_drafts = form.checks_drafts;
    result.word_bytes = form.word_bytes;
    result.number = n.iteration;
    if (n.new_requests != names::kUntold) {
      // A request that is not new may still read its prompt.
      result.requests = n.new_requests + n.old_requests;
      if (n.old_requests == 0)
        result.phase = n.new_requests == 0 ? IterationPhase::kIdle : IterationPhase::kPrefill;
      if (result.phase == IterationPhase::kPrefill) result.prefill_requests = n.new_requests;
      return result;
    }
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
    const bool is_known = result.phase != IterationPhase::kUnknown &&
                          (result.phase != IterationPhase::kIdle || is_split);
    if (!is_known) return result;
    if (result.tokens == names::kUntold)
      result.tokens = names::Sum(n.prefill_tokens, prefills, n.decode_tokens, decodes);
    result.prefill_requests = names::Part(n.prefill_requests, prefills);
    result.decode_requests = names::Part(n.decode_requests, decodes);
    result.prefill_tokens = names::Part(n.prefill_tokens, prefills);
    result.decode_tokens = names::Part(n.decode_tokens, decodes);
    if (n.prefill_cached != names::kUntold || n.decode_cached != names::kUntold)
      result.cached_tokens = names::Sum(n.prefill_cached, prefills, n.decode_cached, decodes);
    return result;
  }
  return result;
}

}  // namespace gpuprof::proto
