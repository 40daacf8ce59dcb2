// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// DescribeText and DescribeJson: the facts of a bundle, for `gpuprof info`. Reads only what
// OpenOptions::headers_only gives.

#include "analysis/dump/info.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/base/units.h"
#include "analysis/dump/json_text.h"
#include "analysis/model/command_line.h"
#include "analysis/model/job.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

using Json = nlohmann::ordered_json;

std::string WithNumber(std::string_view word, uint64_t code) {
  return word.empty() ? std::to_string(code) : std::string(word);
}

std::vector<std::string> Sources(uint32_t bits) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < 32; ++i) {
    const uint32_t bit = 1u << i;
    if ((bits & bit) != 0) names.push_back(WithNumber(SourceName(bit), bit));
  }
  return names;
}

bool IsEventKind(uint16_t kind) {
  return proto::FindTable(static_cast<proto::ChunkKind>(kind)) != nullptr;
}

std::string UtcTime(int64_t realtime_ns) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts = {};
  char text[64];
  if (gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
    return std::to_string(realtime_ns) + " ns";
  }
  return text;
}

// A flight recorder let go what came before.
bool IsWindow(const Process& process) { return process.kept_from_ns != INT64_MIN; }

Json CapturesJson(const Process& process) {
  Json list = Json::array();
  for (const CaptureWindow& window : process.captures) {
    list.push_back({{"number", window.number},
                    {"start_ns", window.start_ns},
                    {"end_ns", window.end_ns},
                    {"let_go_ns", window.let_go_ns},
                    {"has_stop", window.has_stop},
                    {"start_trigger", window.start_trigger},
                    {"stop_trigger", window.stop_trigger}});
  }
  return list;
}

Json KindsJson(const Process& process) {
  Json list = Json::array();
  for (const KindTotals& kind : process.kinds) {
    list.push_back({{"name", WithNumber(ChunkKindName(kind.kind), kind.kind)},
                    {"is_event", IsEventKind(kind.kind)},
                    {"count", kind.rows},
                    {"blocks", kind.blocks},
                    {"compressed_bytes", kind.compressed_bytes},
                    {"raw_bytes", kind.raw_bytes}});
  }
  return list;
}

Json ModulesJson(const Process& process) {
  Json list = Json::array();
  for (const auto& module : process.hlo_modules) {
    list.push_back({{"name", module->name},
                    {"program_id", module->program_id},
                    {"size_bytes", module->proto.size()}});
  }
  return list;
}

Json LossesJson(const Process& process) {
  Json list = Json::array();
  for (const proto::Loss& loss : process.health.loss()) {
    if (loss.count() == 0) continue;
    const auto kind = static_cast<uint32_t>(loss.kind());
    list.push_back({{"name", WithNumber(LossKindName(kind), kind)}, {"count", loss.count()}});
  }
  return list;
}

Json StacksJson(const proto::Health& health) {
  const proto::StackWalks& walks = health.stack_walks();
  return {{"count", health.stack_samples()},
          {"no_rule_count", walks.no_rule()},
          {"out_of_bounds_count", walks.out_of_bounds()},
          {"no_resolver_count", walks.no_resolver()},
          {"foreign_count", walks.foreign_stacks()},
          {"guessed_frame_count", walks.guessed_frames()}};
}

Json NotesJson(const Process& process) {
  Json list = Json::array();
  for (const proto::Note& note : process.health.note()) {
    list.push_back({{"source", note.source()}, {"text", note.text()}});
  }
  return list;
}

