// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes processes of the events of one Chrome trace, as torch.profiler writes it. The parts:
//   kineto_importer.cc  sorts events by what they are, and reads the header
//   kineto_host.cc      operations, annotations, Python functions, calls, memory
//   kineto_device.cc    kernels, copies, sets and waits; which process they belong to
//   kineto_counters.cc  counters, and which process and device they belong to
//   event_pairs.cc      begin and end events
//   kineto_finish.cc    what needs all rows: joins, impossible times, notes
//   kineto_join.cc      files that are recordings of one process
//
// One file, one importer, one thread. Rows may come in any order.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/text_map.h"
#include "analysis/import/call_table.h"
#include "analysis/import/chrome_event.h"
#include "analysis/import/counter_values.h"
#include "analysis/import/event_pairs.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/kineto_fields.h"
#include "analysis/import/later_rows.h"
#include "analysis/import/note_counts.h"
#include "analysis/model/builder.h"
#include "analysis/model/cuda_versions.h"

namespace gpuprof::analysis::import {

// A row of a thread. The views are the event's.
struct HostRow {
  Category category = Category::kNone;
  SpanNs span;
  std::string_view name;
  Entity thread;
  std::string_view detail;
  uint64_t external = 0;
  int64_t correlation = 0;
  int64_t python_id = -1, python_parent = -1;
  bool is_backward = false;
  uint64_t sequence = 0;  // autograd's number, plus 1; 0: none
};

// A row of a device. Its process is found when all rows are known.
struct DeviceRow {
  Category category = Category::kKernel;
  WorkRow work;             // signature: the importer's own number
  int64_t correlation = 0;  // as the file has it
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t name = 0;    // number of a text of the importer
  uint32_t detail = 0;  // number of a text about a collective, plus 1; 0: none
  uint32_t group = 0;   // number of the prefix of the process's name in the file
  bool has_time = true;
  int64_t wait_stream = -1, wait_record = 0;  // of a wait for an event of another stream
};

// A series of values.
struct CounterKey {
  Entity process;       // as the file names it; may be a device
  int64_t device = -1;  // that the arguments name; -1: none
  uint32_t name = 0;    // number of a text of the importer
  uint32_t key = 0;     // likewise: the argument's
  auto operator<=>(const CounterKey&) const = default;
};

// When a process has rows, and the numbers of its calls. CUPTI counts on as long as it lives.
struct RecordedLife {
  SpanNs bounds{};  // start > end: no row
  uint32_t first_call = UINT32_MAX, last_call = 0;
};

class KinetoImporter : public ChromeHandler {
 public:
  KinetoImporter() = default;
  void OnEvent(const ChromeEvent& event) override;
  void OnHeader(std::string_view key, const JsonValue& value) override;
  Error Refusal() override;

  // Takes events as long as the meter allows. It outlives the reading.
  void LimitMemory(MemoryMeter* meter) { meter_ = meter; }
  NoteCounts& notes() { return notes_; }
  // Ends the reading: call it once, after the last event. Returns the time of the earliest row:
  // since 1970, or since an unknown moment if the file does not tell more (IsWallClock()).
  int64_t Close();
  bool IsWallClock() const { return base_ns_ != 0 || first_ns_ > kLongAgoNs; }
  // Takes the rows of processes that `later` has recorded further: a profiler that is started again
  // writes another file. Both after Close(), before Build(). Returns whether there were any.
  bool Follow(KinetoImporter* later);
  // Makes the processes; call it once, after Close(). `file`: the name that the processes have as
  // their file. `origin_ns`: the time, as Close() counts, that becomes 0.
  std::vector<Process> Build(const std::string& file, int64_t origin_ns);

 private:
  // A time in the year 2001: no trace is older, and no machine counts so far from its start.
  static constexpr int64_t kLongAgoNs = 1'000'000'000'000'000'000;

  struct Host {
    Entity entity;
    std::unique_ptr<ProcessBuilder> builder;
    uint32_t group = 0;
    CallTable calls;
    std::optional<RecordedLife> life;  // once it was asked for
  };
  // The processes with one prefix of their names.
  struct GroupHosts {
    Host* first = nullptr;
    uint32_t count = 0;
  };
  struct CallOfHost {
    std::pair<uint32_t, int64_t> id;  // group and correlation
    Host* host = nullptr;
  };
  // A row of a process that no process of Linux can be: it belongs to the only other process.
  struct StrayRow {
    HostRow row;
    std::string name, detail;
    uint32_t group = 0;
  };
  // The place in which a counter is shown.
  struct CounterPlace {
    int64_t device = -1;      // -1: no device
    bool is_process = false;  // of the process that the event names
    bool is_new = false;      // that process has no other rows
  };
  using CounterDevices = std::set<std::pair<std::string, uint32_t>>;  // by prefix
  struct Signature {
    uint32_t name = 0, device = 0, context = 0;
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t registers = 0, shared_bytes = 0;
    auto operator<=>(const Signature&) const = default;
  };

