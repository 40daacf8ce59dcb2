// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes processes of one database that Nsight Systems exported. The parts:
//   nsys_importer.cc  texts, processes, the clock, and the end
//   nsys_host.cc      rows of threads: calls, ranges, waits, names
//   nsys_device.cc    rows of devices: work, waits, graphs, counters
//
// Releases differ: a table or a column may be missing, and rows come in any order. Ids of calls are
// those of one process. One file, one importer, one thread.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/import/call_table.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/note_counts.h"
#include "analysis/import/sqlite_file.h"
#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

// Returns whether a database has tables of Nsight Systems that gpuprof reads.
bool IsNsysExport(const SqliteFile& file);

class NsysImporter {
 public:
  // Takes what outlives this object.
  NsysImporter(const SqliteFile* file, MemoryMeter* meter) : file_(file), meter_(meter) {}

  // Reads all tables; call it once.
  void Read();
  // Returns why rows are missing: a table is damaged, or the memory is used up.
  const std::vector<std::string>& faults() const { return faults_; }
  NoteCounts& notes() { return notes_; }
  bool has_rows() const { return first_ns_ != INT64_MAX; }
  // Returns the time of the earliest row: since 1970 or since an unknown moment (IsWallClock()).
  int64_t first_ns() const { return base_ns_ + first_ns_; }
  bool IsWallClock() const { return is_wall_clock_; }
  // Makes the processes; call it once. `file`: the name that the processes have as their file.
  // `origin_ns`: the time, as first_ns() counts, that becomes 0.
  std::vector<Process> Build(const std::string& file, int64_t origin_ns);

 private:
  struct Wait {
    uint32_t timeline;
    uint32_t operation;
    uint32_t name;  // of the call
    SpanNs span;
  };
  struct Signature {
    uint32_t name = 0;
    std::array<uint32_t, 18> values{};
    auto operator<=>(const Signature&) const = default;
  };
  struct Host {
    uint64_t key = 0;  // the upper 40 bits of the ids of its threads
    ProcessBuilder builder;
    CallTable calls;
    std::unordered_map<int64_t, uint32_t> names;  // by id of the file: those of Intern()
    std::unordered_map<int64_t, uint32_t>
        functions;  // by id of the file << 1, plus 1: the driver's
    std::map<Signature, uint32_t> signatures;
    std::unordered_map<uint64_t, uint32_t> threads;
    std::vector<Wait> waits;
  };
  struct DomainRange {
    Host* host;
    uint32_t timeline;
    RangeRow range;
    int64_t domain;
  };
  // What all tables of work on devices begin with.
  struct DeviceRow {
    Host* host = nullptr;
    WorkRow work;
    uint32_t device = 0, context = 0, timeline = 0;
    int64_t correlation = 0;
  };

  // nsys_importer.cc
  void ReadTexts();
  void ReadClock();
  void ReadProcesses();
  void ReadMachine();
  void TellDiagnostics();
  void TellOtherTables();
  // Moves to the next row, as long as there is memory.
  bool Next(SqliteRows* rows);
  bool SpanOf(const SqliteRows& rows, SpanNs* span);
  void Cover(SpanNs span);
  std::string_view TextOf(int64_t id) const;
  uint32_t NameIn(Host* host, int64_t id);
  Host& HostOf(uint64_t key);
  Host& HostOfProcess(std::optional<int64_t> global_pid);
  // Returns the timeline of a thread of any process.
  std::pair<Host*, uint32_t> ThreadOf(std::optional<int64_t> global_tid);
  void Hold(uint64_t bytes) { held_bytes_ += bytes; }

  // nsys_host.cc
  void ReadCalls();
  void ReadSystemCalls();
  void ReadRanges();
  void GiveDomains(const std::vector<DomainRange>& ranges);
  void ReadOverheads(std::string_view table);
  void ReadThreadNames();
  uint32_t FunctionIn(Host* host, int64_t name, bool is_driver);
  // Returns a text that is valid until the next row, or until the next use of `room`.
  std::string_view NvtxText(const SqliteRows& rows, std::string* room) const;

  // nsys_device.cc
  void ReadKernels();
  void ReadCopies();
  void ReadSets();
  void ReadGraphLaunches();
  void ReadSyncs();
  void ReadEvents();
  void ReadDevices();
  void ReadMetrics();
  bool ReadDeviceRow(const SqliteRows& rows, std::string_view what, DeviceRow* row);
  void JoinCall(const DeviceRow& row, std::string_view what, int64_t name);
  void TellIdleCalls();

  const SqliteFile* file_;
  MemoryMeter* meter_;
  uint64_t held_bytes_ = 0, rows_ = 0;
  bool is_full_ = false;
  NoteCounts notes_;
  std::vector<std::string> faults_;
  std::unordered_map<int64_t, std::string> texts_;
  std::map<uint64_t, std::unique_ptr<Host>> hosts_;
  std::vector<Host*> host_order_;
  Host* last_host_ = nullptr;
  bool has_further_hosts_ = false;
  std::map<std::pair<uint64_t, int64_t>, std::string> domains_;  // by host and number
  // The device of Nsight Systems by the process's number and its own number of the device.
  std::map<std::pair<int64_t, int64_t>, int64_t> gpus_;
  std::map<uint64_t, std::string> process_names_;  // by the host's key
  std::vector<std::string> versions_;
  std::string machine_;
  int64_t base_ns_ = 0;
  bool is_wall_clock_ = false;
  int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

}  // namespace gpuprof::analysis::import
