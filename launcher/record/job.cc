// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See job.h.

#include "launcher/record/job.h"

#include <sys/utsname.h>

#include <cctype>
#include <cstring>

#include "proto/ranks.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostLabel = 64;

std::string PlainText(std::string_view text) {
  std::string plain(text.substr(0, kMostLabel));
  for (char& c : plain) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._+-", c) != nullptr;
    if (!is_plain || c == '\0') c = '_';
  }
  if (plain.starts_with('.')) plain[0] = '_';  // hidden, or the folder above
  return plain;
}

// Returns the values of both variables with a dot between. torchrun writes "none" for no value.
template <typename Get>
std::string ValuesOf(const char* const (&names)[2], Get get) {
  std::string values;
  for (const char* name : names) {
    const char* value = name == nullptr ? nullptr : get(name);
    if (value == nullptr || *value == 0 || std::strcmp(value, "none") == 0) continue;
    values += (values.empty() ? "" : ".") + std::string(value);
  }
  return values;
}

template <typename Get>
std::optional<uint32_t> NumberIn(const char* name, Get get) {
  unsigned number = 0;
  if (name == nullptr || !proto::ReadRankNumber(get(name), &number)) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Job> FindJob(const Variables& environment) {
  const auto get = [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  const proto::RankSource* source = proto::FindRankSource(get);
  if (source == nullptr) return std::nullopt;
  Job job;
  job.launcher = source->launcher;
  job.id = ValuesOf(source->job, get);
  if (job.id.empty()) job.id = ValuesOf(source->other_job, get);
  job.size = NumberIn(source->size, get).value_or(0);
  job.rank = NumberIn(source->rank, get);
  job.local_rank = NumberIn(source->local_rank, get);
  job.restarts = NumberIn(source->restart, get).value_or(0);
  job.is_unique = source->is_unique && !job.id.empty();
  // A variable that somebody set by hand is no job.
  if (job.id.empty() && job.size == 0) return std::nullopt;
  return job;
}

std::string JobLabel(const Job& job) { return PlainText(job.id.empty() ? job.launcher : job.id); }

bool IsOfJob(const proto::Bundle& bundle, const Job& job) {
  if (!bundle.has_job() || bundle.job().launcher() != job.launcher || bundle.job().id() != job.id)
    return false;
  // An elastic job may go on with fewer ranks.
  return job.is_unique || job.restarts != 0 || bundle.job().size() == job.size;
}

std::string RankWords(const Job& job) {
  if (!job.rank) return "";
  return "rank " + std::to_string(*job.rank) +
         (job.size == 0 ? "" : " of " + std::to_string(job.size));
}

std::string HostLabel() {
  utsname names = {};
  uname(&names);
  const std::string_view host = names.nodename;
  return PlainText(host.substr(0, host.find('.')));
}

namespace {

// Returns what is wrong with the patterns, whatever they stand for.
std::string CheckPattern(std::string_view name) {
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] != '%') continue;
    const char letter = at + 1 < name.size() ? name[++at] : '\0';
    if (letter != '\0' && std::strchr("hrjp%", letter) != nullptr) continue;
    return "the name has a % that stands for nothing; write %h (host), %r (rank), %j (job), %p "
           "(process), or %% for a percent sign";
  }
  return "";
}

}  // namespace

std::string FillPattern(std::string_view name, const std::optional<Job>& job, int32_t pid,
                        BundleName* filled) {
  *filled = {};
  if (const std::string fault = CheckPattern(name); !fault.empty()) return fault;
  for (size_t at = 0; at < name.size(); ++at) {
    const char letter = name[at] == '%' && at + 1 < name.size() ? name[at + 1] : '\0';
    if (letter == '\0') {
      filled->path += name[at];
      continue;
    }
    ++at;
    if (!job && (letter == 'r' || letter == 'j')) {
      return std::string("the name has %") + letter + ", but no launcher gave this command a " +
             (letter == 'r' ? "rank" : "job") +
             "; start it with srun, mpirun or torchrun, or leave the pattern out";
    }
    switch (letter) {
      case 'h':
        filled->path += HostLabel();
        break;
      case 'j':
        filled->path += JobLabel(*job);
        break;
      case 'r':
        // Without ranks the process tells its peers apart.
        filled->path += std::to_string(job->rank.value_or(static_cast<uint32_t>(pid)));
        filled->is_own = true;
        break;
      case 'p':
        filled->path += std::to_string(pid);
        filled->is_own = true;
        break;
      default:
        filled->path += letter;
    }
  }
  return "";
}

}  // namespace gpuprof::launcher
