// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See command.h.

#include "launcher/command.h"

#include <cstdio>
#include <string>

#include "launcher/base/nearest.h"
#include "launcher/base/settings_file.h"
#include "launcher/base/text.h"
#include "launcher/reading/limited_query.h"
#include "launcher/reading/thresholds.h"
#include "launcher/serve/page_order.h"

namespace gpuprof::launcher {
namespace {

constexpr char kReadingCodes[] =
    "Exit status: 0 success, 2 wrong usage, 3 an input could not be read or is cut (what could be "
    "read is printed).";

constexpr char kQueryFooter[] =
    "Examples:\n"
    "  gpuprof query run1                         # the tables and their columns\n"
    "  gpuprof query run1 \"select name, sum(dur_ns) from kernels group by 1 order by 2 desc\"\n"
    "  gpuprof query run1 \"select * from stats.steps\" --csv\n\n"
    "SQL is DuckDB's. It needs the library libduckdb.so.\n";
constexpr char kDumpFooter[] =
    "A row has the time in ns since the bundle's first event, the pid, the tid, and the track (a "
    "thread's number within its\n"
    "process). Then come the kind and the kind's own fields as name=value.\n"
    "The kinds are the tables that 'gpuprof schema' describes, and range_value: a value of an NVTX "
    "payload.\n"
    "Rows come thread by thread. For one order over all threads: gpuprof dump BUNDLE | sort -n\n"
    "Exit status: 0 success, 2 wrong usage, 3 an input could not be read or is cut (what could be "
    "read is printed).";

constexpr char kExportFooter[] =
    "  gpuprof export run1 -o trace.json.gz        # then: ui.perfetto.dev, or "
    "HolisticTraceAnalysis\n\n"
    "Rows that the format has no place for are counted and named.\n"
    "Exit status: 0 success, 2 wrong usage, 3 an input could not be read or is cut (what could be "
    "read is written).\n"
    "It is 3 too if the file could not be written.";

constexpr char kImportFooter[] =
    "  gpuprof import trace.json.gz -o run1        # then: gpuprof stats overview run1\n\n"
    "Every analysis says the same of the bundle as of the trace. The bundle is smaller and opens "
    "faster.\n"
    "Exit status: 0 success, 2 wrong usage, 3 the trace could not be read or is cut (what could be "
    "read is written).\n"
    "It is 3 too if the bundle could not be written.";

constexpr char kTryFooter[] =
    "  gpuprof try run1 -- python3 train.py --steps 200\n"
    "  gpuprof try run1 --list                     # what would be run\n"
    "  gpuprof try run1 --set OMP_NUM_THREADS=8 -- ./solver\n\n"
    "COMMAND runs several times, recorded: without a change, and with each change that the "
    "findings of BUNDLE allow.\n"
    "Runs with and without a change alternate. Each lasts until COMMAND ends, so name a short run. "
    "COMMAND must\n"
    "bear to run again: files that it writes are written again.\n"
    "Exit status: 0 success, 1 a run failed and the rest was left out, 2 wrong usage, 3 an input "
    "could not be read.\n"
    "It is 125 if a run could not be started.";

constexpr char kReportFooter[] =
    "  gpuprof report run1                         # then: open report.html in a browser\n"
    "  gpuprof report run2 --against run1          # with a page that compares run2 with run1\n\n"
    "The page is one file and needs no network. It holds the results of all passes and the "
    "events.\n"
    "Exit status: 0 success, 2 wrong usage, 3 an input could not be read or is cut (what could be "
    "read is shown).\n"
    "It is 3 too if the page could not be written.";

constexpr char kServeFooter[] =
    "  gpuprof serve run1                          # then: open the printed address in a "
    "browser\n"
    "  gpuprof serve runs                          # a folder: a list of the recordings in it\n\n"
    "The page is that of 'gpuprof report'. Its figures and events come from this command when the "
    "page asks for them.\n"
    "The list of a folder shows new recordings as they come, compares two of them, and starts and "
    "stops processes\n"
    "that record into the folder. Traces of other tools are kept as bundles in "
    "$XDG_CACHE_HOME/gpuprof/imports or\n"
    "~/.cache/gpuprof/imports: at most 4 GiB, the oldest go first.\n"
    "Only this machine reaches the server, and only with the token in the address. Ctrl-C ends "
    "it.\n"
    "Exit status: 0 ended by SIGINT, SIGTERM or SIGHUP, 2 wrong usage or no port, 3 an input could "
    "not be read.";

constexpr char kMcpFooter[] =
    "  gpuprof mcp --root runs                     # an assistant starts it so\n\n"
    "A server of the Model Context Protocol on standard input and output. Only recordings below "
    "DIR are read.\n"
    "docs/assistants.md says how an assistant gets it.\n"
    "Exit status: 0 standard input has ended, 2 wrong usage.";

constexpr char kAttachFooter[] =
    "  gpuprof attach 4711 --for 10s               # record ten seconds, then leave the process\n"
    "  gpuprof attach 4711                         # then: gpuprof detach 4711\n\n"
    "One thread of the process is stopped for a moment, in which it loads gpuprof. Needs the right "
    "to trace the process.\n"
    "A process that was started with 'gpuprof run --capture=off' needs none of this: 'gpuprof ctl "
    "start PID' records it.\n"
    "Exit status: 0 done, 1 the process was refused, 2 wrong usage, 3 no process has this number.\n"
    "It is 125 if nothing was tried.";

constexpr char kAgentFooter[] =
    "  gpuprof run --capture=off -- python3 train.py &\n"
    "  gpuprof agent --logdir logs                 # then: Capture profile, localhost:9012\n\n"
    "Captures the running processes that 'gpuprof ps' lists, for as long as the client asks. The "
    "trace goes to the client.\n"
    "On this machine only your own clients and root's are answered. Other machines need "
    "--open-to-network.\n"
    "Exit status: 0 ended by SIGINT, SIGTERM or SIGHUP, 2 wrong usage or no port.";

constexpr char kCaptureFooter[] =
    "  gpuprof capture node1:9012,node2:9012 --for 5s -o job    # then: gpuprof report job\n\n"
    "A server is 'gpuprof agent', or what tf.profiler.experimental.server.start() and "
    "jax.profiler.start_server() start.\n"
    "All servers capture at the same time. Each file is that of a server: HOST_PORT.xplane.pb.\n"
    "Exit status: 0 success, 2 wrong usage, 3 a server failed, or the files could not be written.";

int UsageError(const std::string& what, const std::string& where) {
  const bool sentence = what.ends_with("?") || what.ends_with(".");
  Say(what + (sentence ? " See '" : "; see '") + where + "'");
  return kExitUsage;
}

std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  for (const VerbEntry& entry : VerbTable()) names.emplace_back(entry.name);
  return names;
}

// Sections of gpuprof.toml: the verbs, and one for thresholds.
std::vector<std::string> SectionNames() {
  std::vector<std::string> names = VerbNames();
  names.emplace_back(kAdviceSection);
  return names;
}

// The file may lie in a directory that the user has not looked into.
void SayWhatFileSets(const std::map<std::string, std::string>& values) {
  std::string keys;
  for (const auto& [key, value] : values) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty()) Say("gpuprof.toml of the working directory sets " + keys);
}

