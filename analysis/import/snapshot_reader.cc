// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See snapshot_reader.h.

#include "analysis/import/snapshot_reader.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/utf8.h"
#include "analysis/import/pickle_reader.h"

namespace gpuprof::analysis::import {
namespace {

enum class Key : uint8_t {
  kUnknown,
  kAction,
  kAddr,
  kSize,
  kStream,
  kTime,
  kFrames,
  kDeviceFree,
  kFile,
  kFunction,  // also of a mark
  kLine,
  kState,
  kAddress,
  kRequested,
  kTotalSize,
  kBlocks,
  kPool,
  kExpandable,
  kDevice,
  kStage,
  kSegments,
  kTraces,
  kMarks,
};
constexpr size_t kKeys = static_cast<size_t>(Key::kMarks) + 1;
constexpr std::string_view kKeyNames[kKeys] = {"",
                                               "action",
                                               "addr",
                                               "size",
                                               "stream",
                                               "time_us",
                                               "frames",
                                               "device_free",
                                               "filename",
                                               "name",
                                               "line",
                                               "state",
                                               "address",
                                               "requested_size",
                                               "total_size",
                                               "blocks",
                                               "segment_pool_id",
                                               "is_expandable",
                                               "device",
                                               "stage",
                                               "segments",
                                               "device_traces",
                                               "external_annotations"};
constexpr std::string_view kActionNames[] = {"",
                                             "alloc",
                                             "free_requested",
                                             "free_completed",
                                             "segment_alloc",
                                             "segment_free",
                                             "segment_map",
                                             "segment_unmap",
                                             "snapshot",
                                             "oom"};

// What an entry became: the payload of a kTaken is its place in a list, and its type below.
enum class Entry : uint8_t { kEvent, kFrame, kStack, kBlock, kSegment, kMark };
constexpr int kEntryBits = 3;
constexpr size_t kMostDepth = 1 << 16;  // frames of a stack
constexpr size_t kMostDevices = 1024;

class Fields {
 public:
  PickleValue& operator[](Key key) { return values_[static_cast<size_t>(key)]; }
  bool has(Key key) const { return (seen_ >> static_cast<int>(key) & 1) != 0; }
  void Set(Key key, PickleValue value) {
    values_[static_cast<size_t>(key)] = value;
    seen_ |= uint32_t{1} << static_cast<int>(key);
  }

 private:
  std::array<PickleValue, kKeys> values_;
  uint32_t seen_ = 0;
};

class SnapshotTaker : public PickleTaker {
 public:
  explicit SnapshotTaker(MemorySnapshot* out) : out_(*out) {}

  bool Take(PickleReader& reader, const PickleValue* items, size_t pairs,
            PickleValue* as) override {
    constexpr size_t kMostPairs = 64;
    if (pairs > kMostPairs) return false;
    Fields fields;
    Read(reader, items, pairs, &fields);
    if (fields.has(Key::kAction)) {
      *as = Taken(Entry::kEvent, out_.events.rows());
      TakeEvent(reader, &fields);
    } else if (fields.has(Key::kFile) && fields.has(Key::kLine)) {
      *as = Taken(Entry::kFrame, TakeFrame(reader, &fields));
    } else if (fields.has(Key::kState) && fields.has(Key::kSize)) {
      *as = Taken(Entry::kBlock, out_.blocks.size());
      TakeBlock(reader, &fields);
    } else if (fields.has(Key::kTotalSize) && fields.has(Key::kBlocks)) {
      *as = Taken(Entry::kSegment, out_.segments.size());
      TakeSegment(reader, &fields);
    } else if (fields.has(Key::kStage) && fields.has(Key::kTime)) {
      *as = Taken(Entry::kMark, out_.marks.size());
      TakeMark(reader, &fields);
    } else {
      return false;
    }
    return true;
  }

  uint64_t held_bytes() const override {
    constexpr uint64_t kEventBytes = 36, kTableBytes = 64;
    return out_.events.rows() * kEventBytes + out_.stack_frames.capacity() * 4 +
           out_.stack_ends.size() * (8 + kTableBytes) + out_.frames.size() * (12 + kTableBytes) +
           out_.segments.capacity() * sizeof(SnapshotSegment) +
           out_.blocks.capacity() * sizeof(SnapshotBlock) +
           out_.marks.capacity() * sizeof(SnapshotMark);
  }

  // Takes the dict of the whole. Returns what is wrong with it; "": nothing.
  std::string Finish(PickleReader& reader, PickleValue whole);

