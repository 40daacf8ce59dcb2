// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/reachable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "analysis/analysis.h"
#include "launcher/base/json_text.h"
#include "launcher/base/read_file.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

Reachable Judge(TargetFacts facts) {
  Reachable process;
  if (facts.has_recorder) {
    process.way = "ctl";
    process.next = "gpuprof ctl start " + std::to_string(facts.pid);
  } else if (facts.refusal.empty()) {
    process.way = "attach";
    process.next = "gpuprof attach " + std::to_string(facts.pid);
  } else {
    process.way = "restart";
    process.next = RestartLine(facts);
  }
  process.facts = std::move(facts);
  return process;
}

}  // namespace

std::vector<Reachable> FindReachable() {
  std::vector<Reachable> found;
  for (const std::string& name : ListFolder("/proc")) {
    int32_t pid = 0;
    const auto result = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (result.ec != std::errc() || result.ptr != name.data() + name.size() || pid == getpid())
      continue;
    struct stat info;
    const bool is_there = stat(("/proc/" + name).c_str(), &info) == 0;
    if (!is_there || (geteuid() != 0 && info.st_uid != geteuid())) continue;
    TargetFacts facts = LookAtTarget(pid);
    // One that has ended can be started again by whoever started it.
    if (facts.refusal == "kernel" || facts.refusal == "ended" || facts.refusal == "zombie")
      continue;
    found.push_back(Judge(std::move(facts)));
  }
  std::sort(found.begin(), found.end(),
            [](const Reachable& a, const Reachable& b) { return a.facts.pid < b.facts.pid; });
  return found;
}

std::string ReachableText(const std::vector<Reachable>& processes) {
  std::string text;
  size_t width = 3;
  for (const Reachable& process : processes)
    width = std::max(width, std::to_string(process.facts.pid).size());
  const auto line = [&](const std::string& pid, std::string way, std::string why,
                        const std::string& next) {
    way.resize(std::max<size_t>(way.size(), 7), ' ');
    why.resize(std::max<size_t>(why.size(), 9), ' ');
    text +=
        std::string(width - pid.size(), ' ') + pid + "  " + way + "  " + why + "  " + next + "\n";
  };
  line("PID", "WAY", "WHY", "NEXT");
  for (const Reachable& process : processes) {
    line(std::to_string(process.facts.pid), process.way,
         process.way == "restart" ? process.facts.refusal : "", process.next);
  }
  return text;
}

std::string ReachableJson(const std::vector<Reachable>& processes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Reachable& process : processes) {
    const TargetFacts& facts = process.facts;
    const bool is_refused = process.way == "restart";
    rows.push_back({{"pid", facts.pid},
                    {"namespace_pid", facts.inner_pid},
                    {"user", facts.user},
                    {"program", analysis::OneLine(facts.program)},
                    {"way", process.way},
                    {"refusal", is_refused ? facts.refusal : ""},
                    {"reason", is_refused ? facts.reason : ""},
                    {"next", process.next}});
  }
  return JsonText({{"processes", std::move(rows)}});
}

}  // namespace gpuprof::launcher
