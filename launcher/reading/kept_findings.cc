// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kept_findings.h.

#include "launcher/reading/kept_findings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "launcher/base/json_text.h"
#include "launcher/base/trusted_folder.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

using FindingsJson = nlohmann::ordered_json;

constexpr char kFindingsFormat[] = "gpuprof findings 1";
// The built page has its data before this mark.
constexpr char kPageMark[] = "<!--gpuprof:data-->";
constexpr const char* kSeverities[] = {"high", "medium", "low", "info"};

std::string TextMember(const FindingsJson& object, const char* name, size_t most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "";
  std::string text = found->get<std::string>();
  if (text.size() <= most) return text;
  // A letter is left out as a whole.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text;
}

std::optional<std::pair<int64_t, int64_t>> WindowMember(const FindingsJson& object) {
  const auto found = object.find("window_ns");
  if (found == object.end() || !found->is_array() || found->size() != 2) return std::nullopt;
  for (const FindingsJson& each : *found)
    if (!each.is_number_integer()) return std::nullopt;
  const auto from = (*found)[0].get<int64_t>(), to = (*found)[1].get<int64_t>();
  if (from > to) return std::nullopt;
  return std::pair(from, to);
}

// Returns false if it has no title.
bool ReadFinding(const FindingsJson& json, KeptFinding* finding) {
  using Limits = FindingLimits;
  if (!json.is_object()) return false;
  finding->title = TextMember(json, "title", Limits::kMostTitle);
  finding->text = TextMember(json, "text", Limits::kMostText);
  finding->severity = TextMember(json, "severity", 10);
  if (!IsSeverity(finding->severity)) finding->severity = "info";
  finding->author = TextMember(json, "author", Limits::kMostAuthor);
  finding->check = TextMember(json, "check", Limits::kMostCheck);
  const auto evidence = json.find("evidence");
  if (evidence != json.end() && evidence->is_array()) {
    for (const FindingsJson& each : *evidence) {
      if (finding->evidence.size() == Limits::kMostEvidences) break;
      if (each.is_string())
        finding->evidence.push_back(TextMember({{"text", each}}, "text", Limits::kMostEvidence));
    }
  }
  finding->window_ns = WindowMember(json);
  const auto added = json.find("added_s");
  if (added != json.end() && added->is_number_integer()) finding->added_s = added->get<int64_t>();
  return !finding->title.empty();
}

FindingsJson ListJson(const std::vector<KeptFinding>& findings) {
  FindingsJson list = FindingsJson::array();
  for (const KeptFinding& each : findings) {
    FindingsJson json = {{"title", each.title},       {"text", each.text},
                         {"severity", each.severity}, {"author", each.author},
                         {"check", each.check},       {"evidence", each.evidence},
                         {"window_ns", nullptr},      {"added_s", each.added_s}};
    if (each.window_ns) json["window_ns"] = {each.window_ns->first, each.window_ns->second};
    list.push_back(std::move(json));
  }
  return list;
}

// Reads a whole file with a limit. Returns false if it is longer, or cannot be read.
bool ReadBounded(int fd, std::string* bytes) {
  char piece[1 << 16];
  for (;;) {
    const ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    bytes->append(piece, static_cast<size_t>(got));
    if (bytes->size() > FindingLimits::kMostFileBytes) return false;
  }
}

}  // namespace

bool IsSeverity(const std::string& word) {
  return std::any_of(std::begin(kSeverities), std::end(kSeverities),
                     [&](const char* each) { return word == each; });
}

std::string ReadKeptFindings(const analysis::InputPath& bundle,
                             std::vector<KeptFinding>* findings) {
  const std::string fault = "The file " + std::string(kFindingsFile) +
                            " of the recording is not one that gpuprof has written. Move it away.";
  findings->clear();
  const codec::OwnedFile file(codec::OpenInput(bundle.Below(kFindingsFile)));
  if (file.fd() < 0) return errno == ENOENT || errno == ENOTDIR ? "" : fault;
  std::string bytes;
  if (!ReadBounded(file.fd(), &bytes)) return fault;
  const FindingsJson json = FindingsJson::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || TextMember(json, "format", 100) != kFindingsFormat) return fault;
  const auto list = json.find("findings");
  if (list == json.end() || !list->is_array()) return fault;
  for (const FindingsJson& each : *list) {
    KeptFinding finding;
    if (findings->size() == FindingLimits::kMostFindings) break;
    if (ReadFinding(each, &finding)) findings->push_back(std::move(finding));
  }
  return "";
}

std::string WriteKeptFindings(const analysis::InputPath& bundle,
                              const std::vector<KeptFinding>& findings) {
  TrustedFolder folder({"the findings", "another recording"});
  if (const int error = folder.Open(bundle.path); error != 0) {
    return "The folder of the recording cannot be opened: " + std::string(std::strerror(error)) +
           ". Findings are kept in bundles of gpuprof; gpuprof import makes one of another trace.";
  }
  // A link on the way leads elsewhere.
  const codec::OwnedFile named(codec::OpenInputFolder(bundle));
  struct stat held, there;
  if (named.fd() < 0 || fstat(folder.fd(), &held) != 0 || fstat(named.fd(), &there) != 0 ||
      held.st_dev != there.st_dev || held.st_ino != there.st_ino)
    return "The folder of the recording has moved, or lies behind a link. Name it again.";
  if (std::string why = folder.WhyForeign(bundle.path); !why.empty()) return why;
  const std::string text =
      JsonText({{"format", kFindingsFormat}, {"findings", ListJson(findings)}});
  if (text.size() > FindingLimits::kMostFileBytes)
    return "The findings of this recording would take more than 1 MiB. Give shorter ones, or "
           "replace the old ones.";
  const int error = folder.Replace(kFindingsFile, text);
  if (error == 0) return "";
  return "The findings could not be written: " + std::string(std::strerror(error)) +
         ". See to the folder of the recording, and try again.";
}

void PutFindingsIntoPage(const analysis::InputPath& bundle, std::string* page) {
  std::vector<KeptFinding> findings;
  const size_t place = page->rfind(kPageMark);
  if (place == std::string::npos || bundle.path.empty()) return;
  if (!ReadKeptFindings(bundle, &findings).empty() || findings.empty()) return;
  std::string element = "<script type=\"application/json\" id=\"gpuprof-assistant\">";
  for (const char c :
       ListJson(findings).dump(-1, ' ', false, FindingsJson::error_handler_t::replace)) {
    // No words of a finding may end the element.
    element += c == '<' ? "\\u003c" : std::string(1, c);
  }
  page->insert(place, element + "</script>\n");
}

}  // namespace gpuprof::launcher
