// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The protocol of `gpuprof agent` without sockets: both ends of a connection hand each other bytes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "launcher/agent/addresses.h"
#include "launcher/agent/answer_file.h"
#include "launcher/agent/grpc_frames.h"
#include "launcher/agent/http2_session.h"
#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/remote_call.h"
#include "launcher/agent/wire.h"

namespace gpuprof::launcher {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<codec::OwnedFile> FileOf(const std::string& bytes) {
  char name[] = "/tmp/gpuprof-agent-test-XXXXXX";
  auto file = std::make_shared<codec::OwnedFile>(mkstemp(name));
  unlink(name);
  EXPECT_EQ(write(file->fd(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

std::string AllOf(Body body, size_t piece) {
  std::string all, room(piece, '\0');
  for (int64_t got = 0; (got = body.Take(room.data(), room.size())) > 0;)
    all.append(room, 0, static_cast<size_t>(got));
  return all;
}

TEST(Wire, FieldsComeBack) {
  std::string message;
  AddNumber(1, 300, &message);
  AddNumber(2, 0, &message);  // is left out
  AddText(15, "text", &message);
  AddBytes(16, "", &message);
  message += std::string("\x21") + std::string(8, '\x01');  // field 4, fixed64
  WireReader reader(message);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.number(), 300u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 15u);
  EXPECT_EQ(reader.bytes(), "text");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 16u);
  EXPECT_TRUE(reader.is_bytes());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.number(), 0x0101010101010101u);
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.is_broken());
}

TEST(Wire, BrokenMessagesEnd) {
  for (const std::string& bytes :
       {std::string("\x0a\x05"
                    "abc"),
        std::string("\x08"), std::string("\x0b"), std::string("\x00\x01", 2),
        std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        std::string("\x08") + std::string(11, '\xff')}) {
    WireReader reader(bytes);
    while (reader.Next()) {}
    EXPECT_TRUE(reader.is_broken());
  }
}

TEST(GrpcFrames, APieceAtATime) {
  const std::string bytes = GrpcHead(5) + "hello";
  std::string got;
  GrpcMessageReader reader(5, [&](std::string_view piece) {
    got += piece;
    return true;
  });
  for (const char c : bytes) {
    EXPECT_FALSE(reader.IsWhole());
    EXPECT_EQ(reader.Feed({&c, 1}), GrpcStatus::kOk);
  }
  EXPECT_TRUE(reader.IsWhole());
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(reader.Feed("x"), GrpcStatus::kUnimplemented);
}

TEST(GrpcFrames, TooLongOrCompressedIsRefused) {
  const auto sink = [](std::string_view) { return true; };
  EXPECT_EQ(GrpcMessageReader(4, sink).Feed(GrpcHead(5)), GrpcStatus::kResourceExhausted);
  EXPECT_EQ(GrpcMessageReader(9, sink).Feed(std::string("\1\0\0\0\1x", 6)),
            GrpcStatus::kUnimplemented);
}

TEST(GrpcFrames, Timeouts) {
  EXPECT_EQ(ParseGrpcTimeout("60S"), std::chrono::seconds(60));
  EXPECT_EQ(ParseGrpcTimeout("59999m"), milliseconds(59'999));
  EXPECT_EQ(ParseGrpcTimeout("2H"), std::chrono::hours(2));
  EXPECT_GT(*ParseGrpcTimeout("99999999H"), std::chrono::hours(1'000'000));
  for (const char* bad : {"", "S", "5", "5x", "-5S", "123456789S", "5 S"})
    EXPECT_FALSE(ParseGrpcTimeout(bad)) << bad;
  EXPECT_EQ(ParseGrpcTimeout(FormatGrpcTimeout(milliseconds(61'500))), milliseconds(61'500));
  EXPECT_EQ(ParseGrpcTimeout(FormatGrpcTimeout(std::chrono::hours(48))), std::chrono::hours(48));
}

TEST(GrpcFrames, WordsComeBack) {
  const std::string words = "100 % of \xc3\xa4\n";
  const std::string escaped = EscapeGrpcWords(words);
  EXPECT_EQ(escaped, "100 %25 of %C3%A4%0A");
  EXPECT_EQ(UnescapeGrpcWords(escaped), words);
  EXPECT_EQ(UnescapeGrpcWords("50% %4 %zz%"), "50% %4 %zz%");
}

TEST(Addresses, HostsAndPorts) {
  HostPort address;
  EXPECT_EQ(ParseHostPort("node7:9012", &address), "");
  EXPECT_EQ(address.Text(), "node7:9012");
  EXPECT_EQ(ParseHostPort("grpc://[::1]:0", &address), "");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.Text(), "[::1]:0");
  for (const char* bad : {"", "node7", "node7:", ":80", "node7:70000", "node7:-1", "::1:80",
                          "a/b:80", "a b:80", "a:80 "})
    EXPECT_NE(ParseHostPort(bad, &address), "") << bad;
}

SocketAddress Numeric(const std::string& host) {
  std::vector<SocketAddress> found;
  EXPECT_EQ(FindAddresses({host, 80}, &found), "");
  return found.front();
}

TEST(Addresses, PeerLists) {
  PeerList list;
  EXPECT_EQ(list.Parse("10.1.0.0/16,192.168.7.3,fd00::/9"), "");
  for (const char* in : {"10.1.255.1", "192.168.7.3", "fd00::1", "fd7f::1"})
    EXPECT_TRUE(list.Holds(Numeric(in))) << in;
  for (const char* out : {"10.2.0.1", "192.168.7.2", "fd80::1", "127.0.0.1", "::1"})
    EXPECT_FALSE(list.Holds(Numeric(out))) << out;
  PeerList all;
  EXPECT_EQ(all.Parse("0.0.0.0/0"), "");
  EXPECT_TRUE(all.Holds(Numeric("8.8.8.8")));
  EXPECT_FALSE(all.Holds(Numeric("fd00::1")));
  for (const char* bad :
       {"", "10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/x", "name", "10.1", "fd00::/129", "10.1.0.0/"})
    EXPECT_NE(PeerList().Parse(bad), "") << bad;
}

TEST(Addresses, Loopback) {
  for (const char* in : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(Numeric(in).IsLoopback()) << in;
  for (const char* out : {"128.0.0.1", "0.0.0.0", "::", "10.0.0.1"})
    EXPECT_FALSE(Numeric(out).IsLoopback()) << out;
}

TEST(Messages, ARequestComesBack) {
  ProfileRequest sent, read;
  sent.duration_ms = 1500;
  sent.start_timestamp_ns = 17;
  sent.session_id = "run";
  sent.host_name = "node7:9012";
  EXPECT_EQ(ReadProfileRequest(WriteProfileRequest(sent), &read), "");
  EXPECT_EQ(read.duration_ms, 1500u);
  EXPECT_EQ(read.start_timestamp_ns, 17u);
  EXPECT_EQ(read.session_id, "run");
  EXPECT_EQ(read.host_name, "node7:9012");
  EXPECT_NE(ReadProfileRequest("\x0a\x7f", &read), "");
}

TEST(Messages, BothFormsOfAnAnswerAreRead) {
  SpaceWords words;
  words.errors = {"why"};
  words.warnings = {"also"};
  for (const bool is_snapshot : {false, true}) {
    Body space;
    space.Add(MakeSpaceOfWords(words, "node7", 1));
    const uint64_t bytes = space.size();
    std::vector<NamedTrace> traces;
    Body answer;
    if (is_snapshot) {
      answer = MakeSnapshotAnswer(std::move(space));
    } else {
      traces.emplace_back("rank1.xplane.pb", std::move(space));
      answer = MakeProfileAnswer(std::move(traces));
    }
    const std::string all = AllOf(std::move(answer), 7);
    AnswerParts parts;
    EXPECT_EQ(ReadAnswer(FileOf(all)->fd(), all.size(), &parts), "");
    ASSERT_EQ(parts.traces.size(), 1u);
    EXPECT_EQ(parts.traces[0].name, is_snapshot ? "" : "rank1.xplane.pb");
    EXPECT_EQ(parts.traces[0].bytes, bytes);
    EXPECT_EQ(parts.traces[0].planes, 1u);
    EXPECT_EQ(parts.traces[0].errors, words.errors);
    EXPECT_EQ(parts.traces[0].warnings, words.warnings);
    for (size_t cut = 1; cut < all.size(); ++cut) {
      AnswerParts less;
      EXPECT_NE(ReadAnswer(FileOf(all)->fd(), cut, &less), "") << cut;
    }
  }
}

// Both ends of a connection.
class Wired : public CallHandler {
 public:
  Wired() : server(this) {}
  void OnCall(int32_t stream, RpcRequest request) override { calls[stream] = std::move(request); }
  void OnGone(int32_t stream) override { gone.push_back(stream); }

  RemoteRequest Request(const std::string& method, const std::string& message) {
    RemoteRequest request;
    request.authority = "node7:9012";
    request.method = method;
    request.message = message;
    request.token = "secret";
    request.timeout = milliseconds(60'000);
    request.most_answer_bytes = uint64_t{1} << 30;
    request.sink = [this](std::string_view piece) {
      got += piece;
      return !is_full;
    };
    return request;
  }

  // Hands over what both have to send. Returns whether anything moved.
  bool Exchange(RemoteCall* client, size_t piece = 1 << 20) {
    std::string to_server, to_client;
    client->Send(&to_server);
    bool is_good = true;
    for (size_t at = 0; at < to_server.size() && is_good; at += piece)
      is_good = server.Receive(std::string_view(to_server).substr(at, piece));
    if (is_good) server.Send(&to_client, 1 << 20);
    client->Receive(to_client);
    return !to_server.empty() || !to_client.empty();
  }
  void Run(RemoteCall* client) {
    while (Exchange(client)) {}
  }

  Http2Session server;
  std::map<int32_t, RpcRequest> calls;
  std::vector<int32_t> gone;
  std::string got;
  bool is_full = false;
};

TEST(Session, ACallAndItsAnswer) {
  Wired wired;
  RemoteCall client(wired.Request(kProfileMethod, "request"));
  while (wired.Exchange(&client, 3)) {}
  ASSERT_EQ(wired.calls.size(), 1u);
  const auto& [stream, request] = *wired.calls.begin();
  EXPECT_EQ(request.method, kProfileMethod);
  EXPECT_EQ(request.message, "request");
  EXPECT_EQ(request.authorization, "Bearer secret");
  EXPECT_EQ(request.timeout, milliseconds(60'000));
  EXPECT_FALSE(client.is_done());
  const std::string large(60 << 20, 'x');
  RpcAnswer answer;
  answer.body.Add("in front ");
  answer.body.AddFile(FileOf(large), large.size());
  answer.body.Add(" behind");
  wired.server.Answer(stream, std::move(answer));
  wired.Run(&client);
  EXPECT_TRUE(client.is_done());
  EXPECT_EQ(client.fault(), "");
  EXPECT_TRUE(wired.got == "in front " + large + " behind");
  EXPECT_EQ(wired.server.OpenCalls(), 0u);
  EXPECT_TRUE(wired.gone.empty());
}

TEST(Session, AnEmptyAnswer) {
  Wired wired;
  RemoteCall client(wired.Request(kProfileMethod, ""));
  wired.Run(&client);
  wired.server.Answer(wired.calls.begin()->first, {});
  wired.Run(&client);
  EXPECT_TRUE(client.is_done());
  EXPECT_EQ(client.fault(), "");
  EXPECT_EQ(wired.got, "");
}

TEST(Session, AStatusHasItsWords) {
  Wired wired;
  RemoteCall client(wired.Request("/other", ""));
  wired.Run(&client);
  RpcAnswer answer;
  answer.status = GrpcStatus::kUnimplemented;
  answer.words = "100 % unknown";
  wired.server.Answer(wired.calls.begin()->first, std::move(answer));
  wired.Run(&client);
  EXPECT_EQ(client.fault(), "the server answers UNIMPLEMENTED: 100 % unknown");
}

TEST(Session, AClientThatLeavesIsNoticed) {
  Wired wired;
  RemoteCall client(wired.Request(kProfileMethod, ""));
  wired.Run(&client);
  const int32_t stream = wired.calls.begin()->first;
  client.Cancel();
  wired.Run(&client);
  std::string last;
  client.Send(&last);
  EXPECT_TRUE(wired.server.Receive(last));
  EXPECT_EQ(wired.gone, std::vector<int32_t>{stream});
  wired.server.Answer(stream, {});  // harms nobody
}

TEST(Session, ACutFileBreaksTheCallOff) {
  Wired wired;
  RemoteCall client(wired.Request(kProfileMethod, ""));
  wired.Run(&client);
  RpcAnswer answer;
  answer.body.AddFile(FileOf("short"), 1000);
  wired.server.Answer(wired.calls.begin()->first, std::move(answer));
  wired.Run(&client);
  EXPECT_TRUE(client.is_done());
  EXPECT_NE(client.fault(), "");
}

TEST(Session, AClientWithoutRoomGivesUp) {
  Wired wired;
  wired.is_full = true;
  RemoteCall client(wired.Request(kProfileMethod, ""));
  wired.Run(&client);
  RpcAnswer answer;
  answer.body.Add(std::string(100'000, 'x'));
  wired.server.Answer(wired.calls.begin()->first, std::move(answer));
  wired.Run(&client);
  EXPECT_NE(client.fault().find("could not be kept"), std::string::npos);
}

TEST(Session, LongMessagesAreRefused) {
  Wired wired;
  RemoteCall client(
      wired.Request(kProfileMethod, std::string(Http2Session::kMostMessageBytes + 1, 'x')));
  wired.Run(&client);
  EXPECT_TRUE(wired.calls.empty());
  EXPECT_NE(client.fault().find("RESOURCE_EXHAUSTED"), std::string::npos) << client.fault();
}

TEST(Session, OtherBytesEndTheConnection) {
  Wired wired;
  EXPECT_FALSE(wired.server.Receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  RemoteCall client(wired.Request(kProfileMethod, ""));
  std::string out;
  client.Send(&out);
  client.Receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  client.Send(&out);
  EXPECT_NE(client.fault().find("does not speak HTTP/2"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::launcher
