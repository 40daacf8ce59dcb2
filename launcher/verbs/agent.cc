// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof agent`: answers TensorBoard's and xprof's "Capture profile" for the programs of this
// machine that carry gpuprof.

#include <signal.h>
#include <unistd.h>

#include <charconv>

#include "analysis/analysis.h"
#include "launcher/agent/agent_server.h"
#include "launcher/agent/local_capture.h"
#include "launcher/agent/profiler_service.h"
#include "launcher/base/end_signals.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

std::string CheckListen(std::string_view text) {
  HostPort address;
  return ParseHostPort(text, &address);
}

std::string CheckPeers(std::string_view text) { return PeerList().Parse(text); }

std::string ParsePids(std::string_view text, std::set<int32_t>* pids) {
  for (const std::string& item : Split(text, ',')) {
    int32_t pid = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), pid);
    if (error != std::errc() || end != item.data() + item.size() || pid <= 0)
      return "'" + item + "' is not a process number; write a PID from 'gpuprof ps'";
    pids->insert(pid);
  }
  return "";
}

std::string CheckPids(std::string_view text) {
  std::set<int32_t> pids;
  return ParsePids(text, &pids);
}

std::string CheckKeep(std::string_view text) {
  KeepLimit limit;
  return ParseKeepLimit(text, &limit);
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name[0] == 0 ? "localhost" : name;
}

class Agent : public Verb {
 public:
  void Declare(Options* options) override {
    options->Value("--listen", &listen_, "ADDRESS:PORT",
                   "The address for clients; port 0: any free one", CheckListen);
    options->Value("--logdir", &log_folder_, "DIR",
                   "Also keep each capture in this log folder of TensorBoard; a client that writes "
                   "there itself is left to it");
    options->Value("--keep", &keep_, "SIZE|N",
                   "Keep only the newest N captures that this agent has written to --logdir, or "
                   "as many as fit into SIZE",
                   CheckKeep);
    options->Value("--pid", &pids_, "PID[,PID]", "Capture only these processes", CheckPids);
    options->Value("--bundle", &bundle_, "DIR", "Capture only processes that record into DIR");
    options->Flag("--open-to-network", &is_open_,
                  "Let --listen name an address that other machines reach; needs --token-file or "
                  "--allow-peers");
    options->Value("--token-file", &token_file_, "FILE",
                   "A file with a token that 'gpuprof capture --token-file' sends; TensorFlow's "
                   "clients cannot send one");
    options->Value("--allow-peers", &peers_, "ADDRESS[,ADDRESS/BITS]",
                   "Addresses and networks whose clients need no token", CheckPeers);
  }

  int Execute(const Options&) override {
    if (const std::string fault = Prepare(); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const EndSignals end;
    CaptureGuard guard;
    LocalCapture capture(choice_, &guard);
    {
      ProfilerService service(&capture, HostName(), WithoutSlash(log_folder_), limit_);
      AgentServer server(&doorkeeper_, &service);
      if (const std::string fault = server.Listen(address_); !fault.empty()) {
        Say(fault);
        return kExitUsage;
      }
      Say("answers 'Capture profile' at " + server.Text() + " until Ctrl-C");
      server.Run(end.fd());
    }
    capture.StopAll();
    return kExitOk;
  }

 private:
  // Reads the options that depend on each other. Returns empty, or cause and fix.
  std::string Prepare() {
    if (!keep_.empty()) ParseKeepLimit(keep_, &limit_);
    if (!keep_.empty() && log_folder_.empty())
      return "--keep limits what is in the log folder; name it with --logdir DIR";
    if (!pids_.empty()) ParsePids(pids_, &choice_.pids);
    if (!bundle_.empty()) {
      char* path = realpath(bundle_.c_str(), nullptr);
      if (path == nullptr) {
        return analysis::ShellWord(bundle_) +
               " is not a folder; name the bundle of a running process";
      }
      choice_.bundle = path;
      free(path);
    }
    HostPort name;
    ParseHostPort(listen_, &name);
    std::vector<SocketAddress> addresses;
    if (std::string fault = FindAddresses(name, &addresses); !fault.empty()) return fault;
    address_ = addresses.front();
    if (!token_file_.empty()) {
      if (std::string fault = doorkeeper_.ReadToken(token_file_); !fault.empty()) return fault;
    }
    if (!peers_.empty()) doorkeeper_.AllowPeers(peers_);
    if (address_.IsLoopback()) return "";
    if (!is_open_) {
      return address_.Text() +
             " can be reached from other machines, and this protocol keeps nothing secret. Use an "
             "ssh tunnel to 127.0.0.1, or add --open-to-network with --token-file or "
             "--allow-peers";
    }
    if (!doorkeeper_.HasToken() && !doorkeeper_.HasPeers()) {
      return "--open-to-network would let every machine capture your programs; say with "
             "--allow-peers or --token-file who may";
    }
    return "";
  }

  std::string listen_ = "127.0.0.1:9012";
  KeepLimit limit_;
  std::string keep_, log_folder_, pids_, bundle_, token_file_, peers_;
  bool is_open_ = false;
  ProcessChoice choice_;
  SocketAddress address_;
  Doorkeeper doorkeeper_;
};

}  // namespace

std::unique_ptr<Verb> MakeAgent() { return std::make_unique<Agent>(); }

}  // namespace gpuprof::launcher
