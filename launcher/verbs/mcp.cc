// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof mcp`: a server of the Model Context Protocol on standard input and output. Assistants
// start it, and ask it about recordings. Nothing but messages goes to standard output.

#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/mcp/line_reader.h"
#include "launcher/mcp/mcp_server.h"
#include "launcher/mcp/request_queue.h"
#include "launcher/reading/reading.h"
#include "launcher/serve/capture_list.h"
#include "launcher/serve/folder_processes.h"

namespace gpuprof::launcher {
namespace {

// A client that pings wants to know whether the server lives. A long question does not keep it
// waiting for more than this time.
constexpr std::chrono::milliseconds kPingWait{2'000};

// Reads lines until the end, hands them on, and takes away what the client cancels.
void ReadLines(McpServer* server, RequestQueue* queue, std::mutex* output) {
  LineReader lines(STDIN_FILENO, McpServer::kMostLineBytes);
  for (std::string line;;) {
    const LineReader::Got got = lines.Next(&line);
    if (got == LineReader::Got::kEnd) return queue->Close();
    if (got == LineReader::Got::kTooLong) {
      queue->Push({"", true}, "");
      continue;
    }
    RequestQueue::Facts facts = RequestQueue::FactsOf(line);
    if (!facts.cancels.empty()) queue->Cancel(facts.cancels);
    if (!facts.is_ping || queue->AwaitIdle(kPingWait)) {
      queue->Push({std::move(line), false}, std::move(facts.id));
      continue;
    }
    // The answer to a ping needs no recording.
    const std::string answer = server->Answer(line);
    const std::lock_guard<std::mutex> lock(*output);
    if (!answer.empty()) PutBytes(answer + "\n");
  }
}

class Mcp : public Verb {
 public:
  void Declare(Options* options) override {
    options->Value("--root", &root_, "DIR",
                   "The folder with the recordings; other files are not read (default: the "
                   "current folder)");
    options->Flag("--allow-control", &allows_control_,
                  "Offer tools that start and stop recordings of processes that record into DIR");
    DeclareKernelRules(options, &kernel_rules_);
  }

  int Execute(const Options&) override {
    ToolContext context;
    if (const std::string fault = context.inputs.Begin(root_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    context.captures = std::make_unique<CaptureList>(context.inputs.root());
    context.processes = std::make_unique<FolderProcessList>(context.inputs.root());
    context.allows_control = allows_control_;
    if (isatty(STDIN_FILENO) != 0)
      Say("this is a server for assistants: they send messages on standard input. See "
          "docs/assistants.md. Ctrl-D ends it");
    McpServer server(&context);
    RequestQueue queue;
    std::mutex output;
    std::thread reader([&] { ReadLines(&server, &queue, &output); });
    for (RequestQueue::Line line; queue.Pop(&line);) {
      const std::string answer =
          line.is_too_long ? McpServer::AnswerTooLong() : server.Answer(line.text);
      const std::lock_guard<std::mutex> lock(output);
      if (queue.FinishAnswer() && !answer.empty()) PutBytes(answer + "\n");
    }
    reader.join();
    return kExitOk;
  }

 private:
  std::string root_ = ".", kernel_rules_;
  bool allows_control_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeMcp() { return std::make_unique<Mcp>(); }

}  // namespace gpuprof::launcher
