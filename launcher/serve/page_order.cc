// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_order.h. The order is a file without a name, and so is the result: the server hands this
// file on. The folder of a bundle is held open, so the process gets its descriptor: what lies there
// is read from the same folder, whatever happens to its name.

#include "launcher/serve/page_order.h"

#include <fcntl.h>
#include <google/protobuf/message.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "analysis/passes/page_need.h"
#include "launcher/base/freed_memory.h"
#include "launcher/base/read_file.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/text.h"
#include "launcher/reading/order_child.h"
#include "launcher/reading/placed_input_json.h"
#include "launcher/reading/reading.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

// In place of a result's name: the steps of the recording, packed (analysis/passes/page_need.h).
constexpr char kStepsOrder[] = "/steps";
constexpr int kLookMs = 50;
constexpr size_t kMostWords = 4 << 10;

std::string TextOfOrder(const PlacedInput& input, const std::string& name) {
  return nlohmann::json{{"input", JsonOfInput(input)}, {"result", name}}.dump();
}

// Reads what the process says until it ends. Returns false if it is not wanted any more.
bool AttendOrder(int errors, const std::function<bool()>& is_wanted, std::string* said) {
  for (;;) {
    pollfd wait = {errors, POLLIN, 0};
    const int ready = poll(&wait, 1, kLookMs);
    if (!is_wanted()) return false;
    if (ready <= 0) continue;
    char room[1024];
    const ssize_t got = read(errors, room, sizeof room);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return true;
    said->append(room, std::min(static_cast<size_t>(got), kMostWords - said->size()));
  }
}

// Returns the fault of a process that has ended.
std::string FaultOfOrder(int status, std::string said) {
  constexpr std::string_view kName = "gpuprof: ";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitOk) return "";
  if (said.starts_with(kName)) said.erase(0, kName.size());
  while (said.ends_with('\n')) said.pop_back();
  if (!said.empty()) return AsSentence(analysis::OneLine(said));
  if (!WIFSIGNALED(status)) return "The process that computes this page could not be started.";
  return "The process that computed this page was ended by signal " +
         std::to_string(WTERMSIG(status)) + ". The memory may not have sufficed.";
}

bool PutAll(void*, std::string_view text) {
  if (WriteAll(1, text)) return true;
  Say(std::string("the result cannot be kept in a temporary file: ") + std::strerror(errno) +
      "; name another place in TMPDIR");
  _exit(kExitUnreadable);
}

}  // namespace

PageAnswer RunPageOrder(const PlacedInput& input, const std::string& name,
                        const std::function<bool()>& is_wanted) {
  PageAnswer answer;
  codec::OwnedFile order;
  auto result = std::make_shared<codec::OwnedFile>();
  for (codec::OwnedFile* file : {&order, result.get()}) {
    answer.fault = MakeUnnamedFile(file);
    if (!answer.fault.empty()) return answer;
  }
  int pipes[2];
  if (!WriteOrder(order.fd(), TextOfOrder(input, name)) || pipe2(pipes, O_CLOEXEC) != 0) {
    answer.fault =
        std::string("This page cannot be computed by a process: ") + std::strerror(errno) + ".";
    return answer;
  }
  const codec::OwnedFile reading(pipes[0]);
  codec::OwnedFile writing(pipes[1]);
  const OrderChild child = {kPageOrderWord,
                            order.fd(),
                            result->fd(),
                            writing.fd(),
                            input.path.held == nullptr ? -1 : input.path.held->fd(),
                            getpid()};
  const pid_t pid = fork();
  if (pid == 0) child.Become();
  if (pid < 0) {
    answer.fault = std::string("A process cannot be started: ") + std::strerror(errno) + ".";
    return answer;
  }
  writing.Close();
  std::string said;
  const bool is_wanted_still = AttendOrder(reading.fd(), is_wanted, &said);
  if (!is_wanted_still) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  answer.fault = is_wanted_still ? FaultOfOrder(status, std::move(said))
                                 : "No client waited for this page any more.";
  struct stat facts;
  if (!answer.fault.empty() || fstat(result->fd(), &facts) != 0) return answer;
  answer.file = std::move(result);
  answer.size = static_cast<uint64_t>(facts.st_size);
  return answer;
}

std::string RunStepsOrder(const PlacedInput& input, std::string* fault) {
  const PageAnswer answer = RunPageOrder(input, kStepsOrder, [] { return true; });
  *fault = answer.fault;
  if (!fault->empty()) return "";
  return ReadFile("/proc/self/fd/" + std::to_string(answer.file->fd())).value_or("");
}

int CarryOutPageOrder() {
  PlacedInput input;
  std::string name, rule_fault;
  try {
    const nlohmann::json order = nlohmann::json::parse(ReadFile("/proc/self/fd/0").value_or(""));
    name = order.at("result").get<std::string>();
    input = InputOfJson(order.at("input"), kHeldOrderFolder, &rule_fault);
  } catch (const nlohmann::json::exception&) {
    Say("'gpuprof serve' alone starts this");
    return kExitUsage;
  }
  analysis::ResultName wanted;
  const bool wants_steps = name == kStepsOrder;
  std::string fault = wants_steps ? "" : analysis::ReadResultName(name, &wanted);
  if (fault.empty()) fault = rule_fault;
  if (!fault.empty()) {
    Say(fault);
    return kExitUsage;
  }
  if (wanted.pass == "critical_path") KeepFreedMemory();
  analysis::OpenOptions open;
  open.origin = std::move(input.origin);
  open.kernel_rules = GivenKernelRules();
  if (wants_steps) {
    std::string packed;
    const int found = ExitOf(analysis::PackedSteps(input.path, std::move(open), &packed));
    if (found == kExitOk) PutAll(nullptr, packed);
    return found;
  }
  std::unique_ptr<google::protobuf::Message> result;
  const int ran =
      ExitOf(analysis::RunOnAll(input.path, std::move(open), wanted.pass, wanted.options, &result));
  if (ran != kExitOk) return ran;
  analysis::Render(*result, analysis::Format::kJson, wanted.options, 0, PutAll, nullptr);
  return kExitOk;
}

}  // namespace gpuprof::launcher
