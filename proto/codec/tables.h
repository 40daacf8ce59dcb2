// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Serializes the table chunks (Strings, Stacks, Modules, Clocks, Threads, Meta, Health) without
// libprotobuf, and the bounded interning tables behind the first two. Used by the drain thread and
// by recovery, one thread at a time. A unit test parses every output with libprotobuf.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/record_sorter.h"

namespace gpuprof::codec {

// Field numbers of proto/trace.proto that the codec itself writes or reads.
namespace chunk_field {
enum : int {
  kTraceChunk = 1,  // of Trace; the others are of Chunk
  kKind = 1,
  kTrack = 2,
  kBaseTime = 3,
  kCount = 4,
  kTimeShift = 5,
  kDroppedBefore = 6,
  kCapture = 7,
  kStrings = 8,
  kStacks = 9,
  kModules = 10,
  kClocks = 11,
  kThreads = 12,
  kMeta = 13,
  kHealth = 14,
  kTick = 24,
  kSignatures = 25,
  kStreams = 26,
  kDevices = 27,
  kFunctions = 28,
  kGraphNodes = 29,
  kCounters = 30,
  kSampledOneIn = 31,
  kTickFraction = 32,
  kGapsPredicted = 34,
  kRoundingErrors = 35,
  kHloModules = 36,
  kWorkSums = 37,
};
}

// Field numbers of a message WorkSums, and of its groups.
namespace work_sums_field {
enum : int {
  kGroup = 1,
  kKind = 1,
  kTrack = 2,
  kSampledOneIn = 3,
  kLacksBytes = 4,
  kBlocksBack = 5,
  kBusy = 6,
  kKey = 7,
  kRows = 8,
  kTotal = 9,
  kLeast = 10,
  kMost = 11,
  kBytes = 12,
};
}

// Field numbers of a message Index.
namespace index_field {
enum : int {
  kSkipped = 1,
  kCompressedBytes = 2,
  kRawBytes = 3,
  kKind = 4,
  kCapture = 5,
  kTrack = 6,
  kCount = 7,
  kSequence = 8,
  kFirstTime = 9,
  kLastTime = 10,
  kDroppedBefore = 11,
};
}

// Appends protobuf fields to a byte vector. Zeros are written too: they matter in repeated fields.
class PbWriter {
 public:
  explicit PbWriter(std::vector<uint8_t>* out) : out_(out) {}
  void Varint(int field,
              uint64_t value);  // uint32, uint64, int32 (sign-extended by the caller), bool, enum
  void Signed(int field, int64_t value);  // sint64
  void Fixed64(int field, uint64_t value);
  void Bytes(int field, const void* data, uint64_t bytes);
  // A nested message, or a packed field of Raw* values: Begin returns a mark for End.
  uint64_t Begin(int field);
  void End(uint64_t mark);
  // One value of a packed field.
  void RawVarint(uint64_t value);

 private:
  void Tag(int field, uint32_t wire_type);

  std::vector<uint8_t>* out_;
};

// Bounded tables of strings and of call stacks as a parent-pointer tree. New entries wait until
// Take* writes them out.
class InternTables final : public Interner {
 public:
  // Limits are entries; beyond them InternStack and InternText return 1 and count.
  InternTables(uint32_t most_stack_nodes, uint32_t most_strings, uint64_t most_string_bytes);
  uint32_t InternStack(const uint64_t* frames, uint32_t count) override;
  void DefineString(uint32_t id, const char* text, uint32_t bytes) override;
  uint32_t InternText(const char* text, uint32_t bytes) override;

  // Serializes entries added since the last call; returns how many (0: nothing appended).
  uint32_t TakeStrings(std::vector<uint8_t>* out);
  uint32_t TakeStacks(std::vector<uint8_t>* out);
  // What the last Take* returned could not be written: the next Take* returns it again.
  void ReturnStrings() { taken_strings_ = 0; }
  void ReturnStacks() { first_pending_node_ = last_taken_node_; }

  // Makes the next TakeStacks return all stacks again, for a file that begins.
  void OfferStacksAgain() { first_pending_node_ = last_taken_node_ = first_node_; }

  // Forgets all stacks once they have `many` nodes: they come again under new ids, which readers
  // take for the same. Only when what Take* returned was written. Memory stays bounded so, and no
  // stack is refused, however many different ones a long life brings.
  void ForgetStacksIfMany(uint32_t many);

  // For recovery: continue numbering behind what a file already holds.
  void SetNextStackNode(uint32_t id);
  void SetNextTextId(uint32_t id) { next_text_id_ = id; }

  uint64_t stacks_refused() const { return stacks_refused_; }
  uint64_t strings_refused() const { return strings_refused_; }
  uint64_t memory_bytes() const;

 private:
  struct Node {
    uint64_t pc;
    uint32_t parent;
    uint32_t last_child;  // where the last stack through this node went on; 0: nowhere yet
  };
  // Part of the hash beside the id: the node, which lies elsewhere, is looked at only to confirm
  // it.
  struct IndexSlot {
    uint32_t id = 0;  // 0: empty
    uint32_t check = 0;
  };
  struct PendingString {
    uint32_t id;
    uint32_t bytes;
  };
  // A text by two hashes of it; 96 bits do not collide by chance.
  struct KnownText {
    uint64_t hash;
    uint32_t check;
    uint32_t id;  // 0: empty slot
  };

  // Node of `pc` called from `parent`, made if need be; 0: no room.
  uint32_t Child(uint32_t parent, uint64_t pc);
  uint32_t FindChild(uint32_t parent, uint64_t pc);
  void GrowIndex();
  void GrowTexts();
  bool AddString(uint32_t id, const char* text, uint32_t bytes);
  void DropTakenStrings();

  uint32_t most_nodes_;
  uint32_t most_strings_;
  uint64_t most_string_bytes_;

  std::vector<Node> nodes_;       // node first_node_ + i
  std::vector<IndexSlot> index_;  // open addressing over (parent, pc)
  uint32_t first_node_ = 2;
  uint32_t first_pending_node_ = 2;
  uint32_t last_taken_node_ = 2;
  // The last stack, outermost first, with its nodes: the next one mostly shares its outer frames.
  uint64_t path_pc_[proto::kMaxStackFrames] = {};
  uint32_t path_node_[proto::kMaxStackFrames] = {};
  uint32_t path_frames_ = 0;

  std::vector<PendingString> pending_strings_;
  std::vector<char> pending_text_;
  uint32_t taken_strings_ = 0;  // of the pending ones, how many the last Take returned
  uint32_t strings_ = 0;
  uint64_t string_bytes_ = 0;
  // Texts that come with records get ids from the top, away from those that observers hand out.
  uint32_t next_text_id_ = kFirstTextId;
  std::vector<KnownText> texts_;
  uint32_t known_texts_ = 0;

  uint64_t stacks_refused_ = 0;
  uint64_t strings_refused_ = 0;

 public:
  static constexpr uint32_t kFirstTextId = 0x40000000u;
  static constexpr uint32_t kOverflowId = 1;
};

}  // namespace gpuprof::codec
