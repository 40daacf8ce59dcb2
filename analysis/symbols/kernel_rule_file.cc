// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_rule_file.h.

#include "analysis/symbols/kernel_rule_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/regular_expression.h"
#include "analysis/symbols/kernel_family.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/codec/input_path.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {

using results::KernelFamily;

struct KernelRules::Rule {
  KernelFamily family;
  std::shared_ptr<const RegularExpression> expression;
};
struct KernelRules::Rules {
  std::vector<Rule> list;
};

namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostRules = 1000;
constexpr std::string_view kBlanks = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string AllFamilies() {
  std::string words;
  for (int i = results::KERNEL_FAMILY_MATRIX; i <= results::KERNEL_FAMILY_OTHER; ++i)
    words += (words.empty() ? "" : ", ") + std::string(FamilyWord(static_cast<KernelFamily>(i)));
  return words;
}

// Returns why a line is not a rule; empty: it is one.
std::string ReadLine(std::string_view line, KernelFamily* family,
                     std::shared_ptr<const RegularExpression>* expression) {
  const size_t end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string word(line.substr(0, end));
  const std::string pattern(Trimmed(line.substr(end)));
  *family = FamilyOfWord(word);
  if (*family == results::KERNEL_FAMILY_NONE)
    return "'" + word + "' is not a family; choose from " + AllFamilies();
  if (pattern.empty()) return "a regular expression is missing behind '" + word + "'";
  std::string fault;
  *expression = RegularExpression::Of(pattern, &fault);
  if (*expression == nullptr) return "'" + pattern + "' is not a regular expression: " + fault;
  return "";
}

}  // namespace

KernelRules::KernelRules(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
KernelRules::~KernelRules() = default;

std::shared_ptr<const KernelRules> KernelRules::Parse(std::string_view text,
                                                      const std::string& path, std::string* fault) {
  auto rules = std::make_unique<Rules>();
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    std::string why = ReadLine(line, &rule.family, &rule.expression);
    if (why.empty() && rules->list.size() == kMostRules)
      why = "the file has more than " + std::to_string(kMostRules) + " rules";
    if (!why.empty()) {
      *fault = path + ":" + std::to_string(number) + ": " + why;
      return nullptr;
    }
    rules->list.push_back(std::move(rule));
  }
  return std::shared_ptr<const KernelRules>(new KernelRules(std::move(rules)));
}

KernelFamily KernelRules::Of(std::string_view name) const {
  for (const Rule& rule : rules_->list) {
    if (rule.expression->Matches(name)) return rule.family;
  }
  return results::KERNEL_FAMILY_NONE;
}

KernelFamily FamilyOf(const Process& process, std::string_view name) {
  if (process.kernel_rules != nullptr) {
    const KernelFamily found = process.kernel_rules->Of(name);
    if (found != results::KERNEL_FAMILY_NONE) return found;
  }
  return KernelFamilyOf(name);
}

KernelFamily FamilyOfString(const Process& process, uint32_t name) {
  return FamilyOf(process, Demangle(process.String(name).c_str()));
}

Error ReadKernelRules(const std::string& path, std::shared_ptr<const KernelRules>* rules) {
  const codec::OwnedFile file(codec::OpenInput({path}));
  std::string text(kMostBytes + 1, '\0');
  size_t bytes = 0;
  ssize_t more = file.fd() < 0 ? -1 : 1;
  while (more > 0 && bytes < text.size()) {
    more = read(file.fd(), text.data() + bytes, text.size() - bytes);
    if (more > 0) bytes += static_cast<size_t>(more);
  }
  if (more < 0)
    return {ErrorKind::kUsage,
            path + ": the file of kernel rules cannot be read: " + codec::OpenErrorText(errno)};
  if (bytes > kMostBytes)
    return {ErrorKind::kUsage, path + ": the file of kernel rules is larger than 1 MiB"};
  text.resize(bytes);
  std::string fault;
  *rules = KernelRules::Parse(text, path, &fault);
  if (*rules == nullptr) return {ErrorKind::kUsage, fault};
  return {};
}

}  // namespace gpuprof::analysis
