// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See finding_words.h.

#include "analysis/render/finding_words.h"

#include <cstdio>
#include <span>
#include <unordered_map>

#include "analysis/base/figures.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/finding_rows_all.h"
#include "analysis/render/finding_rows_device.h"
#include "analysis/render/finding_rows_host.h"
#include "analysis/render/finding_rows_launch.h"

namespace gpuprof::analysis {
namespace {

using Rows = std::unordered_map<std::string_view, const FindingWords*>;

const Rows& AllRows() {
  static const Rows rows = [] {
    Rows all;
    for (const std::span<const FindingWords> table :
         {std::span<const FindingWords>(kRowsOfAll), std::span<const FindingWords>(kDeviceRows),
          std::span<const FindingWords>(kLaunchRows), std::span<const FindingWords>(kHostRows)}) {
      for (const FindingWords& row : table) all.emplace(row.code, &row);
    }
    return all;
  }();
  return rows;
}

std::string_view WordsFor(const FindingWords& row, Framework framework) {
  const std::string_view own = framework == Framework::kTorch        ? row.torch
                               : framework == Framework::kTensorFlow ? row.tensorflow
                               : framework == Framework::kJax        ? row.jax
                                                                     : std::string_view();
  return own.empty() ? row.words : own;
}

std::string TeraFlop(double flop_per_s) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f TFLOP/s", flop_per_s / 1e12);
  return text;
}

std::string TwoDigits(double value) {
  const auto hundredths = static_cast<int64_t>(value * 100 + 0.5);
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() == 1 ? "0" : "") + rest;
}

std::string Joined(const std::vector<Sentence>& sentences, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (i != 0) text += between;
    text += SentenceText(sentences[i]);
  }
  return text;
}

// Returns what stands for a place in the words, without its braces: "0" or "0|step|steps".
std::string Filled(std::string_view place, const std::vector<Argument>& arguments) {
  const auto number = static_cast<size_t>(place.front() - '0');
  if (number >= arguments.size()) return "?";
  if (place.size() == 1) return ArgumentText(arguments[number]);
  const size_t middle = place.find('|', 2);
  return std::string(arguments[number].whole == 1 ? place.substr(2, middle - 2)
                                                  : place.substr(middle + 1));
}

// Returns the sentence with the program's word for its devices.
std::string WithDeviceWord(const Sentence& sentence, std::string_view device_word) {
  constexpr std::string_view kUsual = "GPU";
  std::string text = SentenceText(sentence);
  if (device_word == kUsual) return text;
  for (size_t at = text.find(kUsual); at != std::string::npos;
       at = text.find(kUsual, at + device_word.size()))
    text.replace(at, kUsual.size(), device_word);
  return text;
}

void WriteGain(const FindingGain& gain, results::Gain* out) {
  out->set_method(gain.method);
  out->set_base_ns(gain.base_ns);
  out->set_low_ns(gain.low_ns);
  out->set_high_ns(gain.high_ns);
  out->set_low_ratio(gain.low_ratio);
  out->set_high_ratio(gain.high_ratio);
  out->set_change(SentenceText(gain.change));
  out->set_is_of_run(gain.is_of_run);
}

void WriteRemedy(const FindingRemedy& remedy, results::Remedy* out) {
  for (const auto& [name, value] : remedy.variables) {
    results::EnvironmentVariable* variable = out->add_variables();
    variable->set_name(name);
    variable->set_value(value);
  }
  out->set_what(SentenceText(remedy.what));
  out->set_caution(SentenceText(remedy.caution));
}

}  // namespace

std::string ArgumentText(const Argument& argument) {
  using Of = Argument::Unit;
  switch (argument.unit) {
    case Of::kName:
      return argument.name;
    case Of::kNs:
      return FormatDuration(argument.whole);
    case Of::kBytes:
      return FormatBytes(static_cast<uint64_t>(argument.whole));
    case Of::kCount:
      return FormatNumber(static_cast<uint64_t>(argument.whole));
    case Of::kNumber:
      return std::to_string(argument.whole);
    case Of::kReal:
      return FormatReal(argument.real);
    case Of::kTwoDigits:
      return TwoDigits(argument.real);
    case Of::kRatio:
      return FormatPercent(argument.real);
    case Of::kFlopPerS:
      return TeraFlop(argument.real);
    case Of::kIdleCause:
      return IdleMeaning(static_cast<results::TimeCategory>(argument.whole));
    case Of::kList:
      return Joined(argument.sentences, ", ");
    case Of::kRun:
      return Joined(argument.sentences, "");
  }
  return "";
}

std::string SentenceText(const Sentence& sentence) {
  if (sentence.code.empty()) return "";
  const auto row = AllRows().find(sentence.code);
  if (row == AllRows().end()) return std::string(sentence.code);
  std::string_view words = WordsFor(*row->second, sentence.framework);
  std::string text;
  for (size_t open; (open = words.find('{')) != std::string_view::npos;) {
    const size_t close = words.find('}', open);
    text += words.substr(0, open);
    text += Filled(words.substr(open + 1, close - open - 1), sentence.arguments);
    words.remove_prefix(close + 1);
  }
  return text.append(words);
}

results::Finding FindingInWords(const Finding& finding, std::string_view device_word) {
  results::Finding out;
  out.set_id(std::string(finding.id));
  out.set_name(WithDeviceWord(finding.name, device_word));
  out.set_severity(finding.severity);
  if (finding.gain) WriteGain(*finding.gain, out.mutable_gain());
  for (const Sentence& each : finding.evidence) out.add_evidence(WithDeviceWord(each, device_word));
  for (const Sentence& each : finding.fixes) out.add_fix(WithDeviceWord(each, device_word));
  out.mutable_confidence()->set_level(finding.level);
  out.mutable_confidence()->set_reason(WithDeviceWord(finding.reason, device_word));
  out.set_caveat(WithDeviceWord(finding.caveat, device_word));
  if (finding.place) *out.mutable_place() = *finding.place;
  for (const FindingRemedy& remedy : finding.remedies) WriteRemedy(remedy, out.add_remedies());
  return out;
}

}  // namespace gpuprof::analysis