int RunVerb(const VerbEntry& entry, std::vector<std::string> words) {
  const std::unique_ptr<Verb> verb = entry.make();
  const std::unique_ptr<Options> options = DeclareVerb(entry, verb.get());
  const std::string help = "gpuprof " + std::string(entry.name) + " --help";
  std::string message;
  const Options::Outcome outcome = options->Parse(std::move(words), &message);
  if (outcome == Options::Outcome::kHelp) {
    PutOut(message);
    return kExitOk;
  }
  if (outcome == Options::Outcome::kError) return UsageError(message, help);
  FileSections sections;
  std::string passed_over;
  message = ReadSettingsFile("gpuprof.toml", &sections, &passed_over);
  if (!passed_over.empty()) Say(passed_over);
  for (const auto& [section, values] : sections) {
    bool known = false;
    for (const std::string& name : SectionNames()) known = known || name == section;
    if (message.empty() && !known) {
      message = "gpuprof.toml: [" + section + "] is not a verb of gpuprof." +
                DidYouMean(section, SectionNames());
    }
  }
  std::map<std::string, std::string>& values = sections[entry.name];
  if (message.empty()) message = options->ApplyFile(values);
  if (std::map<std::string, double>* thresholds = verb->Thresholds()) {
    for (const auto& [name, value] : sections[kAdviceSection]) {
      if (message.empty()) message = ParseThreshold(name, value, thresholds);
      if (!message.empty()) {
        message = "gpuprof.toml: " + message;
        break;
      }
      values.emplace(name, value);
    }
  }
  if (!message.empty()) return UsageError(message, help);
  if (!options->IsQuiet()) SayWhatFileSets(values);
  return verb->Execute(*options);
}

}  // namespace

