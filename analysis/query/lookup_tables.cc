// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See lookup_tables.h.

#include "analysis/query/lookup_tables.h"

#include <memory>
#include <set>
#include <utility>

#include "analysis/model/modules.h"
#include "analysis/model/process_name.h"
#include "analysis/model/table_columns.h"
#include "analysis/query/row_table.h"
#include "analysis/symbols/symbolizer.h"

namespace gpuprof::analysis {
namespace {

// Nsight Systems packs a machine, a process and a thread into one number (views.cc).
constexpr int64_t kNsysMachine = int64_t{1} << 48;
constexpr int kNsysThreadBits = 24;

class NameTable : public RowTable {
 public:
  explicit NameTable(const TraceNames& names)
      : RowTable("names", "texts that columns ending in _id refer to"), names_(names) {
    columns_ = {{"id", ValueType::kId}, {"name", ValueType::kText}};
  }
  uint64_t rows() const override { return names_.texts().size(); }

 private:
  Error Load() override {
    for (uint32_t id = 0; id < names_.texts().size(); ++id)
      AddRow({Cell::Of(int64_t{id}), Cell::Of(names_.Text(id))});
    return {};
  }

  const TraceNames& names_;
};

class ProcessTable : public RowTable {
 public:
  explicit ProcessTable(const Trace& trace)
      : RowTable("processes", "processes of the recording"), trace_(trace) {
    columns_ = {
        {"process", ValueType::kUnsigned},
        {"host", ValueType::kText},
        {"pid", ValueType::kSigned},
        {"parent_pid", ValueType::kSigned},
        {"rank", ValueType::kUnsigned},
        {"name", ValueType::kText},
        {"executable", ValueType::kText},
        {"start_ns", ValueType::kSigned, "ns"},
        {"end_ns", ValueType::kSigned, "ns"},
        {"exit_status", ValueType::kSigned},
        {"lost_count", ValueType::kUnsigned},
        // Names are the same in small and large letters: this is PROCESSES of Nsight Systems, too.
        {"globalPid", ValueType::kSigned}};
  }

 private:
  Error Load() override {
    for (const Process& process : trace_.processes) {
      const std::optional<Rank> rank = RankOf(process);
      AddRow({Cell::Of(static_cast<int64_t>(&process - trace_.processes.data())),
              Cell::Of(Keep(process.host)), Cell::Of(int64_t{process.pid}),
              Cell::Of(int64_t{process.ppid}), rank ? Cell::Of(int64_t{rank->number}) : Cell(),
              Cell::Of(Keep(ProcessName(process))), Cell::Of(Keep(process.executable)),
              Cell::Of(process.LifeStart()), Cell::Of(process.LifeEnd()),
              process.has_end ? Cell::Of(int64_t{process.exit_status}) : Cell(),
              Cell::Of(static_cast<int64_t>(process.dropped)),
              Cell::Of(kNsysMachine + (int64_t{process.pid} << kNsysThreadBits))});
    }
    return {};
  }

  const Trace& trace_;
};

class TrackTable : public RowTable {
 public:
  explicit TrackTable(const TraceNames& names)
      : RowTable("tracks", "threads, streams, and devices whose counters were read"),
        names_(names) {
    columns_ = {{"track", ValueType::kUnsigned},   {"process", ValueType::kUnsigned},
                {"host", ValueType::kText},        {"pid", ValueType::kSigned},
                {"tid", ValueType::kSigned},       {"device", ValueType::kUnsigned},
                {"context", ValueType::kUnsigned}, {"stream", ValueType::kUnsigned},
                {"name", ValueType::kText},        {"is_of_gpuprof", ValueType::kBoolean}};
  }