Json ProcessJson(const Process& process) {
  Json json;
  json["name"] = process.file;
  json["pid"] = process.pid;
  json["ppid"] = process.ppid;
  json["host"] = process.host;
  json["executable"] = process.executable;
  json["argv"] = process.argv;
  json["is_alive"] = process.alive;
  json["has_end"] = process.has_end;
  json["recovered"] = process.recovered;
  json["exit_way"] = WithNumber(ExitWayName(process.exit_way), process.exit_way);
  json["exit_status"] = process.exit_status;
  json["first_ns"] = process.first_ns;
  json["last_ns"] = process.last_ns;
  json["duration_ns"] = process.last_ns - process.first_ns;
  json["kept_from_ns"] = IsWindow(process) ? Json(process.kept_from_ns) : Json(nullptr);
  json["captures"] = CapturesJson(process);
  json["threads"] = process.ProgramThreads();
  json["count"] = process.rows;
  json["size_bytes"] = process.file_bytes;
  json["kinds"] = KindsJson(process);
  json["hlo_modules"] = ModulesJson(process);
  json["unknown_blocks"] = process.unknown_blocks;
  json["lost_count"] = LostRecords(process);
  json["losses"] = LossesJson(process);
  json["damaged_rings"] = process.health.damaged_rings();
  json["rings_outside"] = process.health.rings_outside();
  json["activity_missing_ns"] = process.health.activity_missing_ns();
  json["stacks"] = StacksJson(process.health);
  json["notes"] = NotesJson(process);
  json["frameworks"] = process.frameworks;
  json["environment"] = process.environment;
  json["sources"] = Sources(process.sources);
  json["heap_mode"] = WithNumber(HeapModeName(process.heap_mode), process.heap_mode);
  json["heap_period_bytes"] = process.heap_period;
  json["clock"] = WithNumber(ClockKindName(process.clock_kind), process.clock_kind);
  json["clock_residual_ns"] = process.clock_residual_ns;
  json["wall_clock_step_ns"] = process.realtime_step_ns;
  json["writer_version"] = process.writer_version;
  return json;
}

// Each device once, also where it has a second track.
std::map<uint32_t, proto::SampledDevice> DevicesOf(const Process& sampler) {
  std::map<uint32_t, proto::SampledDevice> devices;
  for (const auto& [track, device] : sampler.sampled_devices) {
    const auto [found, is_new] = devices.emplace(device.index(), device);
    if (!is_new) found->second.set_is_pm(found->second.is_pm() || device.is_pm());
  }
  return devices;
}

// Of gpuprof's own reading of hardware counters.
Json SamplerJson(const Process& sampler) {
  Json json;
  json["name"] = sampler.file;
  json["pid"] = sampler.pid;
  json["host"] = sampler.host;
  json["has_end"] = sampler.has_end;
  json["first_ns"] = sampler.first_ns;
  json["last_ns"] = sampler.last_ns;
  json["count"] = sampler.rows;
  json["size_bytes"] = sampler.file_bytes;
  json["kinds"] = KindsJson(sampler);
  json["lost_count"] = LostRecords(sampler);
  json["notes"] = NotesJson(sampler);
  Json devices = Json::array();
  for (const auto& [track, device] : DevicesOf(sampler)) {
    devices.push_back({{"device", device.index()},
                       {"name", device.name()},
                       {"uuid", device.uuid()},
                       {"has_gpm", device.has_gpm()},
                       {"has_pm", device.is_pm()}});
  }
  json["devices"] = std::move(devices);
  return json;
}

