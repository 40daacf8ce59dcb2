// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The server of `gpuprof agent` with a trace of a given size that is there at once, for agent.py:
// what it takes is the way from a file to the client.
//
//   agent_server BYTES    prints the port, and serves until it is killed

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "launcher/agent/agent_server.h"
#include "launcher/agent/profiler_service.h"
#include "launcher/base/temporary_folder.h"

namespace gpuprof::launcher {
namespace {

class ReadyTrace : public Capturer {
 public:
  explicit ReadyTrace(uint64_t bytes) : bytes_(bytes) {
    codec::OwnedFile file;
    MakeUnnamedFile(&file);
    // One line of the profile's warnings takes nearly all of it.
    SpaceWords words;
    words.warnings.push_back(std::string(bytes, 'x'));
    const std::string space = MakeSpaceOfWords(words, "host", 0).substr(0, bytes);
    if (write(file.fd(), space.data(), space.size()) != static_cast<ssize_t>(space.size())) abort();
    file_ = std::make_shared<const codec::OwnedFile>(std::move(file));
  }
  CaptureResult Capture(std::chrono::milliseconds, RpcCall::Clock::time_point,
                        const RpcCall&) override {
    CaptureResult result;
    result.traces.push_back({kXPlaneName, file_, bytes_});
    return result;
  }
  CaptureResult Snapshot(RpcCall::Clock::time_point, const RpcCall&) override { return {}; }
  std::string StartRecorders(const RpcCall&) override { return ""; }
  std::string StopRecorders(const RpcCall&) override { return ""; }
  std::string Describe(std::optional<uid_t>) override { return ""; }

 private:
  uint64_t bytes_;
  std::shared_ptr<const codec::OwnedFile> file_;
};

int Serve(uint64_t bytes) {
  ReadyTrace trace(bytes);
  ProfilerService service(&trace, "host", "");
  Doorkeeper doorkeeper;
  AgentServer server(&doorkeeper, &service);
  std::vector<SocketAddress> addresses;
  std::string fault = FindAddresses({"127.0.0.1", 0}, &addresses);
  if (fault.empty()) fault = server.Listen(addresses.front());
  if (!fault.empty()) {
    std::fprintf(stderr, "%s\n", fault.c_str());
    return 1;
  }
  const std::string text = server.Text();
  std::printf("%s\n", text.substr(text.rfind(':') + 1).c_str());
  std::fflush(stdout);
  int ends[2];  // never readable
  if (pipe(ends) != 0) return 1;
  server.Run(ends[0]);
  return 0;
}

}  // namespace
}  // namespace gpuprof::launcher

int main(int argc, char** argv) {
  return argc == 2 ? gpuprof::launcher::Serve(std::strtoull(argv[1], nullptr, 10)) : 2;
}