 private:
  static PickleValue Taken(Entry entry, uint64_t place) {
    return {PickleKind::kTaken, place << kEntryBits | static_cast<uint64_t>(entry)};
  }
  static bool Is(PickleValue value, Entry entry, uint64_t* place) {
    *place = value.payload() >> kEntryBits;
    return value.kind() == PickleKind::kTaken &&
           (value.payload() & ((1 << kEntryBits) - 1)) == static_cast<uint64_t>(entry);
  }

  // Reads a dict. Of a dict that a pickle fills key by key, nothing was taken before.
  void Read(PickleReader& reader, const PickleValue* items, size_t pairs, Fields* fields) {
    for (size_t i = 0; i < pairs; ++i) {
      const Key key = KeyOf(reader, items[2 * i]);
      if (key != Key::kUnknown) fields->Set(key, items[2 * i + 1]);
    }
  }
  Key KeyOf(const PickleReader& reader, PickleValue value) {
    if (value.kind() != PickleKind::kText) return Key::kUnknown;
    while (keys_.size() <= value.payload()) {
      const std::string_view text = reader.Text({PickleKind::kText, keys_.size()});
      const auto* const found = std::find(std::begin(kKeyNames), std::end(kKeyNames), text);
      const bool is_key = found != std::end(kKeyNames) && !text.empty();
      keys_.push_back(is_key ? static_cast<Key>(found - kKeyNames) : Key::kUnknown);
    }
    return keys_[value.payload()];
  }
  static uint64_t Number(const PickleReader& reader, PickleValue value) {
    int64_t number = 0;
    return reader.Int(value, &number) ? static_cast<uint64_t>(number) : 0;
  }
  // Sizes beyond any memory would overflow sums.
  static uint64_t Size(const PickleReader& reader, PickleValue value) {
    constexpr uint64_t kMost = uint64_t{1} << 48;
    return std::min(Number(reader, value), kMost);
  }
  static int64_t Time(const PickleReader& reader, PickleValue value) {
    constexpr int64_t kMost = INT64_MAX / 1000;
    int64_t us = 0;
    return reader.Int(value, &us) ? std::clamp<int64_t>(us, 0, kMost) * 1000 : 0;
  }
  // Returns the number of a text of the snapshot.
  uint32_t TextOf(const PickleReader& reader, PickleValue value) {
    if (value.kind() != PickleKind::kText) return 0;
    if (texts_.size() <= value.payload()) texts_.resize(reader.texts(), 0);
    uint32_t& number = texts_[value.payload()];
    if (number == 0) {
      number = static_cast<uint32_t>(out_.texts.size());
      out_.texts.push_back(Utf8Of(reader.Text(value)));
    }
    return number;
  }

  void TakeEvent(PickleReader& reader, Fields* fields);
  uint64_t TakeFrame(PickleReader& reader, Fields* fields);
  void TakeBlock(PickleReader& reader, Fields* fields);
  void TakeSegment(PickleReader& reader, Fields* fields);
  void TakeMark(PickleReader& reader, Fields* fields);
  uint32_t StackOf(PickleReader& reader, PickleValue value);
  uint32_t NumberOfStack(const std::vector<uint32_t>& frames);
  // Returns the entry at a place of a list. A dict that was not taken before is taken now.
  PickleValue EntryAt(PickleReader& reader, const PickleValue* items, size_t place);
  std::string FinishDevices(PickleReader& reader, PickleValue traces);

