// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What comes over the network: to `gpuprof agent` from its clients, and to `gpuprof capture` from
// its servers. The first byte of an input chooses which of them it is for.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "launcher/agent/addresses.h"
#include "launcher/agent/answer_file.h"
#include "launcher/agent/grpc_frames.h"
#include "launcher/agent/http2_session.h"
#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/remote_call.h"
#include "launcher/agent/wire.h"
#include "tests/fuzz/temp_files.h"

using gpuprof::fuzz::Check;
using namespace gpuprof::launcher;

namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kPiece = 97;

// Answers every call at once, with words or with bytes.
class Handler : public CallHandler {
 public:
  void OnCall(int32_t stream, RpcRequest request) override {
    Check(request.message.size() <= Http2Session::kMostMessageBytes);
    Check(open_.emplace(stream, true).second);
    RpcAnswer answer;
    if (request.method == kProfileMethod) {
      ProfileRequest read;
      ReadProfileRequest(request.message, &read);
      answer.body.Add(read.session_id);
    } else {
      answer.status = GrpcStatus::kUnimplemented;
      answer.words = request.method;
    }
    if (request.message.size() % 2 == 0) session->Answer(stream, std::move(answer));
  }
  void OnGone(int32_t stream) override { Check(open_.erase(stream) == 1); }

  Http2Session* session = nullptr;

 private:
  std::map<int32_t, bool> open_;
};

void CheckServer(std::string_view bytes) {
  Handler handler;
  Http2Session session(&handler);
  handler.session = &session;
  std::string out;
  bool is_good = session.Receive(kPreface) && session.Send(&out, 1 << 16);
  for (size_t at = 0; at < bytes.size() && is_good; at += kPiece) {
    is_good = session.Receive(bytes.substr(at, kPiece));
    out.clear();
    is_good = is_good && session.Send(&out, 1 << 16);
    Check(out.size() < 1 << 20);
  }
  Check(session.OpenCalls() <= 2 * Http2Session::kMostCalls);
}

void CheckClient(std::string_view bytes) {
  uint64_t kept = 0;
  RemoteRequest request;
  request.authority = "host:1";
  request.method = kProfileMethod;
  request.message = WriteProfileRequest({});
  request.most_answer_bytes = 1000;
  request.sink = [&](std::string_view piece) {
    kept += piece.size();
    return true;
  };
  RemoteCall call(std::move(request));
  std::string out;
  call.Send(&out);
  for (size_t at = 0; at < bytes.size() && !call.is_done(); at += kPiece) {
    call.Receive(bytes.substr(at, kPiece));
    call.Send(&out);
  }
  call.EndOfConnection();
  Check(call.is_done() && kept <= 1000);
}

void CheckAnswerFile(std::string_view bytes) {
  static const gpuprof::fuzz::Folder folder;
  static const std::string path = folder / "answer";
  gpuprof::fuzz::WriteFile(path, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const gpuprof::codec::OwnedFile file(gpuprof::codec::OpenRegular(-100, path.c_str(), 0));
  AnswerParts parts;
  ReadAnswer(file.fd(), bytes.size(), &parts);
  for (const AnswerTrace& trace : parts.traces)
    Check(trace.offset <= bytes.size() && trace.bytes <= bytes.size() - trace.offset);
}

void CheckTexts(const std::string& text) {
  HostPort address;
  if (ParseHostPort(text, &address).empty()) {
    HostPort again;
    Check(ParseHostPort(address.Text(), &again).empty() && again.host == address.host &&
          again.port == address.port);
  }
  PeerList list;
  list.Parse(text);
  ParseGrpcTimeout(text);
  Check(UnescapeGrpcWords(EscapeGrpcWords(text)) == text);
  UnescapeGrpcWords(text);
  MonitorRequest monitor;
  ReadMonitorRequest(text, &monitor);
  ProfileRequest profile, again;
  if (ReadProfileRequest(text, &profile).empty()) {
    Check(ReadProfileRequest(WriteProfileRequest(profile), &again).empty());
    Check(again.duration_ms == profile.duration_ms && again.session_id == profile.session_id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      CheckServer(bytes);
      break;
    case 1:
      CheckClient(bytes);
      break;
    case 2:
      CheckAnswerFile(bytes);
      break;
    default:
      CheckTexts(std::string(bytes));
      break;
  }
  return 0;
}
