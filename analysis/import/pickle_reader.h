// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads pickles of plain data, protocols 0 to 5: numbers, texts, bytes, None, lists, tuples, sets
// and dicts. It runs nothing: a pickle that asks for a class or a function is refused. A value is
// 8 bytes. What is shared in the pickle is shared here, and nothing is expanded. A taker gets each
// dict when it is complete, so that millions of small dicts need not stay. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/base/text_map.h"
#include "analysis/import/byte_source.h"

namespace gpuprof::analysis::import {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kLargeInt,  // of 61 to 64 bits: read by PickleReader::Int
  kReal,      // also a whole number beyond 64 bits
  kText,
  kBytes,  // their number alone is kept
  kList,
  kTuple,
  kSet,
  kDict,
  kTaken,  // what a taker made of a dict or a list
  kMark,   // inside of the reader
};

class PickleValue {
 public:
  PickleValue() = default;
  PickleValue(PickleKind kind, uint64_t payload)
      : bits_(static_cast<uint64_t>(kind) << kBits | (payload & kMost)) {}

  PickleKind kind() const { return static_cast<PickleKind>(bits_ >> kBits); }
  uint64_t payload() const { return bits_ & kMost; }
  static PickleValue FromBits(uint64_t bits) {
    PickleValue value;
    value.bits_ = bits;
    return value;
  }
  uint64_t bits() const { return bits_; }
  bool IsNode() const { return kind() >= PickleKind::kList && kind() <= PickleKind::kDict; }

  static constexpr int kBits = 60;
  static constexpr uint64_t kMost = (uint64_t{1} << kBits) - 1;

 private:
  uint64_t bits_ = 0;
};

class PickleReader;

class PickleTaker {
 public:
  virtual ~PickleTaker() = default;
  // Takes a dict of `pairs` keys and values in turn. Returns whether it did: then `as` stands for
  // the dict, of the kind kTaken.
  virtual bool Take(PickleReader& reader, const PickleValue* items, size_t pairs,
                    PickleValue* as) = 0;
  virtual uint64_t held_bytes() const { return 0; }
};

class PickleReader {
 public:
  static constexpr size_t kMostText = 16 << 20;  // bytes of one text
  static constexpr size_t kMostStack = 1 << 22;  // values that wait for their container
  static constexpr size_t kMostMarks = 10'000;   // containers in each other

  // Reads from `source`. It and `taker`, which may be null, outlive this object. `name` is for
  // errors. `check` may be null: it is asked now and then whether the held memory is too much.
  PickleReader(ByteSource* source, std::string name, PickleTaker* taker,
               std::function<Error(uint64_t held_bytes)> check = nullptr);
  ~PickleReader();
  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;

  // Reads one pickle. Bytes behind it are not read.
  Result<PickleValue> Read();

  // Returns what stands for the value: the same, unless it was taken.
  PickleValue Resolve(PickleValue value) const;
  // Returns the items of a list, a tuple, a set or a dict (keys and values in turn). None: it was
  // taken, or has no items.
  const PickleValue* Items(PickleValue value, size_t* count) const;
  // Forgets the items of a container, for which `as` stands from now on.
  void Replace(PickleValue container, PickleValue as);

  // Returns the text of a kText, "" of others.
  std::string_view Text(PickleValue value) const;
  // Returns the number of a kBool, kInt, kLargeInt or kReal. False: it is something else, or does
  // not fit.
  bool Int(PickleValue value, int64_t* number) const;
  double Real(PickleValue value) const;
  // Counts the distinct texts: kText has a number below as its payload.
  size_t texts() const { return texts_.size(); }
  uint64_t offset() const { return base_ + (at_ - buffer_.get()); }
  uint64_t held_bytes() const;

 private:
  struct Node {
    union {
      PickleValue* items;
      uint64_t taken;  // the bits of what stands for it
    };
    uint32_t size;
    uint32_t capacity;  // kTakenNode: it was taken
  };
  static constexpr uint32_t kTakenNode = UINT32_MAX;

  Error Refuse(const std::string& what) const;
  // Sees to it that so many bytes are there. False: the file ends before, or fails.
  bool Need(size_t bytes) { return static_cast<size_t>(end_ - at_) >= bytes || Fill(bytes); }
  bool Fill(size_t bytes);
  bool Line(std::string_view* line);
  uint64_t Number(size_t bytes);  // little-endian; they are there

  bool Step(uint8_t code, bool* has_ended);
  bool StepOfLine(uint8_t code);
  bool Forbidden(uint8_t code);
  bool Fail(const std::string& what);
  bool Push(PickleValue value);
  bool PushInt(int64_t number);
  bool PushLong(size_t bytes);
  bool PushReal(double real);
  bool PushText(size_t bytes);
  bool AddText(std::string_view text);
  bool PushBytes(uint64_t bytes);
  bool PushNode(PickleKind kind);
  bool PopToMark(size_t* first);
  bool Memoize(uint64_t index);
  bool Recall(uint64_t index);
  bool AppendFrom(size_t first, PickleKind kind);
  bool SetFrom(size_t first);
  bool TupleOf(size_t first);
  bool Append(Node* node, const PickleValue* items, size_t count);

  ByteSource* source_;
  std::string name_;
  PickleTaker* taker_;
  std::function<Error(uint64_t)> check_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_;
  const char *at_, *end_;
  uint64_t base_ = 0;  // of the buffer's begin, in the file
  bool has_ended_ = false;
  Error error_;

  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::vector<PickleValue> memo_;
  std::vector<Node> nodes_;
  std::vector<int64_t> large_;
  std::vector<double> reals_;
  TextMap text_numbers_;
  std::vector<const std::string*> texts_;
  uint64_t text_bytes_ = 0, item_bytes_ = 0;
};

}  // namespace gpuprof::analysis::import
