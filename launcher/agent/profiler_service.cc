// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See profiler_service.h.

#include "launcher/agent/profiler_service.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "launcher/agent/log_folder.h"
#include "launcher/base/text.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

using Clock = RpcCall::Clock;
using std::chrono::milliseconds;

constexpr int kMostThreads = 32;
// What is kept of a client's time for the end of the capture and the trace.
constexpr milliseconds kLeastReserve(2'000), kMostReserve(30'000);
// What is kept for sending.
constexpr milliseconds kMostSending(5'000);
// Clients that set no limit wait as long as those of TensorFlow do.
constexpr milliseconds kUsualWait(60'000);

int64_t RealtimeNs() { return static_cast<int64_t>(proto::ReadClockNs(CLOCK_REALTIME)); }

std::string Seconds(milliseconds time) {
  return FormatSeconds(static_cast<double>(time.count()) / 1000);
}

// How long is recorded, and until when.
struct Plan {
  milliseconds length{0};
  Clock::time_point start, export_end;
  std::string warning;  // the time was cut
};

}  // namespace

struct ProfilerService::Work {
  Work(Capturer* from, const std::string& name, std::string folder, KeepLimit keep)
      : capturer(from), host(name), log_folder(std::move(folder), name, keep) {}

  Capturer* capturer;
  std::string host;
  LogFolder log_folder;

  struct Worker {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> is_done;
  };
  std::list<Worker> workers;  // the thread of Begin() alone

  std::mutex mutex;
  std::shared_ptr<const RpcCall> capturing;  // for whom a capture runs
  Clock::time_point capture_end;             // when it should have ended

  void JoinDone() {
    for (auto at = workers.begin(); at != workers.end();) {
      if (!*at->is_done) {
        ++at;
        continue;
      }
      at->thread.join();
      at = workers.erase(at);
    }
  }

  // Runs a task on a thread of its own. Returns false, and tells the client, if there are too many.
  template <typename Task>
  bool Run(const std::shared_ptr<RpcCall>& call, const Task& task) {
    JoinDone();
    if (workers.size() >= kMostThreads) {
      call->Fail(GrpcStatus::kResourceExhausted, "too many calls run; try again");
      return false;
    }
    const auto is_done = std::make_shared<std::atomic<bool>>(false);
    workers.push_back({std::thread([task, is_done] {
                         task();
                         *is_done = true;
                       }),
                       is_done});
    return true;
  }

  // Answers with a trace of words.
  void AnswerWords(RpcCall* call, const SpaceWords& words, bool is_snapshot = false) const {
    Body trace;
    trace.Add(MakeSpaceOfWords(words, host, RealtimeNs()));
    RpcAnswer answer;
    if (is_snapshot) {
      answer.body = MakeSnapshotAnswer(std::move(trace));
    } else {
      std::vector<NamedTrace> traces;
      traces.emplace_back(kXPlaneName, std::move(trace));
      answer.body = MakeProfileAnswer(std::move(traces));
    }
    call->Answer(std::move(answer));
  }
  void AnswerError(RpcCall* call, std::string words, bool is_snapshot = false) const {
    SpaceWords all;
    all.errors.push_back(std::move(words));
    AnswerWords(call, all, is_snapshot);
  }

  // Answers with what was captured. The words go along with the first trace.
  void AnswerResult(RpcCall* call, CaptureResult result, bool is_snapshot) const {
    if (result.traces.empty()) return AnswerWords(call, result.words, is_snapshot);
    uint64_t bytes = 0;
    for (const CapturedTrace& trace : result.traces) bytes += trace.bytes;
    if (bytes > kMostAnswerBytes) {
      return AnswerError(call,
                         "the trace has " + FormatBytes(bytes) + ", and an answer may have " +
                             FormatBytes(kMostAnswerBytes) +
                             "; capture for a shorter time, or fewer processes with --pid",
                         is_snapshot);
    }
    // An answer of GetSnapshot has room for one trace.
    if (is_snapshot && result.traces.size() > 1) {
      result.words.warnings.push_back(
          std::to_string(result.traces.size() - 1) +
          " more traces found no room in a snapshot; use 'Capture profile', or --pid");
      result.traces.resize(1);
    }
    std::vector<NamedTrace> traces;
    std::string notes = MakeSpaceNotes(result.words);
    for (CapturedTrace& trace : result.traces) {
      Body body;
      body.AddFile(trace.file, trace.bytes);
      // Fields of one message may come in any order and in parts.
      if (!notes.empty()) body.Add(std::exchange(notes, ""));
      traces.emplace_back(trace.name, std::move(body));
    }
    RpcAnswer answer;
    answer.body = is_snapshot ? MakeSnapshotAnswer(std::move(traces.front().second))
                              : MakeProfileAnswer(std::move(traces));
    call->Answer(std::move(answer));
  }

  // Plans a capture so that its answer comes before the client stops waiting. Returns empty, or why
  // there can be none.
  static std::string MakePlan(const ProfileRequest& request, const RpcCall& call, Plan* plan) {
    const Clock::time_point now = Clock::now();
    if (request.duration_ms > static_cast<uint64_t>(milliseconds(kLongest).count())) {
      return "a capture of " + FormatCount(request.duration_ms) + " ms is too long; at most " +
             Seconds(kLongest) + " are taken";
    }
    plan->length = milliseconds(request.duration_ms);
    plan->start = now;
    const auto realtime = static_cast<uint64_t>(RealtimeNs());
    if (request.start_timestamp_ns > realtime) {
      const uint64_t delay_ms = (request.start_timestamp_ns - realtime) / 1'000'000;
      if (delay_ms > static_cast<uint64_t>(milliseconds(kLongest).count())) {
        return "a delay of " + FormatCount(delay_ms) + " ms is too long; at most " +
               Seconds(kLongest) + " are waited";
      }
      plan->start += milliseconds(delay_ms);
    }
    const Clock::time_point end =
        call.deadline().value_or(plan->start + plan->length + std::max(plan->length, kUsualWait));
    const auto left = std::chrono::duration_cast<milliseconds>(end - plan->start);
    const milliseconds reserve = std::clamp(left / 4, kLeastReserve, kMostReserve);
    if (left <= reserve) return "the client does not wait long enough for any capture";
    if (plan->length > left - reserve) {
      plan->warning = "recorded for " + Seconds(left - reserve) + " of the " +
                      Seconds(plan->length) + " asked for: the client waits no longer";
      plan->length = left - reserve;
    }
    plan->export_end = end - std::min(kMostSending, left / 10);
    return "";
  }

  // Takes the turn to capture. Returns empty, or why another capture has it.
  std::string TakeTurn(const std::shared_ptr<RpcCall>& call, Clock::time_point end) {
    const std::lock_guard lock(mutex);
    if (capturing != nullptr && capturing->IsGone())
      return "the capture of a client that has left is about to end; try again";
    if (capturing != nullptr) {
      const auto left = std::chrono::duration_cast<milliseconds>(capture_end - Clock::now());
      return "another capture of this agent runs" +
             (left > milliseconds(0) ? ", for " + Seconds(left) + " more" : std::string()) +
             "; try again after it";
    }
    capturing = call;
    capture_end = end;
    return "";
  }
  void GiveTurn() {
    const std::lock_guard lock(mutex);
    capturing = nullptr;
  }

  // Keeps a copy of what was captured.
  void Keep(const ProfileRequest& request, CaptureResult* result) {
    std::string fault;
    const std::string run = log_folder.Keep(request, result->traces, &fault);
    if (!fault.empty()) result->words.warnings.push_back(AsSentence(fault));
    if (!run.empty()) Say("wrote " + run);
  }

  void Profile(const std::shared_ptr<RpcCall>& call) {
    ProfileRequest request;
    Plan plan;
    std::string fault = ReadProfileRequest(call->request().message, &request);
    if (!fault.empty()) return call->Fail(GrpcStatus::kInvalidArgument, std::move(fault));
    fault = MakePlan(request, *call, &plan);
    if (fault.empty()) fault = TakeTurn(call, plan.start + plan.length);
    if (!fault.empty()) return AnswerError(call.get(), std::move(fault));
    Capture(
        call,
        [this, plan, request](const RpcCall& each) {
          CaptureResult result;
          if (each.WaitUntil(plan.start))
            result = capturer->Capture(plan.length, plan.export_end, each);
          if (!plan.warning.empty()) result.words.warnings.push_back(plan.warning);
          Keep(request, &result);
          return result;
        },
        false);
  }

  void Snapshot(const std::shared_ptr<RpcCall>& call) {
    const Clock::time_point now = Clock::now(), end = call->deadline().value_or(now + kUsualWait);
    std::string fault = TakeTurn(call, now);
    if (!fault.empty()) return AnswerError(call.get(), std::move(fault), true);
    const auto left = std::chrono::duration_cast<milliseconds>(end - now);
    Capture(
        call,
        [this, until = end - std::min(kMostSending, left / 10)](const RpcCall& each) {
          return capturer->Snapshot(until, each);
        },
        true);
  }

  template <typename Task>
  void Capture(const std::shared_ptr<RpcCall>& call, const Task& task, bool is_snapshot) {
    const bool is_begun = Run(call, [this, call, task, is_snapshot] {
      CaptureResult result = task(*call);
      GiveTurn();
      AnswerResult(call.get(), std::move(result), is_snapshot);
    });
    if (!is_begun) GiveTurn();
  }

  void Monitor(const std::shared_ptr<RpcCall>& call) {
    MonitorRequest request;
    std::string fault = ReadMonitorRequest(call->request().message, &request);
    if (!fault.empty()) return call->Fail(GrpcStatus::kInvalidArgument, std::move(fault));
    Run(call, [this, call, request] {
      std::string words;
      if (request.has_timestamp) words = Now() + "\n";
      words += State() + capturer->Describe(call->user());
      RpcAnswer answer;
      answer.body.Add(WriteMonitorAnswer(words));
      call->Answer(std::move(answer));
    });
  }

  static std::string Now() {
    const time_t now = time(nullptr);
    tm utc = {};
    char text[32] = "";
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    return text;
  }

  std::string State() {
    const std::lock_guard lock(mutex);
    return capturing != nullptr ? "A capture of this agent runs.\n" : "";
  }

  void Continuous(const std::shared_ptr<RpcCall>& call, bool is_start) {
    Run(call, [this, call, is_start] {
      std::string fault =
          is_start ? capturer->StartRecorders(*call) : capturer->StopRecorders(*call);
      if (!fault.empty()) return call->Fail(GrpcStatus::kFailedPrecondition, std::move(fault));
      call->Answer({});
    });
  }
};

ProfilerService::ProfilerService(Capturer* capturer, const std::string& host,
                                 std::string log_folder, KeepLimit keep)
    : work_(std::make_unique<Work>(capturer, host, std::move(log_folder), keep)) {}

ProfilerService::~ProfilerService() {
  for (Work::Worker& worker : work_->workers) worker.thread.join();
}

void ProfilerService::Begin(std::shared_ptr<RpcCall> call) {
  const std::string& method = call->request().method;
  if (method == kProfileMethod) return work_->Profile(call);
  if (method == kMonitorMethod) return work_->Monitor(call);
  if (method == kGetSnapshotMethod) return work_->Snapshot(call);
  if (method == kStartContinuousMethod) return work_->Continuous(call, true);
  if (method == kStopContinuousMethod) return work_->Continuous(call, false);
  call->Fail(GrpcStatus::kUnimplemented, "gpuprof agent does not know this call");
}

}  // namespace gpuprof::launcher
