// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof capture`: asks profiler servers of other machines for a capture: `gpuprof agent`,
// TensorFlow's and JAX's.

#include <signal.h>

#include <set>

#include "analysis/analysis.h"
#include "launcher/agent/answer_file.h"
#include "launcher/agent/log_folder.h"
#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/profiler_service.h"
#include "launcher/agent/remote_hosts.h"
#include "launcher/agent/token_file.h"
#include "launcher/base/end_signals.h"
#include "launcher/base/output_folder.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kNsInMs = 1'000'000;

std::string CheckLength(std::string_view text) {
  uint64_t nanoseconds = 0;
  std::string fault = ParseDuration(text, &nanoseconds);
  const std::chrono::nanoseconds most(ProfilerService::kLongest);
  if (fault.empty() && nanoseconds > static_cast<uint64_t>(most.count()))
    fault = "'" + std::string(text) + "' is too long; at most 10m are captured";
  return fault;
}

class CaptureVerb : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positionals("HOST:PORT", &hosts_,
                         "Profiler servers, also several with commas between them");
    options->Value("--for", &length_, "TIME", "How long to capture, at most 10m", CheckLength);
    options->Value("-o,--output", &output_, "DIR",
                   "TensorBoard's log folder, which may exist: it gets a run");
    options->Value("--token-file", &token_file_, "FILE",
                   "A file with the token that 'gpuprof agent --token-file' asks for");
  }

  int Execute(const Options&) override {
    if (const std::string fault = Prepare(); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const EndSignals end;
    std::vector<RemoteAnswer> answers = CaptureHosts(order_, end.fd());
    OutputFolder folder(WithoutSlash(output_));
    for (size_t i = 0; i < answers.size(); ++i) Take(order_.hosts[i], &answers[i], &folder);
    if (const std::string fault = folder.Finish(); !fault.empty()) {
      Say(fault);
      return kExitUnreadable;
    }
    for (const std::string& path : folder.files()) Say("wrote " + path);
    if (!folder.files().empty()) {
      Say("next: gpuprof report " + analysis::ShellWord(output_) + ", or tensorboard --logdir " +
          analysis::ShellWord(output_));
    }
    return exit_;
  }

 private:
  std::string Prepare() {
    std::set<std::string> names;
    for (const std::string& word : hosts_) {
      for (const std::string& item : Split(word, ',')) {
        HostPort host;
        if (std::string fault = ParseHostPort(item, &host); !fault.empty()) return fault;
        if (!names.insert(FileOf(host)).second) return "'" + item + "' is named twice";
        order_.hosts.push_back(host);
      }
    }
    if (output_.empty()) {
      return "the log folder is missing: gpuprof capture " + analysis::ShellWord(hosts_.front()) +
             " --for 5s -o job";
    }
    uint64_t nanoseconds = 0;
    ParseDuration(length_, &nanoseconds);
    order_.length = std::chrono::milliseconds(nanoseconds / kNsInMs);
    order_.session_id = RunNameNow();
    return token_file_.empty() ? "" : ReadTokenFile(token_file_, &order_.token);
  }

  static std::string FileOf(const HostPort& host) {
    return FileNamePart(host.host + "_" + std::to_string(host.port));
  }

  // Writes the traces of an answer, and says what they say.
  void Take(const HostPort& host, RemoteAnswer* answer, OutputFolder* folder) {
    AnswerParts parts;
    std::string fault = answer->fault;
    if (fault.empty()) fault = ReadAnswer(answer->file.fd(), answer->bytes, &parts);
    if (fault.empty() && parts.traces.empty()) {
      fault = parts.is_empty_trace ? "the server recorded nothing; it may be idle, or another "
                                     "profiler has the device"
                                   : "the server sent no trace; it may have written one on its "
                                     "own machine";
    }
    if (!fault.empty()) return Fail(host, fault);
    const auto file = std::make_shared<const codec::OwnedFile>(std::move(answer->file));
    std::set<std::string> names;
    for (const AnswerTrace& trace : parts.traces) {
      for (const std::string& words : trace.errors) Fail(host, words);
      for (const std::string& words : trace.warnings) Say(host.Text() + ": " + words);
      // A trace has a plane of the host and one about the profile. This one is a reason alone.
      if (!trace.errors.empty() && trace.planes <= 1) continue;
      std::string name = FileNamePart(trace.name);
      if (name.empty()) name = kXPlaneName;
      while (!names.insert(name).second) name = "next." + name;
      const std::string path =
          "plugins/profile/" + order_.session_id + "/" + FileOf(host) + "." + name;
      if (!Write(*file, trace, path, folder)) return;
    }
  }

  static bool Write(const codec::OwnedFile& file, const AnswerTrace& trace, const std::string& path,
                    OutputFolder* folder) {
    std::string room(256 << 10, '\0');
    for (uint64_t at = 0; at < trace.bytes;) {
      const uint64_t piece = std::min<uint64_t>(room.size(), trace.bytes - at);
      const ssize_t got =
          pread(file.fd(), room.data(), piece, static_cast<off_t>(trace.offset + at));
      if (got <= 0 || !folder->Write(path, {room.data(), static_cast<size_t>(got)})) return false;
      at += static_cast<uint64_t>(got);
    }
    return true;
  }

  void Fail(const HostPort& host, const std::string& words) {
    Say(host.Text() + ": " + words);
    exit_ = kExitUnreadable;
  }

  std::vector<std::string> hosts_;
  std::string length_ = "2s", output_, token_file_;
  RemoteOrder order_;
  int exit_ = kExitOk;
};

}  // namespace

std::unique_ptr<Verb> MakeCapture() { return std::make_unique<CaptureVerb>(); }

}  // namespace gpuprof::launcher
