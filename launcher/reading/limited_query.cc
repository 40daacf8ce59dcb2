// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See limited_query.h.

#include "launcher/reading/limited_query.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "analysis/query/query.h"
#include "launcher/base/read_file.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/text.h"
#include "launcher/reading/order_child.h"
#include "launcher/reading/placed_input_json.h"
#include "launcher/reading/reading.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kQueryLookMs = 50;
constexpr size_t kMostRemarks = 16 << 10;
// The process says this to 1 before its first row: opening is done, and the time of the query
// begins.
constexpr char kOpened = '\n';
// DuckDB ends a query itself, a little before the process is ended.
constexpr double kGraceSeconds = 0.5;

std::string& LibraryFile() {
  static std::string file;
  return file;
}

std::string OrderOf(const PlacedInput& input, const LimitedQuery& query) {
  return nlohmann::json{{"input", JsonOfInput(input)},
                        {"sql", NumbersOf(query.sql)},
                        {"library", NumbersOf(GivenQueryLibrary())},
                        {"seconds", query.limits.seconds},
                        {"memory_bytes", query.limits.memory_bytes},
                        {"threads", query.threads},
                        {"for_page", query.for_page},
                        {"most_rows", query.most_rows},
                        {"format", static_cast<int>(query.format)},
                        {"width", query.width}}
      .dump();
}

// Hands on what the process writes, until it ends or has to.
class Attendance {
 public:
  Attendance(const LimitedQuery& query, const std::function<bool()>& is_wanted, analysis::Sink sink,
             void* context)
      : query_(query), is_wanted_(is_wanted), sink_(sink), context_(context) {}

  // Returns false if the process is to be ended: see `why`.
  bool Attend(int rows, int errors) {
    // Opening a large recording may take long, but not for ever.
    SetEnd(kOpenSeconds + query_.limits.seconds);
    pollfd ways[2] = {{rows, POLLIN, 0}, {errors, POLLIN, 0}};
    while (ways[0].fd >= 0 || ways[1].fd >= 0) {
      poll(ways, 2, kQueryLookMs);
      if (!is_wanted_()) return Give("no client waits for the answer any more");
      if (Clock::now() >= end_) return Give(TookLong());
      for (pollfd& way : ways) {
        if (way.fd < 0 || way.revents == 0) continue;
        char room[64 << 10];
        const ssize_t got = read(way.fd, room, sizeof room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) {
          way.fd = -1;
        } else if (!Take(&way == &ways[0], {room, static_cast<size_t>(got)})) {
          return Give("the answer cannot be written");
        }
      }
    }
    return true;
  }

  const std::string& why() const { return why_; }
  const std::string& remarks() const { return remarks_; }
  bool is_open() const { return is_open_; }
  std::string TookLong() const {
    std::ostringstream seconds;
    seconds << query_.limits.seconds;
    return is_open_ ? "the query took longer than " + seconds.str() +
                          " s; ask for fewer rows, or allow more time"
                    : "opening the recording took too long for a query with limits";
  }

 private:
  static constexpr double kOpenSeconds = 60;

