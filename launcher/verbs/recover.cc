// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof recover`: finishes the traces of dead processes in a bundle; those of living ones are
// left alone. Tells what of the traces is damaged, which it cannot mend.

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/record/bundle.h"
#include "proto/codec/segments.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

// Returns the bundle's own folder, and those of the ranks of a job.
std::vector<std::string> FoldersOf(const std::string& bundle) {
  std::vector<std::string> folders = {bundle};
  for (const std::string& part : ListParts(bundle)) folders.push_back(bundle + "/" + part);
  return folders;
}

bool HoldsSegments(const std::string& folder) {
  const std::vector<ProcessFiles> processes = ListProcesses(folder);
  return std::any_of(processes.begin(), processes.end(),
                     [](const ProcessFiles& process) { return process.has_segments; });
}

bool HoldsTraces(const std::string& folder) {
  return !ListProcesses(folder).empty() ||
         access((folder + "/" + proto::kBundleFile).c_str(), F_OK) == 0;
}

// As the reading verbs have it: what is damaged is said and the status is theirs. `in_full`: down
// to the content of each block.
int TellDamage(const std::string& bundle, bool in_full) {
  std::shared_ptr<const analysis::Trace> trace;
  const int opened = OpenInput(bundle, /*headers_only=*/!in_full, &trace);
  if (opened != kExitOk) return opened;
  const int told = SayFaults(*trace);
  if (told != kExitOk) {
    Say("the damaged parts stay missing; 'gpuprof verify " + analysis::ShellWord(bundle) +
        "' tells more");
  }
  return told;
}

class Recover : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_, "A bundle directory");
  }

  int Execute(const Options&) override {
    struct stat info;
    const bool is_there = stat(bundle_.c_str(), &info) == 0;
    if (!is_there || !S_ISDIR(info.st_mode)) {
      Say(bundle_ + " is not a bundle directory" + (is_there ? "" : ": it does not exist") +
          "; name the directory that 'gpuprof run' printed");
      return kExitUnreadable;
    }
    const std::vector<std::string> folders = FoldersOf(bundle_);
    if (std::none_of(folders.begin(), folders.end(), HoldsTraces)) {
      Say(bundle_ + " holds no traces; name the directory that 'gpuprof run' printed");
      return kExitUnreadable;
    }
    // Segments are copied by blocks and then removed: whether they were whole is to be told now.
    const bool had_segments = std::any_of(folders.begin(), folders.end(), HoldsSegments);
    FinishReport report;
    for (const std::string& folder : folders) {
      const FinishReport each = FinishProcesses(folder, 0, -1, 0);
      report.finished += each.finished;
      report.alive.insert(report.alive.end(), each.alive.begin(), each.alive.end());
      report.failures.insert(report.failures.end(), each.failures.begin(), each.failures.end());
    }
    for (const std::string& failure : report.failures) Say(failure);
    for (const int32_t pid : report.alive)
      Say("process " + std::to_string(pid) + " is still running and finishes its trace itself");
    PutOut("finished " + Plural(report.finished, "trace", "traces") + "\n");
    // A failure leaves a ring that readers would try again.
    return report.failures.empty() ? TellDamage(bundle_, had_segments) : kExitUnreadable;
  }

 private:
  std::string bundle_;
};

}  // namespace

std::unique_ptr<Verb> MakeRecover() { return std::make_unique<Recover>(); }

}  // namespace gpuprof::launcher