  MemorySnapshot& out_;
  std::vector<Key> keys_;        // by text of the reader
  std::vector<uint32_t> texts_;  // likewise: of the snapshot
  std::unordered_multimap<uint64_t, uint32_t> stacks_, frames_;
  std::vector<uint32_t> scratch_;
  uint64_t next_block_ = 0;
  uint64_t shared_blocks_ = 0;
};

uint64_t Mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

PickleValue SnapshotTaker::EntryAt(PickleReader& reader, const PickleValue* items, size_t place) {
  const PickleValue value = reader.Resolve(items[place]);
  if (value.kind() != PickleKind::kDict) return value;
  size_t count = 0;
  const PickleValue* const pairs = reader.Items(value, &count);
  PickleValue as;
  if (!Take(reader, pairs, count / 2, &as)) return value;
  reader.Replace(value, as);
  return as;
}

uint32_t SnapshotTaker::NumberOfStack(const std::vector<uint32_t>& frames) {
  if (frames.empty()) return 0;
  uint64_t hash = frames.size();
  for (const uint32_t frame : frames) hash = Mixed(hash, frame);
  const auto [first, last] = stacks_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const uint64_t begin = out_.stack_ends[at->second - 1], end = out_.stack_ends[at->second];
    if (std::equal(out_.stack_frames.begin() + static_cast<std::ptrdiff_t>(begin),
                   out_.stack_frames.begin() + static_cast<std::ptrdiff_t>(end), frames.begin(),
                   frames.end()))
      return at->second;
  }
  const uint32_t number = static_cast<uint32_t>(out_.stack_ends.size());
  out_.stack_frames.insert(out_.stack_frames.end(), frames.begin(), frames.end());
  out_.stack_ends.push_back(out_.stack_frames.size());
  stacks_.emplace(hash, number);
  return number;
}

uint32_t SnapshotTaker::StackOf(PickleReader& reader, PickleValue value) {
  uint64_t place = 0;
  value = reader.Resolve(value);
  if (Is(value, Entry::kStack, &place)) return static_cast<uint32_t>(place);
  size_t count = 0;
  const PickleValue* const items = reader.Items(value, &count);
  if (count == 0) return 0;
  scratch_.clear();
  for (size_t i = 0; i < std::min(count, kMostDepth); ++i)
    if (Is(EntryAt(reader, items, i), Entry::kFrame, &place))
      scratch_.push_back(static_cast<uint32_t>(place));
  const uint32_t number = NumberOfStack(scratch_);
  // Events of one place often share their list.
  reader.Replace(value, Taken(Entry::kStack, number));
  return number;
}

void SnapshotTaker::TakeEvent(PickleReader& reader, Fields* fields) {
  const std::string_view word = reader.Text((*fields)[Key::kAction]);
  const auto* const found = std::find(std::begin(kActionNames) + 1, std::end(kActionNames), word);
  const SnapshotAction action = found == std::end(kActionNames)
                                    ? SnapshotAction::kOther
                                    : static_cast<SnapshotAction>(found - kActionNames);
  SnapshotEvents& events = out_.events;
  const int64_t time_ns = Time(reader, (*fields)[Key::kTime]);
  if (events.rows() == 0) out_.first_ns = time_ns;
  events.time_ns.push_back(time_ns - out_.first_ns);
  events.action.push_back(static_cast<uint32_t>(action));
  events.address.push_back(Number(reader, (*fields)[Key::kAddr]));
  events.size.push_back(Size(reader, (*fields)[Key::kSize]));
  events.stack.push_back(StackOf(reader, (*fields)[Key::kFrames]));
  if (action == SnapshotAction::kOther) ++out_.unknown_events;
  // Older versions tell it as the address.
  if (action == SnapshotAction::kOutOfMemory)
    out_.device_free.push_back(
        Size(reader, (*fields)[fields->has(Key::kDeviceFree) ? Key::kDeviceFree : Key::kAddr]));
}

uint64_t SnapshotTaker::TakeFrame(PickleReader& reader, Fields* fields) {
  SnapshotFrame frame;
  frame.file = TextOf(reader, (*fields)[Key::kFile]);
  frame.function = TextOf(reader, (*fields)[Key::kFunction]);
  frame.line =
      static_cast<uint32_t>(std::min<uint64_t>(Number(reader, (*fields)[Key::kLine]), UINT32_MAX));
  const uint64_t hash = Mixed(Mixed(frame.file, frame.function), frame.line);
  const auto [first, last] = frames_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const SnapshotFrame& known = out_.frames[at->second];
    if (known.file == frame.file && known.function == frame.function && known.line == frame.line)
      return at->second;
  }
  frames_.emplace(hash, static_cast<uint32_t>(out_.frames.size()));
  out_.frames.push_back(frame);
  return out_.frames.size() - 1;
}

void SnapshotTaker::TakeBlock(PickleReader& reader, Fields* fields) {
  SnapshotBlock block;
  block.address = Number(reader, (*fields)[Key::kAddress]);
  block.size = Size(reader, (*fields)[Key::kSize]);
  block.requested = Size(reader, (*fields)[Key::kRequested]);
  block.stack = StackOf(reader, (*fields)[Key::kFrames]);
  const std::string_view state = reader.Text((*fields)[Key::kState]);
  if (state == "active_allocated") {
    block.state = SnapshotBlockState::kAllocated;
  } else if (state.starts_with("active")) {  // "active_awaiting_free", "active_pending_free"
    block.state = SnapshotBlockState::kAwaitsFree;
  }
  out_.blocks.push_back(block);
}