  void SetEnd(double seconds) {
    end_ = Clock::now() + std::chrono::milliseconds(std::llround(seconds * 1000));
  }
  bool Give(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool Take(bool is_row, std::string_view text) {
    if (!is_row) {
      remarks_.append(text.substr(0, kMostRemarks - std::min(kMostRemarks, remarks_.size())));
      return true;
    }
    if (!is_open_) {
      is_open_ = true;
      SetEnd(query_.limits.seconds + kGraceSeconds);
      text.remove_prefix(1);
    }
    return text.empty() || sink_(context_, text);
  }

  const LimitedQuery& query_;
  const std::function<bool()>& is_wanted_;
  analysis::Sink sink_;
  void* context_;
  Clock::time_point end_;
  bool is_open_ = false;
  std::string why_, remarks_;
};

// Takes the words of an error out of what the process said.
std::string FaultIn(std::string said) {
  constexpr std::string_view kName = "gpuprof: ";
  if (said.starts_with(kName)) said.erase(0, kName.size());
  while (said.ends_with('\n')) said.pop_back();
  return analysis::OneLine(said);
}

uint64_t AddressSpace() {
  const std::string text = ReadFile("/proc/self/statm").value_or("");
  return std::strtoull(text.c_str(), nullptr, 10) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void SetLimit(__rlimit_resource what, uint64_t most) {
  rlimit limit;
  if (getrlimit(what, &limit) != 0) return;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(what, &limit);
}

// Gives the process its limits. Called when all files are open.
void LimitThisProcess(const QueryLimits& limits, int threads) {
  SetLimit(RLIMIT_AS, AddressSpace() + limits.memory_bytes);
  SetLimit(RLIMIT_FSIZE, 0);
  SetLimit(RLIMIT_NOFILE, 0);
  SetLimit(RLIMIT_CORE, 0);
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const double seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 +
                         (limits.seconds + kGraceSeconds) * std::max(threads, 1);
  SetLimit(RLIMIT_CPU, static_cast<uint64_t>(std::ceil(seconds)));
}

}  // namespace

std::string UseQueryLibrary(const std::string& file) {
  if (file.empty()) return "";
  // A name without a slash would be looked for elsewhere.
  char path[PATH_MAX];
  if (realpath(file.c_str(), path) == nullptr)
    return "'" + file + "' is not a file; --library names libduckdb.so";
  LibraryFile() = path;
  return "";
}

const std::string& GivenQueryLibrary() { return LibraryFile(); }

QueryOutcome RunLimitedQuery(const PlacedInput& input, const LimitedQuery& query,
                             const std::function<bool()>& is_wanted, analysis::Sink sink,
                             void* context) {
  QueryOutcome outcome;
  outcome.exit_status = kExitUnreadable;
  codec::OwnedFile order;
  outcome.fault = MakeUnnamedFile(&order);
  if (!outcome.fault.empty()) return outcome;
  int rows[2], errors[2];
  if (!WriteOrder(order.fd(), OrderOf(input, query)) || pipe2(rows, O_CLOEXEC) != 0) {
    outcome.fault = std::string("a query cannot be started: ") + std::strerror(errno);
    return outcome;
  }
  const codec::OwnedFile rows_out(rows[0]);
  codec::OwnedFile rows_in(rows[1]);
  if (pipe2(errors, O_CLOEXEC) != 0) {
    outcome.fault = std::string("a query cannot be started: ") + std::strerror(errno);
    return outcome;
  }
  const codec::OwnedFile errors_out(errors[0]);
  codec::OwnedFile errors_in(errors[1]);
  const OrderChild child = {kQueryOrderWord,
                            order.fd(),
                            rows_in.fd(),
                            errors_in.fd(),
                            input.path.held == nullptr ? -1 : input.path.held->fd(),
                            getpid()};
  const pid_t pid = fork();
  if (pid == 0) child.Become();
  if (pid < 0) {
    outcome.fault = std::string("a process cannot be started: ") + std::strerror(errno);
    return outcome;
  }
  rows_in.Close();
  errors_in.Close();
  Attendance attendance(query, is_wanted, sink, context);
  const bool has_ended = attendance.Attend(rows_out.fd(), errors_out.fd());
  if (!has_ended) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  outcome.remarks = attendance.remarks();
  if (!has_ended) {
    outcome.fault = attendance.why();
    outcome.exit_status = kExitUsage;
  } else if (WIFSIGNALED(status)) {
    outcome.fault = WTERMSIG(status) == SIGXCPU ? attendance.TookLong()
                                                : "the query needs more memory than " +
                                                      FormatBytes(query.limits.memory_bytes) +
                                                      "; ask for fewer rows, or allow more";
    outcome.exit_status = kExitUsage;
  } else {
    outcome.exit_status = WEXITSTATUS(status);
    if (outcome.exit_status == kExitUsage || !attendance.is_open())
      outcome.fault = FaultIn(std::exchange(outcome.remarks, ""));
    if (outcome.fault.empty() && !attendance.is_open())
      outcome.fault = "the process of the query could not be started";
  }
  return outcome;
}

int CarryOutQueryOrder() {
  PlacedInput input;
  LimitedQuery query;
  std::string library, fault;
  try {
    const nlohmann::json order = nlohmann::json::parse(ReadFile("/proc/self/fd/0").value_or(""));
    input = InputOfJson(order.at("input"), kHeldOrderFolder, &fault);
    query.sql = BytesOf(order.at("sql"));
    library = BytesOf(order.at("library"));
    query.limits.seconds = order.at("seconds").get<double>();
    query.limits.memory_bytes = order.at("memory_bytes").get<uint64_t>();
    query.threads = order.at("threads").get<int>();
    query.for_page = order.at("for_page").get<bool>();
    query.most_rows = order.at("most_rows").get<uint32_t>();
    query.format = static_cast<analysis::Format>(order.at("format").get<int>());
    query.width = order.at("width").get<int>();
  } catch (const nlohmann::json::exception&) {
    Say("other verbs of gpuprof start this");
    return kExitUsage;
  }
  if (!fault.empty()) {
    Say(fault);
    return kExitUsage;
  }
  analysis::OpenOptions open;
  open.origin = std::move(input.origin);
  open.kernel_rules = GivenKernelRules();
  open.lazy = !analysis::MayAskResults(query.sql);
  std::shared_ptr<const analysis::Trace> trace;
  const int opened = ExitOf(analysis::Open(input.path, open, &trace));
  if (opened != kExitOk) return opened;
  const auto sink = [](void*, std::string_view text) { return WriteAll(1, text); };
  analysis::QueryOptions options;
  options.library = library;
  options.threads = query.threads;
  options.format = query.format;
  options.limit = query.most_rows;
  options.width = query.width;
  options.for_page = query.for_page;
  options.memory_bytes = query.limits.memory_bytes;
  options.seconds = query.limits.seconds;
  // Names of program counters come from files of this machine, and no file is opened.
  options.pass.symbolize = false;
  options.before = [&query] {
    LimitThisProcess(query.limits, query.threads);
    WriteAll(1, {&kOpened, 1});
  };
  if (query.sql.empty()) options.before();
  const int ran = ExitOf(analysis::Query(trace, query.sql, options, sink, nullptr));
  return ran != kExitOk ? ran : SayFaults(*trace);
}

}  // namespace gpuprof::launcher
