// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Seeds of agent_fuzz: what both ends of a call send each other, and the messages in it.

#include <fstream>
#include <string>

#include "launcher/agent/http2_session.h"
#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/remote_call.h"
#include "tests/fuzz/message_seeds.h"

namespace gpuprof::fuzz {
namespace {

using namespace launcher;

// The first byte chooses what the bytes are for, as agent_fuzz does.
enum For : char { kServer = 0, kClient = 1, kAnswer = 2, kText = 3 };

void Write(const std::filesystem::path& file, For what, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << std::string(1, what) << bytes;
}

class NoHandler : public CallHandler {
 public:
  void OnCall(int32_t stream, RpcRequest) override { stream_ = stream; }
  void OnGone(int32_t) override {}
  int32_t stream() const { return stream_; }

 private:
  int32_t stream_ = 0;
};

std::string AllOf(Body body) {
  std::string all, room(4096, '\0');
  for (int64_t got = 0; (got = body.Take(room.data(), room.size())) > 0;)
    all.append(room, 0, static_cast<size_t>(got));
  return all;
}

Body AnswerOf(const char* name) {
  SpaceWords words;
  words.errors = {"an error"};
  words.warnings = {"a warning"};
  Body space;
  space.Add(MakeSpaceOfWords(words, "host", 1));
  std::vector<NamedTrace> traces;
  traces.emplace_back(name, std::move(space));
  return MakeProfileAnswer(std::move(traces));
}

// Plays one call with an answer, and keeps what went over.
void Play(const std::filesystem::path& folder, const std::string& name, const char* method,
          GrpcStatus status) {
  constexpr size_t kPrefaceBytes = 24;
  NoHandler handler;
  Http2Session server(&handler);
  ProfileRequest profile;
  profile.duration_ms = 1000;
  profile.session_id = "2026_11_28_12_07_14";
  RemoteRequest request;
  request.authority = "host:9012";
  request.method = method;
  request.message = WriteProfileRequest(profile);
  request.token = "0123456789abcdef";
  request.timeout = std::chrono::seconds(60);
  request.most_answer_bytes = 1000;
  request.sink = [](std::string_view) { return true; };
  RemoteCall client(std::move(request));
  std::string to_server, to_client;
  for (int turn = 0; turn < 4; ++turn) {
    std::string more;
    client.Send(&more);
    server.Receive(more);
    to_server += more;
    if (turn == 1) {
      RpcAnswer answer;
      answer.status = status;
      answer.words = "words";
      if (status == GrpcStatus::kOk) answer.body = AnswerOf("xplane.pb");
      server.Answer(handler.stream(), std::move(answer));
    }
    more.clear();
    server.Send(&more, 1 << 20);
    client.Receive(more);
    to_client += more;
  }
  Write(folder / (name + "_server"), kServer, to_server.substr(kPrefaceBytes));
  Write(folder / (name + "_client"), kClient, to_client);
}

}  // namespace

void MakeAgent(const std::filesystem::path& folder) {
  Play(folder, "profile", kProfileMethod, GrpcStatus::kOk);
  Play(folder, "other", "/other/Call", GrpcStatus::kUnimplemented);
  Write(folder / "answer", kAnswer, AllOf(AnswerOf("rank1.xplane.pb")));
  Body space;
  space.Add(MakeSpaceOfWords({}, "host", 1));
  Write(folder / "snapshot", kAnswer, AllOf(MakeSnapshotAnswer(std::move(space))));
  Write(folder / "request", kText, WriteProfileRequest({}));
  for (const char* text :
       {"node7:9012", "grpc://[::1]:0", "10.1.0.0/16,fd00::/8", "59999m", "100 %25"})
    Write(folder / ("text_" + std::to_string(std::string(text).size())), kText, text);
}

}  // namespace gpuprof::fuzz
