// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The service of `gpuprof agent` with a capturer of the test's own.

#include "launcher/agent/profiler_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <future>

#include "launcher/agent/wire.h"

namespace gpuprof::launcher {
namespace {

using Clock = RpcCall::Clock;
using std::chrono::milliseconds;

std::string AllOf(Body body) {
  std::string all, room(4096, '\0');
  for (int64_t got = 0; (got = body.Take(room.data(), room.size())) > 0;)
    all.append(room, 0, static_cast<size_t>(got));
  return all;
}

class FakeCapturer : public Capturer {
 public:
  CaptureResult Capture(milliseconds length, Clock::time_point, const RpcCall& call) override {
    lengths.push_back(length);
    began.set_value();
    // As long as the test wants, or the client waits.
    while (!is_released && call.WaitUntil(Clock::now() + milliseconds(5))) {}
    was_left = call.IsGone();
    CaptureResult result;
    result.words.warnings = {"a warning"};
    for (const char* name : {"xplane.pb", "rank1.xplane.pb"}) {
      char path[] = "/tmp/gpuprof-service-test-XXXXXX";
      auto file = std::make_shared<codec::OwnedFile>(mkstemp(path));
      unlink(path);
      EXPECT_EQ(write(file->fd(), "\x0a\x00", 2), 2);
      result.traces.push_back({name, std::move(file), 2});
    }
    return result;
  }
  CaptureResult Snapshot(Clock::time_point end, const RpcCall& call) override {
    is_released = true;
    return Capture(milliseconds(0), end, call);
  }
  std::string StartRecorders(const RpcCall&) override { return "no recorder"; }
  std::string StopRecorders(const RpcCall&) override { return ""; }
  std::string Describe(std::optional<uid_t>) override { return "one process\n"; }

  std::vector<milliseconds> lengths;
  std::promise<void> began;
  std::atomic<bool> is_released = false, was_left = false;
};

class ServiceTest : public testing::Test {
 protected:
  struct Asked {
    std::shared_ptr<RpcCall> call;
    std::future<RpcAnswer> answer;
  };
  Asked Ask(const std::string& method, const std::string& message,
            std::optional<std::chrono::nanoseconds> timeout = std::nullopt) {
    RpcRequest request;
    request.method = method;
    request.message = message;
    request.timeout = timeout;
    const auto promise = std::make_shared<std::promise<RpcAnswer>>();
    Asked asked;
    asked.answer = promise->get_future();
    asked.call = std::make_shared<RpcCall>(
        std::move(request), std::nullopt,
        [promise](RpcAnswer answer) { promise->set_value(std::move(answer)); });
    service_.Begin(asked.call);
    return asked;
  }
  static std::string Profile(uint64_t duration_ms) {
    ProfileRequest request;
    request.duration_ms = duration_ms;
    return WriteProfileRequest(request);
  }

  FakeCapturer capturer_;
  ProfilerService service_{&capturer_, "node7", ""};
};

TEST_F(ServiceTest, TracesGoAsDataOfTools) {
  capturer_.is_released = true;
  RpcAnswer answer = Ask(kProfileMethod, Profile(0)).answer.get();
  EXPECT_EQ(answer.status, GrpcStatus::kOk);
  const std::string bytes = AllOf(std::move(answer.body));
  WireReader reader(bytes);
  int traces = 0;
  while (reader.Next()) {
    EXPECT_EQ(reader.field(), kToolDataField);
    ++traces;
  }
  EXPECT_EQ(traces, 2);
  EXPECT_NE(bytes.find("a warning"), std::string::npos);
  EXPECT_EQ(capturer_.lengths, std::vector<milliseconds>{milliseconds(0)});
}

TEST_F(ServiceTest, OneCaptureAtATime) {
  Asked first = Ask(kProfileMethod, Profile(1000));
  capturer_.began.get_future().wait();
  RpcAnswer second = Ask(kProfileMethod, Profile(1000)).answer.get();
  EXPECT_EQ(second.status, GrpcStatus::kOk);
  EXPECT_NE(AllOf(std::move(second.body)).find("another capture of this agent runs"),
            std::string::npos);
  capturer_.is_released = true;
  EXPECT_EQ(first.answer.get().status, GrpcStatus::kOk);
  EXPECT_EQ(capturer_.lengths.size(), 1u);
}

TEST_F(ServiceTest, AClientThatLeavesEndsTheCapture) {
  const Asked asked = Ask(kProfileMethod, Profile(600'000));
  capturer_.began.get_future().wait();
  asked.call->Leave();
  while (!capturer_.was_left) usleep(1000);
}

TEST_F(ServiceTest, LongCapturesAreRefusedInWords) {
  for (const uint64_t length : {uint64_t{600'001}, ~uint64_t{0}}) {
    RpcAnswer answer = Ask(kProfileMethod, Profile(length)).answer.get();
    EXPECT_EQ(answer.status, GrpcStatus::kOk);
    EXPECT_NE(AllOf(std::move(answer.body)).find("is too long"), std::string::npos);
  }
  EXPECT_TRUE(capturer_.lengths.empty());
}

TEST_F(ServiceTest, ACaptureEndsBeforeItsClient) {
  capturer_.is_released = true;
  RpcAnswer answer = Ask(kProfileMethod, Profile(61'000), std::chrono::seconds(60)).answer.get();
  ASSERT_EQ(capturer_.lengths.size(), 1u);
  EXPECT_LE(capturer_.lengths[0], milliseconds(45'000));
  EXPECT_GT(capturer_.lengths[0], milliseconds(40'000));
  EXPECT_NE(AllOf(std::move(answer.body)).find("the client waits no longer"), std::string::npos);
}

TEST_F(ServiceTest, NoTimeAtAllIsSaid) {
  RpcAnswer answer = Ask(kProfileMethod, Profile(10), std::chrono::milliseconds(500)).answer.get();
  EXPECT_NE(AllOf(std::move(answer.body)).find("does not wait long enough"), std::string::npos);
}

TEST_F(ServiceTest, ASnapshotIsAnXSpace) {
  RpcAnswer answer = Ask(kGetSnapshotMethod, "").answer.get();
  const std::string bytes = AllOf(std::move(answer.body));
  WireReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), kXSpaceField);
  EXPECT_FALSE(reader.Next());
  EXPECT_NE(bytes.find("1 more traces found no room"), std::string::npos);
}

TEST_F(ServiceTest, OtherCalls) {
  EXPECT_EQ(Ask("/tensorflow.ProfilerService/Terminate", "").answer.get().status,
            GrpcStatus::kUnimplemented);
  EXPECT_EQ(Ask(kProfileMethod, "\x0a\x7f").answer.get().status, GrpcStatus::kInvalidArgument);
  RpcAnswer refused = Ask(kStartContinuousMethod, "").answer.get();
  EXPECT_EQ(refused.status, GrpcStatus::kFailedPrecondition);
  EXPECT_EQ(refused.words, "no recorder");
  EXPECT_EQ(Ask(kStopContinuousMethod, "").answer.get().status, GrpcStatus::kOk);
  const std::string words = AllOf(std::move(Ask(kMonitorMethod, "").answer.get().body));
  EXPECT_NE(words.find("one process"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::launcher
