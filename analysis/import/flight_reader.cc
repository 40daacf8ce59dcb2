// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_reader.h.

#include "analysis/import/flight_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/utf8.h"
#include "analysis/import/flight_values.h"

namespace gpuprof::analysis::import {
namespace {

// A pickle may name one value a million times, so what is taken of an entry has limits.
constexpr size_t kMostFrames = 128;
constexpr size_t kMostTensors = 64;
constexpr size_t kMostDimensions = 16;
constexpr size_t kMostEntries = 4'000'000;
constexpr size_t kMostGroups = 100'000;
constexpr size_t kMostGroupRanks = 1'000'000;
constexpr uint64_t kMostJsonBytes = uint64_t{512} << 20;
constexpr size_t kCheckedEntries = 1 << 12;

bool HasText(std::string_view bytes, std::string_view text) {
  return bytes.find(text) != std::string_view::npos;
}

// Keys that no other file of PyTorch begins with.
bool HasFlightKey(std::string_view bytes) {
  for (const std::string_view key :
       {"profiling_name", "collective_seq_id", "pg_config", "pg_status", "comm_lib_version",
        "nccl_comm_state", "nccl_version"})
    if (HasText(bytes, key)) return true;
  return false;
}

// Returns whether a frame is of a library, and not of the program.
bool IsLibraryFile(std::string_view file) {
  if (file.empty() || file.front() == '<') return true;
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python3", "/torch/distributed/", "/torch/nn/",
        "/torch/autograd/", "/torch/optim/", "/torch/utils/", "/torch/_", "/torch/cuda/",
        "/torch/csrc/", "/aten/src/"})
    if (HasText(file, part)) return true;
  return false;
}

// Reads "0->1" and "1<-0": the sender and the receiver.
bool ReadPeers(std::string_view text, int32_t* from, int32_t* to) {
  const size_t there = text.find("->"), back = text.find("<-");
  const size_t at = std::min(there, back);
  if (at == std::string_view::npos) return false;
  int32_t left = -1, right = -1;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), text.data() + at, left).ptr != text.data() + at) return false;
  if (std::from_chars(text.data() + at + 2, end, right).ptr != end) return false;
  *from = there == at ? left : right;
  *to = there == at ? right : left;
  return *from >= 0 && *to >= 0;
}

// Reads the numbers of a text: "[0, 1, 2]".
void ReadNumbers(std::string_view text, std::vector<int32_t>* numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && numbers->size() < kMostGroupRanks) {
    int32_t number = 0;
    const std::from_chars_result read = std::from_chars(at, end, number);
    if (read.ec != std::errc()) {
      ++at;
      continue;
    }
    if (number >= 0) numbers->push_back(number);
    at = read.ptr;
  }
}

template <typename Value>
class DumpReader {
 public:
  DumpReader(const std::string& name, const std::function<Error(uint64_t)>& check, FlightDump* out)
      : name_(name), check_(check), out_(*out) {
    out_.texts = {""};
    numbers_[""] = 0;
  }

  Error Read(const Value& root) {
    // The oldest dumps are the list of entries alone.
    const Value entries = root.IsMap() ? root.Find("entries") : root;
    if (!entries.IsList() && root.Find("pg_config").IsNull())
      return Unreadable(
          name_ +
          " is not a dump of PyTorch's flight recorder: it has no list 'entries'. Name "
          "a file that TORCH_FR_DUMP_TEMP_FILE has named, or a folder of these.");
    ReadHead(root);
    if (Error error = ReadEntries(entries)) return error;
    ReadStatus(root.Find("pg_status"));
    FindRanksOfUnnamed();
    return {};
  }

 private:
  static int64_t IntOf(const Value& map, std::string_view key, int64_t otherwise = kNotInDump) {
    int64_t number = 0;
    return map.Find(key).Int(&number) ? number : otherwise;
  }

  uint32_t TextNumber(std::string_view text) {
    const auto known = numbers_.find(std::string(text));
    if (known != numbers_.end()) return known->second;
    const auto number = static_cast<uint32_t>(out_.texts.size());
    out_.texts.push_back(Utf8Of(text));
    held_ += 2 * text.size() + 160;
    numbers_.emplace(text, number);
    return number;
  }

  static std::string VersionText(const Value& value) {
    int64_t number = 0;
    if (value.Int(&number)) return std::to_string(number);
    return Utf8Of(value.Text().substr(0, 100));
  }