 private:
  Error Load() override {
    for (size_t index = 0; index < names_.places(); ++index) {
      const Process& process = names_.process(index);
      const TraceNames::OfProcess& of = names_.of(index);
      const auto of_program = [&](int64_t value) {
        return of.is_of_program ? Cell::Of(value) : Cell();
      };
      for (const Track& track : process.tracks) {
        const auto place = static_cast<size_t>(&track - process.tracks.data());
        const auto of_stream = [&](uint32_t value) {
          return track.is_stream && value != kNoCudaId ? Cell::Of(int64_t{value}) : Cell();
        };
        const CountedDevice device = of.Counted(place);
        const bool is_counted = device.is_known && !of.is_of_program;
        AddRow({Cell::Of(static_cast<int64_t>(TrackNumber(index, place))),
                of_program(static_cast<int64_t>(index)), Cell::Of(Keep(process.host)),
                of_program(process.pid), track.is_stream ? Cell() : of_program(track.tid),
                is_counted ? Cell::Of(int64_t{device.index}) : of_stream(track.device),
                of_stream(track.context), of_stream(track.stream),
                Cell::Of(is_counted ? names_.Text(device.name) : Keep(track.name)),
                Cell::Of(int64_t{track.tool})});
      }
    }
    return {};
  }

  const TraceNames& names_;
};

// Collects the stacks that rows refer to.
class StackFinder {
 public:
  explicit StackFinder(const StackTree& tree) : tree_(tree) {}

  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(const Columns&... columns) {
    const proto::TableSpec& table = *proto::FindTable(kKind);
    int place = 0;
    (Look(table.column[place++].type, columns), ...);
  }
  void Capture(const Column<uint16_t>&) {}
  void Weight(const Column<uint32_t>&) {}

  std::set<uint32_t> found;

 private:
  template <typename T>
  void Look(proto::ColumnType type, const Column<T>& column) {
    if (type != proto::ColumnType::kStack) return;
    T last = 0;
    for (const T value : column) {
      if (value == last) continue;
      last = value;
      Add(static_cast<uint32_t>(value));
    }
  }
  // Adds a stack, and the callers that are not there yet.
  void Add(uint32_t id) {
    StackNode node;
    for (id = tree_.Canonical(id); id > 1 && tree_.Find(id, &node) && found.insert(id).second;)
      id = tree_.Canonical(node.parent);
  }

  const StackTree& tree_;
};

std::set<uint32_t> StacksOf(const Process& process) {
  StackFinder finder(process.stacks);
  for (const Track& track : process.tracks)
    for (const proto::TableSpec& table : proto::kTables) ReadTable(track, table.kind, &finder);
  return std::move(finder.found);
}

// One row for each frame of the trees of stacks: a stack is its innermost frame and its parents.
class StackTable : public RowTable {
 public:
  StackTable(const Trace& trace, const PassOptions& options)
      : RowTable("stacks", "frames of call stacks; the parent is the caller"),
        trace_(trace),
        options_(options) {
    columns_ = {{"stack", ValueType::kUnsigned},
                {"parent", ValueType::kUnsigned},
                {"function", ValueType::kText}};
  }

 private:
  Error Load() override {
    for (size_t index = 0; index < trace_.processes.size(); ++index) AddProcess(index);
    return {};
  }

  void AddProcess(size_t index) {
    const Process& process = trace_.processes[index];
    Symbolizer symbolizer(process, PlacesOf(trace_, process, options_.symfs));
    const auto id_of = [&](uint32_t id) {
      return Cell::Of(static_cast<int64_t>(uint64_t{index} << 32 | id));
    };
    for (const uint32_t id : StacksOf(process)) {
      StackNode node;
      if (!process.stacks.Find(id, &node)) continue;
      std::string function;
      if (IsNamedFrame(node.pc)) {
        function = process.String(NameOfFrame(node.pc));
      } else if (options_.symbolize) {
        function = symbolizer.Resolve(node.pc).function;
      }
      const uint32_t parent = process.stacks.Canonical(node.parent);
      AddRow({id_of(id), parent > 1 ? id_of(parent) : Cell(), Cell::Of(Keep(function))});
    }
  }

  const Trace& trace_;
  const PassOptions& options_;
};

}  // namespace

void AddLookupTables(const TraceNames& names, const PassOptions& options, QueryTables* tables) {
  tables->push_back(std::make_unique<NameTable>(names));
  tables->push_back(std::make_unique<ProcessTable>(names.trace()));
  tables->push_back(std::make_unique<TrackTable>(names));
  tables->push_back(std::make_unique<StackTable>(names.trace(), options));
}

}  // namespace gpuprof::analysis