void AddLine(std::string* out, std::string_view indent, std::string_view name,
             std::string_view value) {
  if (value.empty()) return;
  constexpr size_t kNameWidth = 12;
  out->append(indent).append(name);
  out->append(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
  out->append(OneLine(value)).push_back('\n');
}

std::string Joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// Never cut within a UTF-8 character.
std::string Shortened(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Where the times begin that every result tells: a delayed capture begins late.
std::string OriginText(const Trace& trace) {
  const uint64_t started = trace.manifest.started_realtime_ns();
  const auto origin = static_cast<uint64_t>(trace.origin_realtime_ns);
  const bool is_later = origin >= started;
  const uint64_t apart = is_later ? origin - started : started - origin;
  return FormatDuration(static_cast<int64_t>(std::min<uint64_t>(apart, INT64_MAX))) +
         (is_later ? " after" : " before") + " the start";
}

std::string CaptureText(const CaptureWindow& window) {
  std::string text = "capture " + std::to_string(window.number) + ": " +
                     FormatDuration(window.end_ns - window.start_ns) + " from " +
                     FormatDuration(window.start_ns);
  if (!window.start_trigger.empty()) text += ", begun by " + window.start_trigger;
  if (window.let_go_ns != 0) {
    text += (window.start_trigger.empty() ? ", begun " : " ") + FormatDuration(window.let_go_ns) +
            " before that";
  }
  text += window.has_stop ? ", ended by " + window.stop_trigger : ", end not recorded";
  return text;
}

std::string RowsText(const Process& process) {
  std::vector<std::string> parts;
  for (const KindTotals& kind : process.kinds) {
    if (!IsEventKind(kind.kind)) continue;
    parts.push_back(std::string(ChunkKindName(kind.kind)) + " " + FormatCount(kind.rows));
  }
  std::string text = FormatCount(process.rows);
  if (!parts.empty()) text += " (" + Joined(parts, ", ") + ")";
  if (process.unknown_blocks != 0) {
    text += "; " + FormatCount(process.unknown_rows) + " rows of kinds unknown to this gpuprof";
  }
  return text;
}

std::string LastActivityOf(uint64_t ns) { return "the CUPTI records of " + FormatLastTime(ns); }

std::string LossText(const Process& process) {
  std::vector<std::string> parts;
  for (const proto::Loss& loss : process.health.loss()) {
    const auto kind = static_cast<uint32_t>(loss.kind());
    if (loss.count() != 0 && loss.kind() != proto::LOSS_UNPAIRED_SPAN) {
      parts.push_back(std::to_string(loss.count()) + " " + WithNumber(LossKindName(kind), kind));
    }
  }
  const uint64_t lost = LostRecords(process);
  if (parts.empty() && lost != 0) parts.push_back(std::to_string(lost) + " records");
  const uint64_t rings = uint64_t{process.health.damaged_rings()} + process.health.rings_outside();
  if (rings != 0) parts.push_back(LastRecordsOf(rings));
  if (const uint64_t ns = process.health.activity_missing_ns()) parts.push_back(LastActivityOf(ns));
  if (parts.empty() && process.lacks_end()) return kLossNotKnown;
  if (parts.empty()) return IsWindow(process) ? "none of the kept part" : "none";
  return Joined(parts, ", ");
}

uint64_t CutWalks(const proto::StackWalks& walks) {
  return walks.no_rule() + walks.out_of_bounds() + walks.no_resolver() + walks.foreign_stacks();
}

// A walk that ends early still tells the innermost frames.
std::string StacksText(const proto::Health& health) {
  if (health.stack_samples() == 0) return "";
  return std::to_string(health.stack_samples()) + " taken, " +
         std::to_string(CutWalks(health.stack_walks())) + " end early";
}

// The largest compiled modules.
void AddModules(const Process& process, std::string* out) {
  constexpr size_t kMostModules = 20;
  std::vector<const HloModule*> modules;
  for (const auto& module : process.hlo_modules) modules.push_back(module.get());
  std::stable_sort(modules.begin(), modules.end(), [](const HloModule* x, const HloModule* y) {
    return x->proto.size() > y->proto.size();
  });
  for (size_t i = 0; i < std::min(modules.size(), kMostModules); ++i) {
    AddLine(out, "  ", i == 0 ? "HLO" : "",
            OneLine(modules[i]->name) + ", " + FormatBytes(modules[i]->proto.size()));
  }
  if (modules.size() > kMostModules) {
    AddLine(out, "  ", "",
            "... and " + std::to_string(modules.size() - kMostModules) +
                " more modules (--json shows all)");
  }
}

// A process of a file that another tool wrote.
void DescribeImported(const Process& process, std::string* out) {
  *out += "\n" + OneLine(process.file) + "  pid " + std::to_string(process.pid) + "\n";
  AddLine(out, "  ", "program", ShortCommand(process, 100));
  AddLine(out, "  ", "host", process.host);
  if (const std::optional<Rank> rank = RankOf(process))
    AddLine(out, "  ", "rank",
            std::to_string(rank->number) + (rank->of ? " of " + std::to_string(*rank->of) : ""));
  for (const proto::Device& device : process.devices)
    AddLine(out, "  ", "device", std::to_string(device.id()) + ": " + device.name());
  AddLine(out, "  ", "recorded", FormatDuration(process.last_ns - process.first_ns));
  AddLine(out, "  ", "threads", std::to_string(process.ProgramThreads()));
  AddLine(out, "  ", "rows", RowsText(process));
  AddModules(process, out);
  AddLine(out, "  ", "size", FormatBytes(process.file_bytes));
}

void DescribeProcess(const Process& process, std::string* out) {
  constexpr size_t kMostCommand = 100;
  *out += "\n" + OneLine(process.file) + "  pid " + std::to_string(process.pid) + ", parent " +
          std::to_string(process.ppid) + "\n";
  AddLine(out, "  ", "program", ShortCommand(process, kMostCommand));
  AddLine(out, "  ", "recorded", FormatDuration(process.last_ns - process.first_ns));
  for (const CaptureWindow& window : process.captures) AddLine(out, "  ", "", CaptureText(window));
  if (IsWindow(process)) {
    AddLine(out, "  ", "kept",
            "only the newest part; a flight recorder discarded the older part (--ring)");
  }
  AddLine(out, "  ", "threads", std::to_string(process.ProgramThreads()));
  AddLine(out, "  ", "rows", RowsText(process));
  AddLine(out, "  ", "size", FormatBytes(process.file_bytes));
  AddLine(out, "  ", "ended", HowItEnded(process));
  AddLine(out, "  ", "lost", LossText(process));
  AddLine(out, "  ", "spans", UnpairedText(process));
  AddLine(out, "  ", "stacks", StacksText(process.health));
  AddLine(out, "  ", "frameworks", Joined(process.frameworks, ", "));
  for (const proto::Note& note : process.health.note()) {
    AddLine(out, "  ", "note", note.source() + ": " + note.text());
  }
}

void DescribeSampler(const Process& sampler, std::string* out) {
  *out +=
      "\n" + OneLine(sampler.file) + "  hardware counters, read by gpuprof alongside the program\n";
  for (const auto& [track, device] : DevicesOf(sampler)) {
    AddLine(out, "  ", "device",
            std::to_string(device.index()) + ": " + device.name() + " " + device.uuid() +
                (device.has_gpm() ? ", with GPM" : "") +
                (device.is_pm() ? ", with PM sampling" : ""));
  }
  AddLine(out, "  ", "recorded", FormatDuration(sampler.last_ns - sampler.first_ns));
  AddLine(out, "  ", "rows", FormatCount(sampler.rows));
  AddLine(out, "  ", "size", FormatBytes(sampler.file_bytes));
  if (!sampler.has_end)
    AddLine(out, "  ", "ended", "no end was recorded: killed, or still running");
  for (const proto::Note& note : sampler.health.note())
    AddLine(out, "  ", "note", note.source() + ": " + note.text());
}

struct Totals {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t lost = 0;
  uint64_t cut_rings = 0;  // damaged, or in memory only
  uint64_t activity_missing_ns = 0;
  bool is_window = false;
  bool lacks_end = false;
};

Totals Sum(const Trace& trace) {
  Totals totals;
  for (const Process& process : trace.processes) {
    totals.rows += process.rows;
    totals.bytes += process.file_bytes;
    totals.lost += LostRecords(process);
    totals.cut_rings += uint64_t{process.health.damaged_rings()} + process.health.rings_outside();
    totals.activity_missing_ns =
        std::max(totals.activity_missing_ns, process.health.activity_missing_ns());
    totals.is_window |= IsWindow(process);
    totals.lacks_end |= process.lacks_end();
  }
  // Their rows are no events of the program's.
  for (const Process& sampler : trace.samplers) totals.bytes += sampler.file_bytes;
  return totals;
}

std::string LostText(const Totals& totals) {
  std::vector<std::string> parts;
  if (totals.lost != 0) parts.push_back(std::to_string(totals.lost) + " records");
  if (totals.cut_rings != 0) parts.push_back(LastRecordsOf(totals.cut_rings));
  if (totals.activity_missing_ns != 0) parts.push_back(LastActivityOf(totals.activity_missing_ns));
  if (parts.empty() && totals.lacks_end) return kLossNotKnown;
  if (parts.empty()) return totals.is_window ? "none of the kept part" : "none";
  return Joined(parts, ", ");
}

Json JobJson(const proto::Bundle& bundle) {
  Json ranks = Json::array();
  for (const proto::Part& part : bundle.part()) {
    const proto::Bundle& rank = part.bundle();
    ranks.push_back({{"folder", part.folder()},
                     {"rank", rank.has_rank() ? Json(rank.rank()) : Json(nullptr)},
                     {"host", rank.host()},
                     {"started_realtime_ns", rank.started_realtime_ns()},
                     {"ended_realtime_ns", rank.ended_realtime_ns()},
                     {"exit_status", rank.exit_status()}});
  }
  return {{"launcher", bundle.job().launcher()},
          {"id", bundle.job().id()},
          {"rank_count", bundle.job().size()},
          {"ranks", std::move(ranks)}};
}

// One line a rank: where it ran, and how its command ended.
void DescribeRanks(const proto::Bundle& bundle, std::string* out) {
  for (const proto::Part& part : bundle.part()) {
    const proto::Bundle& rank = part.bundle();
    std::string text = rank.has_rank() ? "rank " + std::to_string(rank.rank()) : part.folder();
    text += " on " + rank.host();
    if (rank.ended_realtime_ns() != 0) {
      text += ", " +
              FormatDuration(
                  static_cast<int64_t>(rank.ended_realtime_ns() - rank.started_realtime_ns())) +
              ", " + FormatExitStatus(rank.exit_status());
    } else {
      text += ", was still running, or gpuprof was killed";
    }
    AddLine(out, "", "", text);
  }
}

}  // namespace

std::string ShortCommand(const Process& process, size_t most) {
  std::string text = CommandLine(process.argv);
  if (text.empty()) text = ShellWord(process.executable);
  return Shortened(std::move(text), most);
}

std::string HowItEnded(const Process& process) {
  if (process.alive) return "still running";
  if (!process.has_end) return "no end was recorded: killed, or still running elsewhere";
  const std::string status = std::to_string(process.exit_status);
  const std::string by = process.recovered ? " (trace finished after its end)" : "";
  switch (static_cast<proto::ExitWay>(process.exit_way)) {
    case proto::ExitWay::kReturn:
      return "exited with status " + status + by;
    case proto::ExitWay::kUnderscore:
      return "_exit with status " + status + by;
    case proto::ExitWay::kQuick:
      return "quick_exit with status " + status + by;
    case proto::ExitWay::kAbort:
      return "aborted" + by;
    case proto::ExitWay::kExec:
      return "became another program by exec" + by;
    case proto::ExitWay::kSnapshot:
      return "was still running: this is a snapshot";
    case proto::ExitWay::kFiltered:
      return "went on unrecorded in a sandbox (seccomp)" + by;
    case proto::ExitWay::kAlone:
      return "went on unrecorded: it needs a single thread" + by;
    case proto::ExitWay::kRights:
      return "went on unrecorded after it gave rights up" + by;
    case proto::ExitWay::kLimits:
      return "went on unrecorded: a limit left it too little memory or threads" + by;
    case proto::ExitWay::kDetached:
      return "went on after gpuprof detach" + by;
    case proto::ExitWay::kUnknown:
      break;
  }
  constexpr int32_t kBySignal = 128;
  if (process.exit_status < 0) {
    return "died without an exit call: a fatal signal, SIGKILL or a raw system call" + by;
  }
  if (process.exit_status > kBySignal)
    return "killed by signal " + std::to_string(process.exit_status - kBySignal) + by;
  return "exited with status " + status + " by the system call itself" + by;
}

uint64_t LostRecords(const Process& process) {
  uint64_t told = 0;
  for (const proto::Loss& loss : process.health.loss()) {
    if (loss.kind() != proto::LOSS_UNPAIRED_SPAN) told += loss.count();
  }
  // Health is written now and then; blocks may tell of later drops.
  return std::max(told, process.dropped);
}

std::string DescribeJson(const Trace& trace) {
  Json json;
  json["path"] = trace.path;
  json["origin_realtime_ns"] = trace.origin_realtime_ns;
  if (trace.has_manifest) {
    const proto::Bundle& bundle = trace.manifest;
    json["command"] = std::vector<std::string>(bundle.command().begin(), bundle.command().end());
    json["working_directory"] = bundle.working_directory();
    json["host"] = bundle.host();
    json["kernel"] = bundle.kernel();
    json["cpu_model"] = bundle.cpu_model();
    json["writer_version"] = bundle.writer_version();
    json["started_realtime_ns"] = bundle.started_realtime_ns();
    json["ended_realtime_ns"] = bundle.ended_realtime_ns();
    json["exit_status"] = bundle.exit_status();
    json["counter_notes"] =
        std::vector<std::string>(bundle.counter_note().begin(), bundle.counter_note().end());
    json["settings"] = std::vector<std::string>(bundle.setting().begin(), bundle.setting().end());
  }
  if (trace.manifest.has_job()) json["job"] = JobJson(trace.manifest);
  const Totals totals = Sum(trace);
  json["count"] = totals.rows;
  json["size_bytes"] = totals.bytes;
  json["lost_count"] = totals.lost;
  Json processes = Json::array();
  for (const Process& process : trace.processes) processes.push_back(ProcessJson(process));
  json["processes"] = std::move(processes);
  Json samplers = Json::array();
  for (const Process& sampler : trace.samplers) samplers.push_back(SamplerJson(sampler));
  json["samplers"] = std::move(samplers);
  json["faults"] = ToJson(trace.faults);
  json["importer"] = trace.importer.empty() ? Json(nullptr) : Json(trace.importer);
  Json notes = Json::array();
  for (const ImportNote& note : trace.import_notes) {
    notes.push_back({{"kind", ImportNoteName(note.kind)},
                     {"count", note.count},
                     {"is_loss", IsImportLoss(note)},
                     {"example", note.example},
                     {"text", ImportNoteText(note)}});
  }
  json["import_notes"] = std::move(notes);
  return ToText(json);
}

std::string DescribeText(const Trace& trace) {
  std::string out;
  AddLine(&out, "", trace.importer.empty() ? "bundle" : "file", trace.path);
  AddLine(&out, "", "format", trace.importer);
  if (trace.has_manifest) {
    const proto::Bundle& bundle = trace.manifest;
    constexpr size_t kMostCommand = 1000;  // all of it is in the JSON
    AddLine(&out, "", "command", Shortened(CommandLine(bundle.command()), kMostCommand));
    AddLine(&out, "", "host", bundle.host());
    AddLine(&out, "", "job", JobWords(bundle));
    DescribeRanks(bundle, &out);
    AddLine(&out, "", "started", UtcTime(static_cast<int64_t>(bundle.started_realtime_ns())));
    if (trace.origin_realtime_ns != 0) AddLine(&out, "", "times from", OriginText(trace));
    if (bundle.ended_realtime_ns() != 0) {
      AddLine(&out, "", "lasted",
              FormatDuration(
                  static_cast<int64_t>(bundle.ended_realtime_ns() - bundle.started_realtime_ns())) +
                  ", " + FormatExitStatus(bundle.exit_status()));
    } else {
      AddLine(&out, "", "lasted", "the command was still running, or gpuprof was killed");
    }
  } else if (trace.origin_realtime_ns != 0) {
    AddLine(&out, "", "started", UtcTime(trace.origin_realtime_ns));
  }
  const Totals totals = Sum(trace);
  AddLine(&out, "", "processes", std::to_string(trace.processes.size()));
  AddLine(&out, "", "rows", FormatCount(totals.rows));
  AddLine(&out, "", "size", FormatBytes(totals.bytes));
  if (trace.importer.empty()) AddLine(&out, "", "lost", LostText(totals));
  for (const std::string& note : trace.manifest.counter_note()) AddLine(&out, "", "note", note);
  for (const ImportNote& note : trace.import_notes)
    AddLine(&out, "", IsImportLoss(note) ? "lost" : "note", ImportNoteText(note));
  for (const Process& process : trace.processes)
    trace.importer.empty() ? DescribeProcess(process, &out) : DescribeImported(process, &out);
  for (const Process& sampler : trace.samplers) DescribeSampler(sampler, &out);
  if (!trace.faults.empty()) out += "\nfaults\n";
  for (const InputFault& fault : trace.faults) {
    out += "  " + OneLine(fault.file) + " at byte " + std::to_string(fault.offset) + ": " +
           OneLine(fault.what) + "\n";
  }
  return out;
}

}  // namespace gpuprof::analysis
