// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes a process of one XSpace, which is of one process of a host. The parts:
//   xspace_importer.cc  planes, what their tables mean, and the end
//   xspace_host.cc      lines of threads: operations, ranges, calls, Python functions, memory
//   xspace_device.cc    lines of devices: work, and lines that group it
//   xspace_scopes.cc    which scope lies in which
//
// One file, one importer, one thread. Planes of the host come first, so that work finds its call.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/text_map.h"
#include "analysis/import/call_table.h"
#include "analysis/import/detail_text.h"
#include "analysis/import/key_table.h"
#include "analysis/import/note_counts.h"
#include "analysis/import/thread_pairs.h"
#include "analysis/import/xspace_names.h"
#include "analysis/import/xspace_reader.h"
#include "analysis/import/xspace_scopes.h"
#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

class XSpaceImporter : public XSpaceHandler {
 public:
  // Gives details memory in proportion to the file.
  explicit XSpaceImporter(uint64_t file_bytes);

  bool OnPlane(XPlaneTables& plane) override;
  bool OnLine(const XLine& line) override;
  void OnEvent(const XEvent& event) override;

  NoteCounts& notes() { return notes_; }
  ProcessBuilder& builder() { return builder_; }
  // Returns about how much memory the rows, names and details so far take.
  uint64_t held_bytes() const {
    return builder_.held_bytes() + 2 * block_count_ * sizeof(BlockDetail);
  }
  // Ends the reading: call it once, after the last event. Returns the time of the earliest row,
  // since 1970 or since an unknown moment (IsWallClock()).
  int64_t Close();
  bool IsWallClock() const { return is_wall_clock_; }
  // Returns whether any row is there.
  bool has_rows() const { return has_rows_; }
  // Makes the process; call it once, after Close(). `origin_ns`: the time, as Close() counts, that
  // becomes 0.
  Process Build(const std::string& file, const std::string& host, int64_t origin_ns);

 private:
  // What the metadata of an event means, made when its first event comes.
  struct Meaning {
    bool is_known = false;
    HostEvent event = HostEvent::kOp;
    bool is_api = false, is_driver = false, launches = false;
    uint32_t name = 0, domain = 0;  // string ids
    uint32_t function = 0;          // of a call
    uint32_t calls = 0;             // number of the text of the function's name
  };
  // What the stats of an event tell.
  struct EventStats {
    int64_t correlation = 0;
    std::optional<int64_t> step, iteration, group;
    bool is_root = false, has_step_name = false;
    XStat hlo_op;
  };
  // Work whose events have the same stats, except for their correlation.
  struct Work {
    WorkName kind;
    WorkRow row;
    uint32_t name = 0;
    bool groups_work = false;  // an operation of XLA that runs others: a loop, a call
    uint32_t unknown = 0;      // references to texts that are not there
  };
  struct OpDetail {
    uint32_t detail = 0;
    uint32_t unknown = 0;
  };
  struct Series {
    uint32_t counter = 0;
    uint32_t divisor = 1;
  };
  // What an allocator says about a row of tensors (model/tensor_counts.h).
  struct BlockDetail {
    int64_t time = 0;
    uint64_t counts = 0;
    uint32_t detail = 0;
  };

  // xspace_importer.cc
  void Note(ImportNoteKind kind, std::string_view example);
  bool SpanOf(const XEvent& event, SpanNs* span);
  uint32_t NameOf(std::string_view text);
  uint32_t NewName(std::string_view text);
  int64_t NamelessId(int64_t metadata_id);
  StatRole RoleOf(int64_t metadata_id) {
    const auto id = static_cast<uint64_t>(metadata_id);
    return id < kNearRoles && are_near_[id] ? near_roles_[id] : FarRoleOf(metadata_id);
  }
  StatRole FarRoleOf(int64_t metadata_id);
  std::string_view TextOf(const XStat& stat, uint32_t* unknown) const;
  void AddMember(const XStat& stat, DetailText* detail, uint32_t* unknown) const;
  bool TakePlaneRoom(uint64_t bytes);
  uint32_t Detail(DetailText* detail);
  uint32_t Unknown(std::string_view what, int64_t id);
  void ReadDevice(const std::vector<XStat>& stats);
  void ReadTask(const std::vector<XStat>& stats);
  void ReadProcess(const std::vector<XStat>& stats);
  void ReadModules();
  void JoinCalls();
  void JoinThreads();
  void KeepBlockDetails(int64_t origin);
  void Reserve(const XLine& line);