const std::vector<VerbEntry>& VerbTable() {
  static const std::vector<VerbEntry> table = {
      {"run", "[OPTIONS] [--] COMMAND [ARGUMENT...]",
       "Run a command and record it and the processes it starts",
       "gpuprof exits with the command's exit status. If a signal kills the command, gpuprof ends "
       "by the same signal.\n"
       "gpuprof's own exit status: 2 wrong usage, 125 nothing could be started, 126 not "
       "executable, 127 not found.\n\n"
       "  gpuprof run -- python3 train.py\n"
       "  gpuprof run --capture=off -- ./server      # then: gpuprof ctl start PID\n"
       "  gpuprof run --capture=delay:30s+10s --trace heap=exact,ops -- python3 train.py\n\n"
       "Values come from the command line, then from GPUPROF_* variables, then from gpuprof.toml "
       "in the working directory.\n"
       "The keys of gpuprof.toml are the long option names; a [section] is a verb.",
       MakeRun},
      {"ctl", "[OPTIONS] start|stop|toggle|snapshot|status PID...|all",
       "Start, stop or ask about recording in running processes",
       "When stop returns, the data is in the bundle. snapshot writes what was recorded so far "
       "into "
       "a bundle of its own.\n"
       "Exit status: 0 done, 1 a process refused, 2 wrong usage, 3 no process was found, or a "
       "process could not be reached.",
       MakeCtl},
      {"attach", "[OPTIONS] PID", "Record a process that runs already", kAttachFooter, MakeAttach},
      {"detach", "[OPTIONS] PID...", "End a recording that attach began; the process goes on",
       "When detach returns, the bundle is complete, and the process has no thread of gpuprof.\n"
       "Exit status: 0 done, 1 gpuprof is not attached or did not leave, 2 wrong usage.",
       MakeDetach},
      {"ps", "[OPTIONS]", "List the running processes that gpuprof can record",
       "Exit status: 0, also when the list is empty.", MakePs},
      {"agent", "[OPTIONS]", "Answer 'Capture profile' of TensorBoard and xprof", kAgentFooter,
       MakeAgent},
      {"capture", "[OPTIONS] HOST:PORT[,HOST:PORT]...",
       "Capture programs of other machines, from their profiler servers", kCaptureFooter,
       MakeCapture},
      {"stats", "[OPTIONS] PASS BUNDLE", "Print one analysis of a bundle", kReadingCodes,
       MakeStats},
      {"advise", "[OPTIONS] BUNDLE", "Say what bounds a program, and what to try first",
       "Exit status: 0 success, 1 a finding of the severity of --fail-on, 2 wrong usage.\n"
       "It is 3 if an input could not be read or is cut; its readable part is looked at.",
       MakeAdvise},
      {"try", "[OPTIONS] BUNDLE -- COMMAND [ARGUMENT...]",
       "Measure what changes of the environment win", kTryFooter, MakeTry},
      {"diff", "[OPTIONS] BEFORE AFTER | --baseline NAME AFTER",
       "Compare two recordings: is the program slower now",
       "  gpuprof diff run1 run2 --format=markdown --fail-on regression\n"
       "  gpuprof diff --baseline main run2 --fail-on regression\n\n"
       "Exit status: 0 success, 1 the steps take longer and --fail-on asks for it, 2 wrong usage.\n"
       "It is 3 if an input could not be read or is cut; its readable part is compared.",
       MakeDiff},
      {"report", "[OPTIONS] BUNDLE", "Write one HTML page with every analysis and the timeline",
       kReportFooter, MakeReport},
      {"serve", "[OPTIONS] BUNDLE", "Show every analysis and the timeline of a large recording",
       kServeFooter, MakeServe},
      {"mcp", "[OPTIONS]", "Answer the questions of an assistant about recordings", kMcpFooter,
       MakeMcp},
      {"baseline", "[OPTIONS] save NAME BUNDLE | list | show NAME | remove NAME",
       "Keep the figures of a recording under a name, for later comparisons",
       "  gpuprof baseline save main run1            # then: gpuprof diff --baseline main run2\n\n"
       "Exit status: 0 success, 2 wrong usage, 3 an input could not be read or is cut.\n"
       "It is 3 too if the baseline could not be read or saved.",
       MakeBaseline},
      {"info", "[OPTIONS] BUNDLE", "Say what a bundle holds, without reading its events",
       kReadingCodes, MakeInfo},
      {"verify", "[OPTIONS] BUNDLE", "Check every byte of a bundle",
       "Exit status: 0 whole, 2 wrong usage, 3 faults were found or the input could not be read.",
       MakeVerify},
      {"query", "[OPTIONS] BUNDLE [SQL]", "Ask the tables of a bundle by SQL", kQueryFooter,
       MakeQuery},
      {"dump", "[OPTIONS] BUNDLE", "Print every recorded row as text, one per line", kDumpFooter,
       MakeDump},
      {"export", "[OPTIONS] BUNDLE", "Write a bundle in the format of another tool", kExportFooter,
       MakeExport},
      {"import", "[OPTIONS] TRACE", "Make a bundle of a trace of another tool", kImportFooter,
       MakeImport},
      {"schema", "[OPTIONS]", "Print what traces and results hold: tables, fields, units",
       "For programs that read .gpt files themselves; proto/FORMAT.md describes the rest.\n"
       "Exit status: 0, 2 wrong usage.",
       MakeSchema},
      {"recover", "[OPTIONS] BUNDLE", "Finish the traces of processes that died",
       "Readers do this by themselves; use it before copying a bundle elsewhere.\n"
       "Exit status: 0 all finished or still running, 2 wrong usage, 3 a trace could not be "
       "finished.",
       MakeRecover},
      {"doctor", "[OPTIONS]", "Check whether this machine has everything that recording needs",
       "Exit status: 0 nothing failed, 1 a check failed, 2 wrong usage.", MakeDoctor},
      {"env", "[OPTIONS]",
       "Print the environment variables that record a command without 'gpuprof run'",
       "For containers, job scripts and services:\n\n"
       "  eval \"$(gpuprof env -o /traces/job1)\"\n\n"
       "Exit status: 0 success, 2 wrong usage, 125 the injected object is missing.",
       MakeEnv},
      {"install", "DIR", "Copy gpuprof into a folder, for example a volume of containers",
       "  docker run --rm -v tools:/tools gpuprof install /tools\n\n"
       "Exit status: 0 copied, 2 wrong usage, or the folder cannot be used.",
       MakeInstall},
      {"inject", "-f FILE [OPTIONS]", "Change manifests of Kubernetes so that pods are recorded",
       "  gpuprof inject -f pod.yaml | kubectl apply -f -\n\n"
       "Exit status: 0 changed, 2 wrong usage, or a manifest that cannot be changed, 3 the file "
       "cannot be read.",
       MakeInject},
      {"completions", "bash|zsh|fish", "Print a completion script for a shell",
       "  source <(gpuprof completions bash)\n"
       "  gpuprof completions zsh > ~/.zfunc/_gpuprof\n"
       "  gpuprof completions fish > ~/.config/fish/completions/gpuprof.fish",
       MakeCompletions},
      {"help", "[VERB [WORD...]]", "Show help on gpuprof or on one of its verbs", "", MakeHelp},
      {"version", "", "Print the version", "", MakeVersion},
  };
  return table;
}

