// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/range_payloads.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/read/payload_values.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

using proto::RangeKind;
using proto::nvtx::HandleText;

// The most that the payloads of one process may take: bytes of new texts, values, and visits of
// entries. The rows of the file bound values and visits, so that a small file stays cheap.
constexpr uint64_t kMostTextBytes = 64u << 20;
constexpr uint64_t kValuesOfAnyFile = 1u << 20, kMostValuesPerRow = 16;
constexpr uint64_t kVisitsOfAnyFile = 1u << 22, kMostVisitsPerRow = 32;

// A range and its payloads have the same key.
struct Key {
  int32_t tid;  // of the thread that gave the payload
  int64_t time_ns;
  RangeKind kind;
  bool is_end;
  uint32_t depth;
  uint32_t domain;
  auto operator<=>(const Key&) const = default;
};

// The payloads of one event: rows [first, last) of a track.
struct Event {
  Key key;
  const RangePayloadTable* table;
  size_t first;
  size_t last;
  // Events of one key that have found their range; counted in the first of them.
  size_t taken = 0;
};

// Texts of values become strings of the process.
class Texts {
 public:
  explicit Texts(Process* process) : process_(process) {}

  // Returns a string id; 0: there is no room.
  uint32_t Intern(const std::string& text) {
    const auto known = ids_.find(text);
    if (known != ids_.end()) return known->second;
    bytes_ += text.size() + kEntryBytes;
    if (bytes_ > kMostTextBytes) return 0;
    while (process_->strings.count(next_) != 0) ++next_;
    process_->strings.emplace(next_, text);
    ids_.emplace(text, next_);
    return next_++;
  }

 private:
  static constexpr uint64_t kEntryBytes = 128;

  Process* process_;
  std::unordered_map<std::string, uint32_t> ids_;
  uint64_t bytes_ = 0;
  uint32_t next_ = 0x80000000;  // above those of a recorder
};

bool IsHeader(uint32_t operation) { return operation != 0; }

// Returns events by key. Those of one key are in the order of the file.
std::vector<Event> EventsOf(const Process& process) {
  std::vector<Event> events;
  for (const Track& track : process.tracks) {
    const RangePayloadTable& table = track.range_payload;
    for (size_t row = 0; row < table.rows(); ++row) {
      const uint32_t operation = table.operation[row];
      const bool goes_on = !IsHeader(operation) || !proto::IsFirstPayload(operation);
      if (goes_on && !events.empty() && events.back().table == &table &&
          events.back().last == row) {
        ++events.back().last;
      } else if (!goes_on) {
        const Key key = {track.tid,
                         table.time_ns[row],
                         proto::RangeKindOf(operation),
                         proto::IsPayloadOfEnd(operation),
                         static_cast<uint32_t>(proto::OpDepthOf(operation)),
                         table.domain[row]};
        events.push_back({key, &table, row, row + 1});
      }
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& x, const Event& y) { return x.key < y.key; });
  return events;
}

// Puts the bytes of an event's payloads together from their rows.
class EventBytes {
 public:
  // Adds a payload. False: some of its rows are missing.
  bool Add(const RangePayloadTable& table, size_t row, size_t last) {
    const uint32_t operation = table.operation[row];
    const uint64_t words = (table.value[row] + 7) / 8;
    const uint64_t of_handles = uint64_t{proto::PayloadHandlesOf(operation)} * 2;
    const uint64_t unused = proto::PayloadUnusedOf(operation);
    if (table.value[row] > proto::kMaxPayloadBytes || words > last - row - 1 ||
        of_handles > words || unused > (words - of_handles) * 8)
      return false;
    std::string& bytes = bytes_.emplace_back(words * 8, '\0');
    for (uint64_t i = 0; i < words; ++i) {
      const uint64_t word = table.value[row + 1 + i];
      std::memcpy(bytes.data() + i * 8, &word, 8);
    }
    PayloadBytes& payload = payloads_.emplace_back();
    payload.definition = table.definition[row];
    payload.handles.resize(of_handles / 2);
    const size_t own = (words - of_handles) * 8;
    if (of_handles != 0) std::memcpy(payload.handles.data(), bytes.data() + own, of_handles * 8);
    bytes.resize(own - unused);
    return true;
  }

  const std::vector<PayloadBytes>& payloads() {
    for (size_t i = 0; i < payloads_.size(); ++i) payloads_[i].bytes = bytes_[i];
    return payloads_;
  }

 private:
  std::vector<std::string> bytes_;
  std::vector<PayloadBytes> payloads_;
};