  void ReadHead(const Value& root) {
    out_.version = VersionText(root.Find("version"));
    for (const char* key : {"comm_lib_version", "nccl_version"})
      if (out_.library_version.empty()) out_.library_version = VersionText(root.Find(key));
    const int64_t rank = IntOf(root, "rank", -1);
    out_.rank = rank >= 0 && rank < INT32_MAX ? static_cast<int32_t>(rank) : -1;
    const int64_t size = IntOf(root, "world_size", 0);
    out_.world_size = size > 0 && size < INT32_MAX ? static_cast<int32_t>(size) : 0;
    const Value config = root.Find("pg_config");
    config.ForEachMember(kMostGroups, [this](const std::string& key, const Value& value) {
      FlightGroup group;
      group.name = Utf8Of(key);
      group.description = Utf8Of(value.Find("desc").Text());
      const Value ranks = value.Find("ranks");
      ReadNumbers(ranks.Text(), &group.ranks);
      for (size_t r = 0; ranks.IsList() && r < std::min(ranks.size(), kMostGroupRanks); ++r) {
        int64_t number = -1;
        if (ranks.At(r).Int(&number) && number >= 0 && number < INT32_MAX)
          group.ranks.push_back(static_cast<int32_t>(number));
      }
      held_ += sizeof group + group.ranks.size() * 4;
      groups_[group.name] = static_cast<uint32_t>(out_.groups.size());
      out_.groups.push_back(std::move(group));
    });
    config_groups_ = out_.groups.size();
  }

  Error ReadEntries(const Value& entries) {
    const size_t count = entries.IsList() ? entries.size() : 0;
    if (count > kMostEntries)
      return Unreadable(name_ + " has " + std::to_string(count) +
                        " entries, and at most 4,000,000 are read. Record with a smaller "
                        "TORCH_FR_BUFFER_SIZE.");
    for (size_t i = 0; i < count; ++i) {
      if (!ReadEntry(entries.At(i))) ++out_.unread_entries;
      if (i % kCheckedEntries != 0 || !check_) continue;
      if (Error error = check_(held_ + out_.entries.capacity() * sizeof(FlightEntry))) return error;
    }
    std::stable_sort(
        out_.entries.begin(), out_.entries.end(),
        [](const FlightEntry& x, const FlightEntry& y) { return x.record < y.record; });
    MarkBatches();
    return {};
  }

  bool ReadEntry(const Value& value) {
    const std::string_view whole = value.Find("profiling_name").Text().substr(0, 200);
    if (!value.IsMap() || whole.empty()) return false;
    FlightEntry entry;
    // "nccl:send 0->1"
    std::string_view name =
        whole.substr(whole.find(':') == std::string_view::npos ? 0 : whole.find(':') + 1);
    const size_t space = name.find(' ');
    if (space != std::string_view::npos &&
        ReadPeers(name.substr(space + 1), &entry.from, &entry.to))
      name = name.substr(0, space);
    entry.operation = TextNumber(name);
    int64_t flag = 0;
    entry.is_message = entry.from >= 0 || name == "send" || name == "recv" ||
                       (value.Find("is_p2p").Int(&flag) && flag != 0);
    flag = 0;
    entry.is_retired = value.Find("retired").Int(&flag) && flag != 0;
    const std::string_view state = value.Find("state").Text();
    entry.state = state == "scheduled"   ? FlightState::kScheduled
                  : state == "started"   ? FlightState::kStarted
                  : state == "completed" ? FlightState::kCompleted
                                         : FlightState::kUnknown;
    entry.sequence = IntOf(value, entry.is_message ? "p2p_seq_id" : "collective_seq_id");
    if (entry.sequence == kNotInDump) entry.sequence = IntOf(value, "seq_id");
    entry.order = IntOf(value, "op_id", 0);
    entry.record = IntOf(value, "record_id");
    entry.created_ns = IntOf(value, "time_created_ns");
    const int64_t micros = IntOf(value, "time_created_us");
    if (entry.created_ns == kNotInDump && micros != kNotInDump && micros < INT64_MAX / 1000)
      entry.created_ns = std::max<int64_t>(micros, 0) * 1000;
    entry.started_ns = IntOf(value, "time_discovered_started_ns");
    entry.completed_ns = IntOf(value, "time_discovered_completed_ns");
    entry.timeout_ms = IntOf(value, "timeout_ms");
    entry.input_sizes = TextNumber(SizesText(value.Find("input_sizes")));
    entry.output_sizes = TextNumber(SizesText(value.Find("output_sizes")));
    entry.input_types = TextNumber(TypesText(value.Find("input_dtypes")));
    entry.output_types = TextNumber(TypesText(value.Find("output_dtypes")));
    ReadFrames(value.Find("frames"), &entry);
    entry.group = GroupOf(value);
    out_.entries.push_back(entry);
    return true;
  }