  // xspace_host.cc
  void OnHostLine(const XLine& line);
  void OnHostEvent(const XEvent& event, SpanNs span);
  Meaning& MeaningOf(int64_t metadata_id);
  void FillHostMeaning(uint32_t event, Meaning* meaning);
  EventStats ReadHostStats(const XEvent& event);
  uint32_t OpDetailOf(const XEvent& event);
  void AddCall(const Meaning& meaning, SpanNs span, int64_t correlation);
  bool IsStep(const Meaning& meaning, const EventStats& stats);
  void AddStep(const Meaning& meaning, SpanNs span, const EventStats& stats);
  void AddMemory(const XEvent& event, bool is_release, int64_t time);
  void OnOtherEvent(const XEvent& event, SpanNs span);

  // xspace_device.cc
  void OnDeviceLine(const XLine& line);
  void OnDeviceEvent(const XEvent& event, SpanNs span);
  void OnWork(const XEvent& event, SpanNs span);
  Work MakeWork(const XEvent& event, int64_t id);
  void FillWork(const std::vector<XStat>& stats, DetailText* detail, Work* work,
                KernelShape* shape);
  void AddWork(const Work& work, SpanNs span, int64_t correlation, std::string_view name);
  void AddDerived(const XEvent& event, SpanNs span, bool is_step, bool may_overlap);
  void AddSamples(const XEvent& event, int64_t time);
  uint32_t DerivedTimeline();
  void ClipWork(uint32_t timeline);

  ProcessBuilder builder_;
  NoteCounts notes_;
  CallTable calls_;
  std::vector<std::string> call_names_;
  TextMap call_numbers_;
  XSpaceScopes scopes_;
  ThreadPairs pairs_;
  // Bytes that details and names may still take. Names come first: details must not push them out.
  uint64_t detail_room_, name_room_;
  uint64_t hlo_bytes_ = 0;  // kept of compiled modules
  bool has_bad_text_ = false;
  bool has_step_ranges_ = false;  // threads mark steps
  bool is_wall_clock_ = false, has_rows_ = false;
  int64_t base_ns_ = 0;
  int64_t profile_start_ns_ = 0;
  int64_t named_threads_ = 0;                                   // that have no number
  std::map<uint32_t, std::vector<BlockDetail>> block_details_;  // by timeline
  uint64_t block_count_ = 0;
  std::map<std::string, uint32_t> derived_;  // timelines by name
  std::set<uint32_t> streams_;               // timelines of GPUs

  // The current plane.
  uint64_t plane_room_ = 0;  // taken of detail_room_ until the plane ends
  const XPlaneTables* plane_ = nullptr;
  PlaneName place_;
  std::vector<StatRole> roles_;  // by place
  // By id, of small ids: each event asks for several.
  static constexpr size_t kNearRoles = 512;
  std::array<StatRole, kNearRoles> near_roles_;
  std::array<bool, kNearRoles> are_near_;
  std::vector<Meaning> meanings_;
  std::map<int64_t, Meaning> nameless_;
  std::set<int64_t> nameless_work_;
  KeyTable work_numbers_, detail_numbers_;
  std::vector<Work> works_;
  std::vector<OpDetail> op_details_;
  std::map<int64_t, Series> series_;
  // The current line.
  XLine line_;
  DeviceLine device_line_ = DeviceLine::kWork;
  uint32_t timeline_ = 0;
  bool is_api_line_ = false, is_nvtx_line_ = false;
  uint32_t domain_ = 0;
  std::string key_;  // of what the event's stats tell
};

}  // namespace gpuprof::analysis::import