class RangeReader {
 public:
  explicit RangeReader(Process* process) : process_(process), texts_(process) {
    uint64_t rows = 0;
    for (const Track& track : process->tracks) rows += track.range_payload.rows();
    for (const auto& [id, text] : process->strings) definitions_.Add(id, text);
    events_ = EventsOf(*process);
    values_left_ = kValuesOfAnyFile + kMostValuesPerRow * rows;
    visits_left_ = kVisitsOfAnyFile + kMostVisitsPerRow * rows;
  }

  void Read() {
    for (Track& track : process_->tracks) {
      messages_.clear();
      for (size_t row = 0; row < track.range.rows(); ++row) ReadRange(&track, row);
      if (messages_.empty()) continue;
      track.range.name.Rewrite([&](size_t row, uint32_t name) {
        const auto found = messages_.find(row);
        return found == messages_.end() ? name : found->second;
      });
    }
    for (Track& track : process_->tracks) track.range_payload = {};
    if (lost_ == 0) return;
    for (auto& loss : *process_->health.mutable_loss()) {
      if (loss.kind() == proto::LOSS_RANGE_VALUE) return loss.set_count(loss.count() + lost_);
    }
    auto* loss = process_->health.add_loss();
    loss->set_kind(proto::LOSS_RANGE_VALUE);
    loss->set_count(lost_);
  }

 private:
  void ReadRange(Track* track, size_t row) {
    const RangeTable& table = track->range;
    const uint32_t operation = table.operation[row];
    const RangeKind kind = proto::RangeKindOf(operation);
    if (kind >= RangeKind::kNameThread) return;
    const int32_t begin_tid = table.begin_thread[row] != 0 ? table.begin_thread[row] : track->tid;
    EventBytes bytes;
    Key key = {begin_tid, table.end_ns[row] - table.duration_ns[row],         kind,
               false,     static_cast<uint32_t>(proto::OpDepthOf(operation)), table.domain[row]};
    bool any = Take(key, &bytes);
    key.tid = track->tid;
    key.time_ns = table.end_ns[row];
    key.is_end = true;
    any = Take(key, &bytes) || any;
    if (!any) return;
    const FindString find_string = [this](uint64_t id) -> const std::string* {
      const auto found = process_->strings.find(static_cast<uint32_t>(id));
      return found != process_->strings.end() ? &found->second : nullptr;
    };
    const EventValues read = ReadPayloads(bytes.payloads(), definitions_, find_string,
                                          table.name[row] == 0, visits_left_);
    visits_left_ -= read.visits;
    lost_ += read.lost;
    if (!read.message.empty()) messages_[row] = texts_.Intern(read.message);
    Store(read.values, track, row);
  }

  // Takes the key's next event. False: no event is left.
  bool Take(const Key& key, EventBytes* bytes) {
    auto event = std::lower_bound(events_.begin(), events_.end(), key,
                                  [](const Event& x, const Key& y) { return x.key < y; });
    if (event == events_.end() || event->key != key) return false;
    const size_t taken = event->taken++;
    if (taken >= static_cast<size_t>(events_.end() - event)) return false;
    event += static_cast<std::ptrdiff_t>(taken);
    if (event->key != key) return false;
    for (size_t row = event->first; row < event->last; ++row) {
      if (IsHeader(event->table->operation[row]) && !bytes->Add(*event->table, row, event->last))
        ++lost_;
    }
    return true;
  }

  void Store(const std::vector<PayloadValue>& values, Track* track, size_t row) {
    RangeValueTable& to = track->range_value;
    const uint32_t operation = track->range.operation[row];
    uint32_t place = 0;
    for (const PayloadValue& value : values) {
      const bool is_text = value.type == RangeValue::kText;
      const uint32_t name = texts_.Intern(value.name);
      const uint32_t text = is_text && !value.text.empty() ? texts_.Intern(value.text) : 0;
      if (name == 0 || (text == 0 && !value.text.empty()) || values_left_ == 0) {
        ++lost_;
        continue;
      }
      --values_left_;
      to.end_ns.push_back(track->range.end_ns[row]);
      to.operation.push_back(
          RangeValueOperation(proto::RangeKindOf(operation), value.type, place++,
                              static_cast<uint32_t>(proto::OpDepthOf(operation))));
      to.domain.push_back(track->range.domain[row]);
      to.name.push_back(name);
      to.value.push_back(is_text ? text : value.bits);
    }
  }

  Process* process_;
  Texts texts_;
  PayloadDefinitions definitions_;
  std::vector<Event> events_;
  std::unordered_map<size_t, uint32_t> messages_;  // names of a track's ranges, by row
  uint64_t values_left_ = 0;
  uint64_t visits_left_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace

void ReadRangePayloads(Process* process) {
  const bool any = std::any_of(process->tracks.begin(), process->tracks.end(),
                               [](const Track& track) { return track.range_payload.rows() != 0; });
  if (any) RangeReader(process).Read();
}

}  // namespace gpuprof::analysis