std::unique_ptr<Options> DeclareVerb(const VerbEntry& entry, Verb* verb) {
  const std::string name = "gpuprof " + std::string(entry.name);
  auto options =
      std::make_unique<Options>(name, entry.summary, name + " " + entry.arguments, entry.footer);
  verb->Declare(options.get());
  return options;
}

std::string OverviewText() {
  std::string text =
      "gpuprof shows why a GPU program is slower than it could be. The program itself is not "
      "changed.\n\n"
      "  gpuprof run -- python3 train.py        record a program and the processes it starts\n"
      "  gpuprof stats overview BUNDLE          show where time and memory went\n\n"
      "Verbs:\n";
  for (const VerbEntry& entry : VerbTable()) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-12s %s\n", entry.name, entry.summary);
    text += line;
  }
  return text +
         "\n'gpuprof help VERB' explains a verb. 'gpuprof help licences' says whose work is "
         "inside.\n";
}

int Dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    Say("a verb is missing; see 'gpuprof help'");
    return kExitUsage;
  }
  std::string name = words.front();
  if (name == "-h" || name == "--help") name = "help";
  if (name == "--version") name = "version";
  if (name == "__complete") return Complete({words.begin() + 1, words.end()});
  if (name == kPageOrderWord) return CarryOutPageOrder();
  if (name == kQueryOrderWord) return CarryOutQueryOrder();
  for (const VerbEntry& entry : VerbTable()) {
    if (name == entry.name) return RunVerb(entry, {words.begin() + 1, words.end()});
  }
  const char* kind = name[0] == '-' ? "option" : "verb";
  return UsageError(
      std::string("unknown ") + kind + " '" + name + "'." + DidYouMean(name, VerbNames()),
      "gpuprof help");
}

}  // namespace gpuprof::launcher