  // kineto_importer.cc
  bool TimesOf(const ChromeEvent& event, SpanNs* span);
  void AddToPairs(const ChromeEvent& event, int64_t time, std::string_view id);
  void OnComplete(const ChromeEvent& event, SpanNs span);
  void OnMetadata(const ChromeEvent& event);
  void OnInstant(const ChromeEvent& event);
  void ReadVersion(const CudaVersionKind& kind, int64_t number);
  void ReadDevices(const JsonValue& json);
  void ReadDistributed(const JsonValue& json);

  // kineto_host.cc
  void OnHostRow(const ChromeEvent& event, Category category, SpanNs span);
  void OnPlainSpan(const ChromeEvent& event, SpanNs span);
  void OnMemory(const ChromeEvent& event, int64_t time);
  void AddHostRow(Host* host, const HostRow& row);
  void AddCall(Host* host, uint32_t timeline, const HostRow& row);
  void AddOp(Host* host, uint32_t timeline, const HostRow& row);
  uint32_t TimelineOf(Host* host, const Entity& thread);
  Host& HostOf(const Entity& process);
  GroupHosts HostsOf(uint32_t group) const;
  Host* OnlyHostOf(uint32_t group) const;
  void AddPairs();

  // kineto_device.cc
  void OnDeviceRow(const ChromeEvent& event, Category category, SpanNs span);
  void OnSync(const ChromeEvent& event, SpanNs span);
  void KeepDeviceRow(const DeviceRow& row);
  void PlaceOf(const ChromeEvent& event, const WorkArgs& args, DeviceRow* row);
  uint32_t SignatureOf(const ChromeEvent& event, const WorkArgs& args, const DeviceRow& row);
  void SortCallsById();
  std::vector<Host*> HostsWithCall(const DeviceRow& row);
  void FindDeviceOwners();
  Host& OwnerOf(const DeviceRow& row);
  void GiveDeviceRows();
  void AddDeviceRow(Host* host, const DeviceRow& row);
  uint32_t SignatureIn(Host* host, uint32_t number);

  // kineto_counters.cc
  void OnCounter(const ChromeEvent& event);
  bool IsDevice(const Entity& process, const CounterDevices& devices) const;
  CounterPlace PlaceOf(const CounterKey& counter, const CounterDevices& devices) const;
  void GiveCounters();
  Host& OwnerOf(const CounterKey& counter, const CounterPlace& place);
  void GiveCounter(const CounterKey& counter, const CounterPlace& place);

  // kineto_finish.cc
  void GiveStrayRows();
  void ClipDeviceRows();
  void ClipDeviceRow(const LaterRows::Others& others, DeviceRow* row);
  void ClipPython();
  void FindEarlierBlocks();
  void JoinCalls();
  void FindClashes();
  void NameTimelines();
  void FillProcess(const std::string& file, Host* host);

  // kineto_join.cc
  static const RecordedLife& LifeOf(Host* host);
  bool IsContinuedBy(const KinetoImporter& later, Host* host, Host* other) const;

  // Counts the memory of rows and texts that no builder holds.
  void Hold(uint64_t bytes) { held_bytes_ += bytes; }
  uint32_t TextOf(std::string_view text);
  uint32_t GroupOf(std::string_view prefix);

  MemoryMeter* meter_ = nullptr;  // null: there is no limit
  uint64_t held_bytes_ = 0;
  NoteCounts notes_;
  EventPairs pairs_;
  std::map<Entity, std::unique_ptr<Host>> hosts_;
  std::vector<Host*> host_order_;
  std::vector<GroupHosts> hosts_of_group_;  // by group; groups without a process may be missing
  std::vector<CallOfHost> calls_by_id_;     // sorted; made when it is first needed
  bool has_calls_by_id_ = false;
  Host* last_host_ = nullptr;
  bool has_further_hosts_ = false;
  std::vector<StrayRow> stray_;
  std::vector<DeviceRow> device_rows_;
  std::map<std::pair<uint32_t, uint32_t>, Host*> device_owners_;  // by group and device
  std::map<CounterKey, std::vector<CounterValue>> counters_;
  std::vector<Signature> signatures_;
  std::map<Signature, uint32_t> signature_numbers_;
  std::map<std::pair<const Host*, uint32_t>, uint32_t> signatures_in_;
  std::vector<std::string> texts_;
  TextMap text_numbers_;
  std::vector<std::string> groups_;
  TextMap group_numbers_;
  std::map<std::pair<Entity, Entity>, std::string> thread_names_;  // by process and thread
  std::map<Entity, std::string> process_names_, process_labels_;
  std::vector<proto::Device> devices_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> versions_;     // of the driver, of CUDA and of CUPTI
  std::vector<std::string> group_notes_;  // GroupNote of each process group
  std::string host_name_;
  int64_t base_ns_ = 0;
  int64_t first_ns_ = 0;         // the earliest row, on the wall clock if base_ns_ is known
  int64_t stop_ns_ = INT64_MIN;  // the end of the profiler's own span
};

}  // namespace gpuprof::analysis::import
