// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The public face of the analysis library: open inputs, run a pass by name, render its result. What
// the launcher includes, and nothing else of analysis/.
//
// Not thread-safe per object; different objects may be used on different threads. Errors come back
// as Error: what, where, and what to do about it; the library never exits, throws or prints.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/table_set.h"
#include "proto/codec/input_path.h"

namespace google::protobuf {
class Message;
}

namespace gpuprof::proto {
class Bundle;
}

namespace gpuprof::analysis {

class KernelRules;
struct FileParts;
struct Trace;
// A file or folder that the user named, or something that was found in that folder.
using codec::InputPath;

enum class ErrorKind { kNone, kUsage, kUnreadable };

struct Error {
  ErrorKind kind = ErrorKind::kNone;
  std::string message;  // cause and fix, one or two sentences
  explicit operator bool() const { return kind != ErrorKind::kNone; }
};

// What a bundle stands for that WriteBundle made.
struct ImportOrigin {
  std::string path;                            // of the other tool's trace
  std::map<std::string, uint64_t> file_bytes;  // of its files, by name
};

struct OpenOptions {
  int threads = 0;            // 0: as many as cores
  bool recover = true;        // finish the traces of dead processes whose rings are still there
  bool headers_only = false;  // tables and counts, no event columns: for info
  // Rows stay in the files of a bundle until somebody reads them (analysis/model/row_store.h).
  // Those of `eager` tables, and of imported bundles, are read at once.
  bool lazy = false;
  TableSet eager = {};
  // Tables whose rows are read. A pass runs if its own are among them (TablesOf).
  TableSet tables = TableSet::All();
  // Reads the work of GPUs as sums if the bundle has more pieces of work than this. Then the tables
  // of work and of calls of CUDA come without rows (Trace::has_sums). 0: never.
  uint64_t sums_above_rows = 0;
  // Takes these sums from the files if they have them. Otherwise all work is decoded.
  bool trusts_sums = true;
  // Most memory for event columns; blocks beyond it become faults. 0: three quarters of
  // what the machine has, or of what this program's control group allows.
  uint64_t memory_limit_bytes = 0;
  // Counts the bytes of files of JSON as they are read. Null: they are not counted.
  std::atomic<uint64_t>* bytes_read = nullptr;
  // For an imported bundle: results name this trace, with its sizes, in place of the bundle. Empty:
  // they name the bundle.
  ImportOrigin origin;
  // What users call the families of kernels (ReadKernelRules). Null: they do not.
  std::shared_ptr<const KernelRules> kernel_rules;
  // What is there of a bundle's files (analysis/model/file_parts.h). Other rows become
  // Track::left_out. Null: all is there.
  std::shared_ptr<const FileParts> parts;
};

// Reads a file of rules for families of kernels: a family and a regular expression a line. A bad
// line is an error that names it. docs/analysing.md has the format.
Error ReadKernelRules(const std::string& path, std::shared_ptr<const KernelRules>* rules);

// Files of another tool that Open reads as one recording.
struct ForeignInput {
  std::string importer;  // "Kineto JSON", "XSpace"; empty: no recording of another tool
  std::vector<InputPath> files;
};
// Finds the files of another tool by names and first bytes: `path` is one file, or a folder. A file
// of JSON must look like a trace. `is_deep`: runs in folders below count, too.
ForeignInput FindForeign(const InputPath& path, bool is_deep);

// Opens a bundle directory or one .gpt file. Faulty files give what was readable and entries in
// Trace::faults; an Error only when nothing could be read at all.
Error Open(const InputPath& path, const OpenOptions& options, std::shared_ptr<const Trace>* trace);

// Rows of a text table unless asked for more.
inline constexpr uint32_t kTextRows = 20;
// Columns of a text table unless it is asked to be wide.
inline constexpr int kTableColumns = 120;

struct PassOptions {
  std::string by;           // one of the pass's keys; empty: its own choice
  std::string step_marker;  // regular expression on op names; empty: detected
  // Rows in text; 0: all. Not given: 20 of a table, all folded stacks. JSON and CSV are always
  // complete.
  std::optional<uint32_t> limit;
  // Rows of a table whose names and stacks will be looked at, from the top; 0: all. The others may
  // come without: a text of twenty rows does not name a million stacks.
  uint32_t named_rows = 0;
  int32_t pid = 0;  // only this process; 0: all
  // Only rows that begin from the first moment on and before the second, in ns of the bundle's
  // time.
  std::optional<std::pair<int64_t, int64_t>> window;
  // Only rows that begin, or were launched, in the steps of these numbers, the last included.
  std::optional<std::pair<uint64_t, uint64_t>> steps;
  std::vector<uint32_t> devices;  // only work of these; empty: all
  TableSet left_out = {};         // tables whose rows do not count: they are too many
  bool wide = false;              // text: full names, tables of any width
  bool symbolize = true;
  // Files of modules are looked for under this folder first, then at their recorded paths. Empty:
  // no folder.
  std::string symfs;
  // Thresholds of rules that the user set, by full name: "LA-001.min_share". Times in nanoseconds,
  // parts as parts of 1.
  std::map<std::string, double> thresholds;
  // For `kernels`: only kernels launched inside a range of this name ("domain:name" if the range
  // has a named domain; "PyTorch:name" for record_function).
  std::string under_range;
  // For passes about programs of XLA: the name or the number of one. Empty: the pass chooses.
  std::string program;
  std::optional<int64_t> memory_space;  // for `memory_viewer`: only this one
  // For `graph_viewer`: the operation, and how far from it an operation may be.
  std::string op;
  std::optional<uint32_t> depth;
};

struct PassInfo {
  std::string_view name;                    // "overview"
  std::string_view summary;                 // one line
  std::vector<std::string_view> keys = {};  // what `by` can be
};
const std::vector<PassInfo>& Passes();

// Returns the tables whose rows a pass reads with these options. No pass of this name: all.
TableSet TablesOf(std::string_view pass, const PassOptions& options = {});

// Returns why a pattern is not a regular expression, in the words of RE2; empty: it is one.
std::string RegularExpressionFault(std::string_view pattern);

// Returns OpenOptions::sums_above_rows for a pass with these options.
uint64_t SumsAbove(std::string_view pass, const PassOptions& options);

// Returns PassOptions::left_out for a result that is for a page, by a trace with headers only. The
// overview is shown without these rows; other passes are refused (TooManyRows).
TableSet TooLargeTables(std::string_view pass, const Trace& trace, const PassOptions& options);

// Returns OpenOptions::sums_above_rows for a pass whose result is for a page. A page does without
// medians of many kernels.
uint64_t PageSumsAbove(std::string_view pass, const PassOptions& options);

// Returns why a page does not get the result of a pass, and what to do; empty: it gets it. `trace`:
// opened in whatever way.
std::string TooManyRows(std::string_view pass, const Trace& trace, const PassOptions& options);
// Returns the command that prints a pass.
std::string CommandOf(std::string_view pass, const PassOptions& options);

// A trace, and what passes derive from it: made on first use, kept for the next pass. One thread at
// a time (analysis/passes/session.h).
class Session;
std::shared_ptr<Session> MakeSession(std::shared_ptr<const Trace> trace);

// Runs a pass. The result is a message of proto/results/<name>.proto.
Error Run(std::string_view pass, Session* session, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result);
// Does the same once.
Error Run(std::string_view pass, const Trace& trace, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result);

// What a page asks for.
struct ResultName {
  std::string pass;
  PassOptions options;
};
// Reads the name of a result: PASS or PASS:KEY. A part may stand behind it: @FROM,TO for what
// begins in a range of nanoseconds, @step=N, @pid=PID or @device=NUMBER. Several stand with ;
// between them. Returns what is wrong with the name, in a sentence, or "".
std::string ReadResultName(std::string_view name, ResultName* read);

// An input that pages of a server ask about, one question after the other. A small one stays open
// (analysis/passes/page_input.h).
class PageInput;
// Returns the input, not opened yet. `options`: without tables, which follow from the questions.
std::shared_ptr<PageInput> MakePageInput(InputPath path, OpenOptions options);
// Runs a pass for a page. An error may say that the page would have too many rows.
Error RunForPage(PageInput* input, std::string_view pass, const PassOptions& options,
                 std::unique_ptr<google::protobuf::Message>* result);

// Takes a piece of a text. Returns false to get no more.
using Sink = bool (*)(void* context, std::string_view text);

enum class Format { kText, kJson, kCsv };
// Renders a result piecewise through `sink`: JSON and CSV need no memory of their length. Text fits
// `width` columns (0: unlimited). Tables also fit kTableColumns, and those of comparisons and
// baselines less, unless `options.wide`. CSV is the result's main table.
void Render(const google::protobuf::Message& result, Format format, const PassOptions& options,
            int width, Sink sink, void* context);
// Renders into one string.
std::string Render(const google::protobuf::Message& result, Format format,
                   const PassOptions& options, int width);

// Returns one line for stderr that the text has no room for but its reader must know. It exists for
// results whose text other tools read. Empty for all other results, and if there is nothing to say.
std::string Remarks(const google::protobuf::Message& result, const PassOptions& options);

// Returns whether a result of the pass `advise` has a finding of this severity ("high", "medium",
// "low", "info") or a higher one.
bool HasFinding(const google::protobuf::Message& result, std::string_view severity);

// A figure that decides whether a rule of the pass `advise` speaks.
struct ThresholdInfo {
  std::string name;  // "LA-001.min_share"
  std::string unit;  // ratio, factor, count, ns, bytes
};
std::vector<ThresholdInfo> RuleThresholds();
// Returns the table of rules, with the thresholds that the options set: results::Rules.
std::unique_ptr<google::protobuf::Message> AdviceRules(const PassOptions& options);

// Passes that have a page of XProf.
const std::vector<PassInfo>& XProfPages();
struct XProfPage {
  std::string json;
  std::string remark;  // what is not as XProf has it; empty: nothing
};
// Makes the page that XProf 2.24.0 would show of an input. `name`: of a pass. The input is opened
// here: XProf's rules are about the events of an XSpace, not about the model. Only options about
// programs count.
Error MakeXProfPage(std::string_view name, const std::string& path, const PassOptions& options,
                    XProfPage* page);

// Makes what a comparison needs of a recording: results::Baseline. The recording must have been
// opened with CompareTables().
Error MakeBaseline(const Trace& trace, const PassOptions& options,
                   std::unique_ptr<google::protobuf::Message>* baseline);
TableSet CompareTables();
// What a saved baseline tells about itself.
struct BaselineLabel {
  std::string name;
  int64_t saved_realtime_ns = 0;
  std::string writer_version;
};
// Returns the bytes of a file that keeps a baseline.
std::string BaselineBytes(const google::protobuf::Message& baseline, const BaselineLabel& label);
// Reads the bytes of a file that keeps a baseline. Files of newer versions, cut and damaged files
// are errors; `path` names the file in them.
Error ParseBaseline(std::string_view bytes, const std::string& path,
                    std::unique_ptr<google::protobuf::Message>* baseline);
// A file of a folder of baselines: what was read, or why it cannot be used.
struct KeptBaseline {
  std::string name;
  uint64_t size_bytes = 0;
  std::unique_ptr<google::protobuf::Message> baseline;  // null: `fault` says why
  std::string fault;
};
// Makes the list of a folder of baselines: results::Baselines.
std::unique_ptr<google::protobuf::Message> ListBaselines(const std::string& folder,
                                                         const std::vector<KeptBaseline>& kept);
// Plans what `gpuprof try` runs: results::Trials with a trial for each remedy of the findings of
// `advice`, and the findings without a remedy. `advice` is the result of the pass `advise`.
// `nodes`: the processors of each node of the machine, if it has several.
std::unique_ptr<google::protobuf::Message> PlanTrials(const google::protobuf::Message& advice,
                                                      const std::vector<std::string>& nodes);
// Measures the steps of a recorded run, into a results::TrialRun.
Error MeasureRun(const Trace& trace, const PassOptions& options, google::protobuf::Message* run);
// Computes what each change won, from the runs of a results::Trials.
void CompareRuns(google::protobuf::Message* trials);

// Compares two baselines: steps, categories of the device's time, kernels and operations. The
// result is a results::Diff.
Error CompareBaselines(const google::protobuf::Message& before,
                       const google::protobuf::Message& after,
                       std::unique_ptr<google::protobuf::Message>* result);
// Makes two baselines and compares them.
Error Compare(const Trace& before, const Trace& after, const PassOptions& options,
              std::unique_ptr<google::protobuf::Message>* result);
// Returns the comparison as Markdown.
std::string CompareMarkdown(const google::protobuf::Message& result, const PassOptions& options);
// Returns a result of the pass `graph_viewer` as a graph in the language DOT.
std::string GraphDot(const google::protobuf::Message& result);
// Returns whether the steps of a comparison became longer, and not by chance.
bool IsRegression(const google::protobuf::Message& result);

// Writes every row of the trace as text, one a line, piecewise through `sink`: `gpuprof dump`.
Error Dump(const Trace& trace, const PassOptions& options, Sink sink, void* context);

struct ExportOptions {
  int32_t pid = 0;   // only this process; 0: all
  std::string name;  // of the file, which the file itself tells
  // Only rows that begin from the first moment on and before the second, in ns of the bundle's
  // time.
  std::optional<std::pair<int64_t, int64_t>> window = {};
  bool is_clock_window = false;  // `window` is in ns of CLOCK_REALTIME
};
// What an export could not put into the file.
struct ExportReport {
  uint64_t events = 0;                       // written
  std::map<std::string, uint64_t> left_out;  // rows without a place in the format, by table
  uint64_t sampled_rows = 0;                 // written rows that stand for several
  std::set<uint32_t> ranks;                  // of the processes in the file
  uint64_t steps = 0;                        // written; of a format that marks steps
};
// Writes the trace as Chrome JSON, as Kineto does, piecewise through `sink`: `gpuprof export`.
Error ExportChrome(const Trace& trace, const ExportOptions& options, Sink sink, void* context,
                   ExportReport* report);
// Takes a piece of a file, by the file's path below the folder of an export. Pieces of one file
// follow each other. Returns false to get no more.
using FileSink = bool (*)(void* context, const std::string& path, std::string_view bytes);
// Writes the trace as XSpaces, as XLA's profiler does, piecewise through `sink`. The folder is a
// log folder of TensorBoard: it gets a run of the profile plugin.
Error ExportXSpace(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                   ExportReport* report);

// A format of `gpuprof export`. It is written to a file or to a folder: the other function is null.
struct ExportFormat {
  std::string_view name;
  std::string_view meaning;  // what the format is for, as help says it
  std::string_view output;   // what is written, as help says it
  std::string_view place;    // "the file"
  std::string_view example;  // of a place
  Error (*to_file)(const Trace& trace, const ExportOptions& options, Sink sink, void* context,
                   ExportReport* report) = nullptr;
  Error (*to_folder)(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                     ExportReport* report) = nullptr;
  std::string_view without_steps = {};  // what is said without steps; "": nothing
  std::string_view of_ranks = {};       // what is said of several ranks in one file; "": nothing
};
// Returns the formats; the first one is written unless another is asked for.
std::span<const ExportFormat> ExportFormats();

struct ImportOptions {
  std::string folder;  // exists, and is empty
  std::string writer_version;
  int threads = 0;  // 0: as many as cores
};
struct ImportReport {
  uint64_t rows = 0;
  uint64_t bytes = 0;                          // of the traces
  std::string manifest;                        // what the caller writes as bundle.pb, last
  std::map<std::string, uint64_t> file_bytes;  // for ImportOrigin
};
// Writes a trace of another tool as the traces of a bundle: `gpuprof import`. After an error, files
// may be left in the folder.
Error WriteBundle(const Trace& trace, const ImportOptions& options, ImportReport* report);

// A file of the bundle that a report carries.
struct ReportFile {
  std::string name;  // in the page
  InputPath path;
};
// An open file whose bytes may be handed on: into a page, or to a client of a server.
struct OwnFile {
  codec::OwnedFile file;
  struct stat status;
};
// Opens a manifest or a trace, by its name. Refuses what Open refuses: a link in a bundle, a file
// of another kind, and bytes that are not gpuprof's.
Error OpenOwnFile(const InputPath& path, OwnFile* own);
// What a served page shows: a recording, the list of a folder's recordings, or a comparison of two.
enum class PageKind { kRecording, kList, kComparison };
struct ReportOptions {
  std::string_view page;  // the built page; the data goes before its mark
  // The engine by zstd, which answers what the page has no result for. It goes into a page that has
  // all files. Empty: none.
  std::string_view engine = {};
  std::string_view notices = {};  // whose work the engine contains, with the licences
  PageKind kind = PageKind::kRecording;
  std::string title;  // what the page is of, for people
  std::string writer_version;
  std::vector<ReportFile> files;
  InputPath bundle;  // where the files are: a folder or one .gpt file
  // Address of the files, relative to the page, with a slash at its end: the page reads the events
  // there. Empty: they are in the page, or with a server.
  std::string files_at;
  std::string left_out;    // what the files lack, one sentence; empty: nothing
  std::string list;        // address of the list that a served page belongs to; empty: none
  std::string comparison;  // JSON of a comparison with another recording; empty: none
  uint64_t max_bytes = 0;  // of the page; events are left out of a larger one
};
// The name of a comparison among the results of a page.
inline constexpr std::string_view kComparisonResult = "diff";
struct ReportReport {
  uint64_t bytes = 0;           // of the page
  uint64_t left_out_bytes = 0;  // of files, as they would be in the page
  uint64_t left_out_rows = 0;   // 0: no event is in the page, or all are
  uint64_t failed_count = 0;    // passes without a result
  uint64_t left_out_parts = 0;  // processes, devices and steps whose results found no room
};
// Runs every pass and writes one HTML page with the results and the bundle's files, piecewise
// through `sink`: `gpuprof report`. The trace must have been opened with all tables.
Error WriteReport(const Trace& trace, const ReportOptions& options, Sink sink, void* context,
                  ReportReport* report);
// Makes the page that asks a server for results and for parts of the files: `gpuprof serve`. The
// files are measured; one that OpenOwnFile refuses is left out. `max_bytes` does not matter.
Error MakeServedPage(const ReportOptions& options, std::string* page);

struct LossFact {
  uint64_t count = 0;
  std::string name;  // of the kind, as in JSON
};
// The few figures of a recording that the command itself speaks of. They need no events.
struct BundleFacts {
  uint64_t processes = 0;
  uint64_t events = 0;
  uint64_t signal_switches = 0;  // how often the trigger signal began or ended a capture
  std::vector<LossFact> losses;
  // The longest time before a process's end without any of CUPTI's records; 0: none is missing.
  uint64_t activity_missing_ns = 0;
  // Threads whose last records are lost; the number of these records is unknown.
  uint64_t lost_threads = 0;
  std::vector<std::string> write_causes;  // why traces could not be written further, each once
  std::vector<std::string> faults;        // "FILE at byte N: what"
};
BundleFacts FactsOf(const Trace& trace);

// Describes a bundle without reading its events. Verify checks every byte of a bundle.
std::string DescribeJson(const Trace& trace);
std::string DescribeText(const Trace& trace);
struct VerifyReport {
  bool ok = false;
  std::string text;
  std::string json;
};
VerifyReport Verify(const std::string& path);

// Describes the tables of the format: `gpuprof schema`.
std::string SchemaJson();
std::string SchemaText();

// Writes a quantity as people read it.
std::string FormatNumber(uint64_t count);  // "12,345"
std::string FormatBytes(uint64_t bytes);   // "12.3 MiB"

// Returns foreign words in a form that a terminal may be shown. Programs and users choose the names
// of programs, threads and files, and terminals obey control characters. Control characters become
// escapes, and bytes that are not UTF-8 become U+FFFD, as in JSON. All text that the library
// renders, describes and dumps has this form already.
std::string OneLine(std::string_view text);     // without line feeds, too
std::string PlainLines(std::string_view text);  // of several lines
// Escapes DEL and U+0080 to U+009F, which JSON in UTF-8 leaves as they are.
std::string PlainJson(std::string json);
// Returns sentences about programs that the bundle's processes started and that run without
// gpuprof: "not recorded: PROGRAM, 3 times: REASON".
std::vector<std::string> UnrecordedWords(const proto::Bundle& manifest);
// Returns one word in the form that a shell must be given. The word is quoted only if quotes are
// needed. Control characters and bytes that are not UTF-8 are written as escapes that bash and zsh
// read back ($'...').
std::string ShellWord(std::string_view word);

}  // namespace gpuprof::analysis
