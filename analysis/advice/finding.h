// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a rule found: codes, figures and names. analysis/render/finding_words.h has the words.
// Values; any thread.

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/results/breakdown.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

struct Sentence;

// What stands in a sentence: a figure with its unit, a name, or further sentences.
struct Argument {
  enum class Unit {
    kName,
    kNs,
    kBytes,
    kCount,
    kNumber,     // an id, or a count that has few digits
    kReal,       // with three digits
    kTwoDigits,  // behind the point
    kRatio,
    kFlopPerS,
    kIdleCause,  // a results::TimeCategory
    kList,       // sentences, with commas between them
    kRun,        // sentences behind each other
  };
  // Makes a figure, a name, or a list. Some compilers want to know a sentence first, so the
  // definitions stand below.
  Argument(Unit its_unit, int64_t its_whole, double its_real = 0);
  Argument(Unit its_unit, std::string its_name);
  Argument(Unit its_unit, std::vector<Sentence> its_sentences);

  Unit unit = Unit::kName;
  int64_t whole = 0;  // of units that count
  double real = 0;    // of all other units with a figure
  std::string name;
  std::vector<Sentence> sentences;
};

// The framework of the program, as its environment or its operations name it.
enum class Framework { kNone, kTorch, kTensorFlow, kJax };

// A sentence, or a part of one. Its code begins with the id of the rule, as in "LA-001.caveat".
// Codes of several rules begin with "all".
struct Sentence {
  Sentence() = default;           // says nothing
  Sentence(const char* its_code)  // NOLINT(google-explicit-constructor)
      : code(its_code) {}
  Sentence(const char* its_code, std::vector<Argument> its_arguments)
      : code(its_code), arguments(std::move(its_arguments)) {}

  std::string_view code = {};
  std::vector<Argument> arguments = {};
  Framework framework = Framework::kNone;  // that the words are for, where each has its own
};

inline Argument::Argument(Unit its_unit, int64_t its_whole, double its_real)
    : unit(its_unit), whole(its_whole), real(its_real) {}
inline Argument::Argument(Unit its_unit, std::string its_name)
    : unit(its_unit), name(std::move(its_name)) {}
inline Argument::Argument(Unit its_unit, std::vector<Sentence> its_sentences)
    : unit(its_unit), sentences(std::move(its_sentences)) {}

// Makes arguments.
namespace say {

inline Argument Figure(Argument::Unit unit, int64_t whole) { return {unit, whole}; }
inline Argument Duration(int64_t ns) { return Figure(Argument::Unit::kNs, ns); }
inline Argument Bytes(uint64_t bytes) {
  return Figure(Argument::Unit::kBytes, static_cast<int64_t>(bytes));
}
inline Argument Count(uint64_t count) {
  return Figure(Argument::Unit::kCount, static_cast<int64_t>(count));
}
template <std::integral Number>
Argument Plain(Number number) {
  return Figure(Argument::Unit::kNumber, static_cast<int64_t>(number));
}
inline Argument IdleCause(results::TimeCategory cause) {
  return Figure(Argument::Unit::kIdleCause, cause);
}
inline Argument Real(double value) { return {Argument::Unit::kReal, 0, value}; }
inline Argument TwoDigits(double value) { return {Argument::Unit::kTwoDigits, 0, value}; }
inline Argument Percent(double ratio) { return {Argument::Unit::kRatio, 0, ratio}; }
inline Argument Tera(double flop_per_s) { return {Argument::Unit::kFlopPerS, 0, flop_per_s}; }
inline Argument Name(std::string_view name) { return {Argument::Unit::kName, std::string(name)}; }
inline Argument List(std::vector<Sentence> sentences) {
  return {Argument::Unit::kList, std::move(sentences)};
}
inline Argument Run(std::vector<Sentence> sentences) {
  return {Argument::Unit::kRun, std::move(sentences)};
}
inline Argument Phrase(Sentence sentence) {
  std::vector<Sentence> one;
  one.push_back(std::move(sentence));
  return Run(std::move(one));
}

}  // namespace say

// What a change wins of a step; see results::Gain.
struct FindingGain {
  results::GainMethod method = results::GAIN_METHOD_NOT_COMPUTED;
  int64_t base_ns = 0, low_ns = 0, high_ns = 0;
  bool is_of_run = false;
  double low_ratio = 0, high_ratio = 0;
  Sentence change;
};

// A change of the environment that may do what a finding advises. A variable without a value is
// removed.
struct FindingRemedy {
  std::vector<std::pair<std::string, std::string>> variables;
  Sentence what, caution;
};

struct Finding {
  // Adds a sentence, or sets the only one.
  void Evidence(const char* code, std::vector<Argument> arguments = {}) {
    evidence.push_back({code, std::move(arguments)});
  }
  void Fix(const char* code, std::vector<Argument> arguments = {}) {
    fixes.push_back({code, std::move(arguments)});
  }
  void Caveat(const char* code, std::vector<Argument> arguments = {}) {
    caveat = {code, std::move(arguments)};
  }

  std::string_view id;
  Sentence name;
  results::Severity severity = results::SEVERITY_INFO;
  results::Level level = results::LEVEL_LOW;
  Sentence reason;  // of the level
  std::optional<FindingGain> gain;
  std::vector<Sentence> evidence, fixes;
  Sentence caveat;
  std::optional<results::Place> place;
  std::vector<FindingRemedy> remedies;
};

}  // namespace gpuprof::analysis