  // "[[4, 1024], [8]]"
  static std::string SizesText(const Value& sizes) {
    std::string text;
    for (size_t i = 0; sizes.IsList() && i < sizes.size(); ++i) {
      if (i == kMostTensors) {
        text += ", and " + std::to_string(sizes.size() - i) + " more";
        break;
      }
      const Value tensor = sizes.At(i);
      text += i == 0 ? "[" : ", [";
      for (size_t d = 0; d < std::min(tensor.IsList() ? tensor.size() : 0, kMostDimensions); ++d) {
        int64_t size = 0;
        tensor.At(d).Int(&size);
        text += (d == 0 ? "" : ", ") + std::to_string(size);
      }
      text += "]";
    }
    return text.empty() ? "" : "[" + text + "]";
  }

  // Each type once, in order.
  static std::string TypesText(const Value& types) {
    std::vector<std::string> each;
    for (size_t i = 0; types.IsList() && i < std::min(types.size(), kMostTensors); ++i) {
      std::string type = Utf8Of(types.At(i).Text().substr(0, 60));
      if (std::find(each.begin(), each.end(), type) == each.end()) each.push_back(std::move(type));
    }
    std::sort(each.begin(), each.end());
    std::string text;
    for (const std::string& type : each) text += (text.empty() ? "" : ", ") + type;
    return text;
  }

