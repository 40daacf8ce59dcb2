// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cuda_versions.h.

#include "analysis/model/cuda_versions.h"

#include <charconv>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kMostNumber = 10'000'000;

// Reads a number, and moves the text behind it.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0 || number > kMostNumber) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

}  // namespace

std::string CudaVersionText(const CudaVersionKind& kind, int64_t number) {
  if (number <= 0 || number > kMostNumber) return "";
  const int64_t minor = number % kind.per_major / kind.per_minor;
  std::string text = std::string(kind.words) + std::to_string(number / kind.per_major) + "." +
                     std::to_string(minor);
  // CUPTI has further releases, which its number tells.
  if (kind.key == "cupti_version") text += " (" + std::to_string(number) + ")";
  return text;
}

std::optional<int64_t> CudaVersionNumber(const CudaVersionKind& kind, std::string_view note) {
  if (!note.starts_with(kind.words)) return std::nullopt;
  note.remove_prefix(kind.words.size());
  const std::optional<int64_t> major = TakeNumber(&note);
  if (!major || !note.starts_with('.')) return std::nullopt;
  note.remove_prefix(1);
  const std::optional<int64_t> minor = TakeNumber(&note);
  if (!minor) return std::nullopt;
  if (!note.starts_with(" (")) return *major * kind.per_major + *minor * kind.per_minor;
  note.remove_prefix(2);
  return TakeNumber(&note);
}

}  // namespace gpuprof::analysis