void SnapshotTaker::TakeSegment(PickleReader& reader, Fields* fields) {
  SnapshotSegment segment;
  segment.address = Number(reader, (*fields)[Key::kAddress]);
  segment.size = Size(reader, (*fields)[Key::kTotalSize]);
  segment.stream = Number(reader, (*fields)[Key::kStream]);
  segment.device = static_cast<uint32_t>(Number(reader, (*fields)[Key::kDevice]));
  segment.is_expandable = Number(reader, (*fields)[Key::kExpandable]) != 0;
  size_t count = 0;
  const PickleValue* items = reader.Items((*fields)[Key::kPool], &count);
  for (size_t i = 0; i < count; ++i) segment.is_private |= Number(reader, items[i]) != 0;
  items = reader.Items((*fields)[Key::kBlocks], &count);
  // Blocks come before their segment, each in one segment.
  for (size_t i = 0; i < count; ++i) {
    uint64_t place = 0;
    if (!Is(EntryAt(reader, items, i), Entry::kBlock, &place)) continue;
    if (place < next_block_) {
      ++shared_blocks_;
      break;
    }
    if (segment.blocks == 0) segment.first_block = place;
    SnapshotBlock& block = out_.blocks[place];
    // Older versions tell no addresses: blocks follow each other.
    if (block.address == 0 && segment.blocks != 0)
      block.address = out_.blocks[place - 1].address + out_.blocks[place - 1].size;
    if (block.address == 0) block.address = segment.address;
    next_block_ = place + 1;
    segment.blocks = next_block_ - segment.first_block;
  }
  out_.segments.push_back(segment);
}

void SnapshotTaker::TakeMark(PickleReader& reader, Fields* fields) {
  SnapshotMark mark;
  mark.time_ns = Time(reader, (*fields)[Key::kTime]);
  mark.name = TextOf(reader, (*fields)[Key::kFunction]);
  mark.device = static_cast<uint32_t>(Number(reader, (*fields)[Key::kDevice]));
  mark.is_begin = reader.Text((*fields)[Key::kStage]) == "START";
  out_.marks.push_back(mark);
}

std::string SnapshotTaker::FinishDevices(PickleReader& reader, PickleValue traces) {
  size_t devices = 0;
  const PickleValue* const lists = reader.Items(traces, &devices);
  if (devices > kMostDevices) return "it has more devices than a machine";
  uint64_t next = 0;
  for (size_t device = 0; device < devices; ++device) {
    size_t count = 0;
    const PickleValue* const items = reader.Items(reader.Resolve(lists[device]), &count);
    for (size_t i = 0; i < count; ++i) {
      uint64_t place = 0;
      if (!Is(EntryAt(reader, items, i), Entry::kEvent, &place)) {
        ++out_.unknown_events;
      } else if (place != next++) {
        return "events stand in several lists";
      }
    }
    out_.device_ends.push_back(next);
  }
  return next == out_.events.rows() ? "" : "events stand in no list of a device";
}

std::string SnapshotTaker::Finish(PickleReader& reader, PickleValue whole) {
  size_t count = 0;
  const PickleValue* items = reader.Items(whole, &count);
  Fields fields;
  if (whole.kind() == PickleKind::kDict) Read(reader, items, count / 2, &fields);
  if (!fields.has(Key::kSegments) && !fields.has(Key::kTraces))
    return "it has no \"segments\" and no \"device_traces\"";
  for (const Key key : {Key::kSegments, Key::kMarks}) {
    items = reader.Items(fields[key], &count);
    for (size_t i = 0; i < count; ++i) EntryAt(reader, items, i);
  }
  if (shared_blocks_ != 0) return "segments share their blocks";
  if (std::string what = FinishDevices(reader, fields[Key::kTraces]); !what.empty()) return what;
  size_t devices = out_.device_ends.size();
  for (const SnapshotSegment& segment : out_.segments)
    devices = std::max<size_t>(devices, std::min<size_t>(segment.device, kMostDevices) + 1);
  out_.device_ends.resize(devices, out_.events.rows());
  for (SnapshotMark& mark : out_.marks) mark.time_ns -= out_.first_ns;
  std::stable_sort(
      out_.marks.begin(), out_.marks.end(),
      [](const SnapshotMark& a, const SnapshotMark& b) { return a.time_ns < b.time_ns; });
  return "";
}

}  // namespace

Error ReadSnapshot(ByteSource* source, const std::string& name,
                   const std::function<Error(uint64_t held_bytes)>& check, MemorySnapshot* out) {
  out->texts = {""};
  SnapshotTaker taker(out);
  PickleReader reader(source, name, &taker, check);
  const Result<PickleValue> whole = reader.Read();
  if (!whole.ok()) return whole.error();
  out->bytes = reader.offset();
  const std::string what = taker.Finish(reader, *whole);
  if (what.empty()) return {};
  return Unreadable(name + ": this pickle is not a snapshot of PyTorch's memory: " + what +
                    "; name a file of torch.cuda.memory._dump_snapshot");
}

}  // namespace gpuprof::analysis::import
