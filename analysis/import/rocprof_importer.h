// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the processes of one file of rocprofv3. Rows wait until the whole file is read: names,
// agents and calls may stand behind the records that name them. One file, one importer, one thread.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/import/call_table.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/note_counts.h"
#include "analysis/import/rocprof_reader.h"
#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

class RocprofImporter final : public RocprofHandler {
 public:
  // Counts within `meter`, which outlives this object.
  explicit RocprofImporter(MemoryMeter* meter) : meter_(meter) {}

  void OnProcess() override;
  void OnFacts(const RocprofProcess& process) override;
  void OnAgent(const RocprofAgent& agent) override;
  void OnKernel(const RocprofKernel& kernel) override;
  void OnKind(uint64_t kind, std::string_view name,
              const std::vector<std::string>& operations) override;
  void OnMessage(uint64_t correlation, std::string_view text) override;
  bool OnRecord(std::string_view section, const RocprofRecord& record) override;
  void OnUnread(std::string_view section, uint64_t records) override;
  Error Refusal() override;

  NoteCounts& notes() { return notes_; }
  bool has_rows() const { return first_ns_ != INT64_MAX; }
  // Returns the time of the earliest row. It counts from the start of the machine.
  int64_t first_ns() const { return first_ns_; }
  // Returns what tells the machine's clock from those of others. Empty: the file does not tell.
  const std::string& machine() const { return machine_; }
  // Makes the processes; call it once. `file`: the name that the processes have as their file.
  // `origin_ns`: the time that becomes 0.
  std::vector<Process> Build(const std::string& file, int64_t origin_ns);

 private:
  struct Launch {
    uint64_t kernel = 0, agent = 0, scratch_bytes = 0, lds_bytes = 0;
    std::array<uint64_t, 3> work_items{}, group{};
    auto operator<=>(const Launch&) const = default;
  };
  // A dispatch or a copy.
  struct Work {
    SpanNs span;
    uint64_t correlation = 0;
    uint64_t queue = 0, stream = 0;
    const Launch* launch = nullptr;  // null: a copy
    uint64_t from = 0, to = 0, bytes = 0, operation = 0;
  };
  enum class CallKind : uint8_t { kHip, kHsa, kMarker, kLibrary };
  struct Call {
    SpanNs span;
    uint64_t thread = 0, correlation = 0;
    uint32_t kind = 0, operation = 0;
    CallKind of = CallKind::kHip;
    uint32_t domain = 0;  // of kLibrary: its section
  };
  struct Kind {
    std::string name;
    std::vector<std::string> operations;
  };
  struct One {  // process
    RocprofProcess facts;
    std::vector<RocprofAgent> agents;
    std::map<uint64_t, RocprofKernel> kernels;
    std::map<uint64_t, Kind> kinds;
    std::unordered_map<uint64_t, std::string> messages;
    std::map<Launch, char> launches;
    std::vector<Work> work;
    std::vector<Work> counted;  // dispatches that have counters
    bool has_dispatches = false;
    std::vector<Call> calls;
    std::map<std::string, uint64_t, std::less<>> unread;
  };
  // What rows of one process refer to while it is built.
  struct Parts {
    const One* one = nullptr;
    ProcessBuilder builder;
    CallTable calls;
    std::map<uint64_t, uint32_t> devices;  // by the agent's handle
    std::map<std::pair<bool, uint64_t>, uint32_t> lanes;
    std::map<const Launch*, uint32_t> signatures;
    std::unordered_map<uint64_t, uint32_t> threads;
    std::unordered_map<uint64_t, uint32_t> functions;
  };

  bool SpanOf(const RocprofRecord& record, SpanNs* span);
  void Hold(uint64_t bytes) { held_bytes_ += bytes; }
  const std::string& NameOf(const One& one, uint32_t kind, uint32_t operation);
  void AddDevices(Parts* parts);
  void AddCalls(Parts* parts);
  void AddRange(const Call& call, Parts* parts);
  void AddWork(Parts* parts);
  void AddCopy(const Work& work, WorkRow row, Parts* parts);
  uint32_t SignatureOf(const Launch& launch, uint32_t device, Parts* parts);
  uint32_t StreamOf(uint32_t device, const Work& work, Parts* parts);
  void JoinCall(const Work& work, std::string_view what, Parts* parts);
  void TellIdleCalls(const Parts& parts);
  uint32_t ThreadOf(uint64_t thread, Parts* parts);

  MemoryMeter* meter_;
  NoteCounts notes_;
  std::vector<std::unique_ptr<One>> all_;
  std::vector<std::string> sections_;  // of libraries
  std::string machine_;
  uint64_t held_bytes_ = 0;
  int64_t first_ns_ = INT64_MAX;
};

}  // namespace gpuprof::analysis::import
