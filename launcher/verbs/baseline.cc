// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof baseline`: keeps what a comparison needs of a recording under a name, so that later
// recordings can be compared with it when the recording is gone.

#include <google/protobuf/message.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launcher/base/freed_memory.h"
#include "launcher/base/nearest.h"
#include "launcher/base/text.h"
#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/reading/baselines.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/table_options.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

class BaselineVerb : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("save|list|show|remove", &action_, "What to do");
    options->Positional("NAME", &name_, "Name of the baseline", false);
    options->Positional("BUNDLE", &input_,
                        "For save: a bundle, a .gpt file or a trace of another tool", false);
    options->Value("--baseline-dir", &folder_, "DIR", kBaselineFolderHelp);
    options->Flag("--replace", &replace_, "Save over a baseline of the same name");
    options->Flag("--json", &json_, "Print JSON, for list and show");
    DeclareTables(options, &options_, &limit_, &width_);
    DeclareKernelRules(options, &kernel_rules_);
  }

  int Execute(const Options&) override {
    if (limit_ != Options::kNotGiven) options_.limit = limit_;
    const std::vector<std::string> actions = {"save", "list", "show", "remove"};
    if (std::find(actions.begin(), actions.end(), action_) == actions.end())
      return Usage("'" + action_ + "' is not an action; choose save, list, show or remove." +
                   DidYouMean(action_, actions));
    const bool needs_name = action_ != "list", needs_input = action_ == "save";
    if (needs_name != !name_.empty() || needs_input != !input_.empty())
      return Usage("the words for '" + action_ + "' are: gpuprof baseline " + action_ +
                   (needs_name ? " NAME" : "") + (needs_input ? " BUNDLE" : ""));
    const std::string bad = needs_name ? CheckBaselineName(name_) : "";
    if (!bad.empty()) return Usage(bad);
    BaselineFolder folder(folder_);
    if (action_ == "save") return Save(&folder);
    const std::string fault = folder.OpenToRead();
    if (!fault.empty()) return Fail(fault);
    if (action_ == "list") return List(folder);
    if (action_ == "show") return Show(folder);
    const std::string not_removed = folder.Remove(name_);
    return not_removed.empty() ? kExitOk : Fail(not_removed);
  }

 private:
  static int Usage(const std::string& words) {
    Say(words);
    return kExitUsage;
  }
  static int Fail(const std::string& words) {
    Say(words);
    return kExitUnreadable;
  }

  int Save(BaselineFolder* folder) {
    // A folder that cannot be used is told before the recording is read, which may take long.
    std::string fault = folder->OpenToWrite();
    if (!fault.empty()) return Fail(fault);
    KeepFreedMemory();
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(input_, false, &trace, analysis::CompareTables());
    if (opened != kExitOk) return opened;
    std::unique_ptr<google::protobuf::Message> baseline;
    const int made = ExitOf(analysis::MakeBaseline(*trace, options_, &baseline));
    if (made != kExitOk) return made;
    analysis::BaselineLabel label;
    label.name = name_;
    label.saved_realtime_ns = static_cast<int64_t>(proto::ReadClockNs(CLOCK_REALTIME));
    label.writer_version = kVersion;
    const std::string bytes = analysis::BaselineBytes(*baseline, label);
    fault = folder->Save(name_, bytes, replace_);
    if (!fault.empty()) return Fail(fault);
    const int faults = SayFaults(*trace);
    const std::string risk = folder->Risk();
    if (!risk.empty()) Say(risk);
    Say("saved " + folder->FileOf(name_) + ", " + FormatBytes(bytes.size()) +
        "; next: gpuprof diff --baseline " + name_ + " BUNDLE");
    return faults;
  }

  int List(const BaselineFolder& folder) const {
    std::vector<analysis::KeptBaseline> kept;
    bool has_fault = false;
    for (const std::string& name : folder.Names()) {
      analysis::KeptBaseline& each = kept.emplace_back();
      each.name = name;
      std::string bytes;
      each.fault = folder.Read(name, &bytes);
      each.size_bytes = bytes.size();
      if (each.fault.empty())
        each.fault = analysis::ParseBaseline(bytes, folder.FileOf(name), &each.baseline).message;
      has_fault |= !each.fault.empty();
    }
    Print(*analysis::ListBaselines(folder.path(), kept));
    return has_fault ? kExitUnreadable : kExitOk;
  }

  int Show(const BaselineFolder& folder) const {
    std::unique_ptr<google::protobuf::Message> baseline;
    const int read = ReadBaseline(folder, name_, &baseline);
    if (read == kExitOk) Print(*baseline);
    return read;
  }

  void Print(const google::protobuf::Message& message) const {
    PutOut(analysis::Render(message, json_ ? analysis::Format::kJson : analysis::Format::kText,
                            options_, static_cast<int>(width_)));
  }

  std::string kernel_rules_, action_, name_, input_, folder_;
  bool replace_ = false, json_ = false;
  uint32_t width_ = 0, limit_ = Options::kNotGiven;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeBaseline() { return std::make_unique<BaselineVerb>(); }

}  // namespace gpuprof::launcher