  void ReadFrames(const Value& frames, FlightEntry* entry) {
    Value chosen;
    for (size_t i = 0; frames.IsList() && i < std::min(frames.size(), kMostFrames); ++i) {
      const Value frame = frames.At(i);
      if (chosen.IsNull()) chosen = frame;
      if (IsLibraryFile(frame.Find("filename").Text().substr(0, 2'000))) continue;
      chosen = frame;
      break;
    }
    if (!chosen.IsMap()) return;
    const int64_t line = IntOf(chosen, "line", 0);
    entry->function = TextNumber(chosen.Find("name").Text().substr(0, 500));
    entry->place = TextNumber(std::string(chosen.Find("filename").Text().substr(0, 2'000)) + ":" +
                              std::to_string(line));
  }

  uint32_t GroupOf(const Value& value) {
    const Value pair = value.Find("process_group");
    const int64_t id = IntOf(value, "pg_id");
    std::string name(pair.At(0).Text().substr(0, kMostNameBytes));
    const std::string description(pair.At(1).Text().substr(0, kMostNameBytes));
    if (!pair.IsList() || pair.size() == 0) name = id == kNotInDump ? "0" : std::to_string(id);
    auto known = groups_.find(name);
    if (known == groups_.end()) {
      FlightGroup group;
      group.name = Utf8Of(name);
      group.description = Utf8Of(description);
      held_ += sizeof group;
      known = groups_.emplace(name, static_cast<uint32_t>(out_.groups.size())).first;
      out_.groups.push_back(std::move(group));
    } else if (out_.groups[known->second].description.empty()) {
      out_.groups[known->second].description = Utf8Of(description);
    }
    if (id != kNotInDump) group_of_id_.emplace(std::to_string(id), known->second);
    has_entries_.emplace(known->second);
    return known->second;
  }

  // A batch ends with an entry of its own, which is a message if the batch is one of messages.
  void MarkBatches() {
    std::map<uint32_t, size_t> last;  // by group
    for (size_t i = 0; i < out_.entries.size(); ++i) {
      FlightEntry& entry = out_.entries[i];
      const auto before = last.find(entry.group);
      if (out_.text(entry.operation) == "coalesced" && before != last.end() &&
          out_.entries[before->second].from >= 0)
        entry.is_message = true;
      last[entry.group] = i;
    }
  }

  // The status is by the number that the process has given the group, and entries have both.
  void ReadStatus(const Value& status) {
    status.ForEachMember(kMostGroups, [this](const std::string& id, const Value& of) {
      auto found = group_of_id_.find(id);
      if (found == group_of_id_.end()) {
        found = groups_.find(id);
        if (found == groups_.end() || has_entries_.contains(found->second)) return;
      }
      FlightGroup& group = out_.groups[found->second];
      group.last_enqueued = IntOf(of, "last_enqueued_collective");
      group.last_started = IntOf(of, "last_started_collective");
      group.last_completed = IntOf(of, "last_completed_collective");
    });
  }

  // Gloo writes the configuration of its group under another name than its entries have. If there
  // is one of each, they are the same.
  void FindRanksOfUnnamed() {
    uint32_t unused = 0, unknown = 0;
    size_t unused_count = 0, unknown_count = 0;
    for (uint32_t i = 0; i < out_.groups.size(); ++i) {
      if (i < config_groups_ && !has_entries_.contains(i)) {
        unused = i;
        ++unused_count;
      }
      if (i >= config_groups_) {
        unknown = i;
        ++unknown_count;
      }
    }
    if (unused_count != 1 || unknown_count != 1 || !out_.groups[unused].name.empty()) return;
    out_.groups[unknown].ranks = std::move(out_.groups[unused].ranks);
    out_.groups[unused].ranks.clear();
  }

  const std::string& name_;
  const std::function<Error(uint64_t)>& check_;
  FlightDump& out_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::map<std::string, uint32_t> groups_, group_of_id_;
  std::set<uint32_t> has_entries_;
  size_t config_groups_ = 0;
  uint64_t held_ = 0;
};

Error ReadJsonDump(ByteSource* source, std::string bytes, const std::string& name,
                   const std::function<Error(uint64_t)>& check, FlightDump* out) {
  constexpr size_t kPiece = 1 << 20;
  constexpr uint64_t kBytesOfValue = 24;  // of the tree, for each byte of text
  const auto piece = std::make_unique<char[]>(kPiece);
  for (;;) {
    const Result<size_t> got = source->Read(piece.get(), kPiece);
    if (!got.ok()) return got.error();
    if (*got == 0) break;
    bytes.append(piece.get(), *got);
    if (bytes.size() > kMostJsonBytes)
      return Unreadable(name +
                        " is larger than 512 MiB, and dumps in JSON are read up to this "
                        "size. Write the dump as a pickle.");
    if (Error error = check ? check(bytes.size() * kBytesOfValue) : Error()) return error;
  }
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Unreadable(name + " is cut or damaged: its text is not JSON. Write the dump again.");
  return DumpReader<JsonDumpValue>(name, check, out).Read(JsonDumpValue(&json));
}

// Gives bytes that were looked at already, and then those behind them.
class PutBackSource : public ByteSource {
 public:
  PutBackSource(std::string_view first, ByteSource* rest) : first_(first), rest_(rest) {}
  Result<size_t> Read(char* to, size_t most) override {
    if (first_.empty()) return rest_->Read(to, most);
    const size_t bytes = std::min(most, first_.size());
    std::copy_n(first_.data(), bytes, to);
    first_.remove_prefix(bytes);
    return bytes;
  }

 private:
  std::string_view first_;
  ByteSource* rest_;
};

}  // namespace

bool BeginsAsFlightPickle(std::string_view beginning) { return HasFlightKey(beginning); }

bool BeginsAsFlightJson(std::string_view beginning) {
  const size_t at = beginning.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || (beginning[at] != '{' && beginning[at] != '[')) return false;
  // Traces of torch.profiler name the groups of ranks, too.
  for (const std::string_view key :
       {"schemaVersion", "traceEvents", "distributedInfo", "deviceProperties"})
    if (HasText(beginning, key)) return false;
  return HasFlightKey(beginning);
}

Error ReadFlightDump(ByteSource* source, const std::string& name,
                     const std::function<Error(uint64_t held_bytes)>& check, FlightDump* out) {
  char first = 0;
  const Result<size_t> got = source->Read(&first, 1);
  if (!got.ok()) return got.error();
  if (*got != 0 && (first == '{' || first == '[' || first == ' ' || first == '\n'))
    return ReadJsonDump(source, std::string(1, first), name, check, out);
  PutBackSource whole(std::string_view(&first, *got), source);
  PickleReader reader(&whole, name, nullptr, check);
  const Result<PickleValue> root = reader.Read();
  if (!root.ok()) return root.error();
  return DumpReader<PickleDumpValue>(name, check, out).Read(PickleDumpValue(&reader, *root));
}

}  // namespace gpuprof::analysis::import
