// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pickle_reader.h.

#include "analysis/import/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kWindow = 1 << 20;
constexpr int64_t kMostSmall = (int64_t{1} << (PickleValue::kBits - 1)) - 1;
// Other picklers leave out a number now and then.
constexpr uint64_t kMemoSlack = 1 << 12;

void AppendCodePoint(uint32_t point, std::string* text) {
  const auto put = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xe0 | point >> 12);
    } else {
      put(0xf0 | (point >> 18 & 7));
      put(0x80 | (point >> 12 & 0x3f));
    }
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

// Decodes Python's "raw-unicode-escape".
std::string Unescaped(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t digits = line[i] != '\\' || i + 1 == line.size() ? 0
                          : line[i + 1] == 'u'                    ? 4
                          : line[i + 1] == 'U'                    ? 8
                                                                  : 0;
    uint32_t point = static_cast<unsigned char>(line[i]);
    if (digits != 0 && i + 2 + digits <= line.size()) {
      const char* const first = line.data() + i + 2;
      if (std::from_chars(first, first + digits, point, 16).ptr == first + digits) i += 1 + digits;
    }
    AppendCodePoint(point, &text);
  }
  return text;
}

std::string Shown(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 60)) shown += c > ' ' && c < 0x7f ? c : '.';
  return shown;
}

}  // namespace

PickleReader::PickleReader(ByteSource* source, std::string name, PickleTaker* taker,
                           std::function<Error(uint64_t)> check)
    : source_(source),
      name_(std::move(name)),
      taker_(taker),
      check_(std::move(check)),
      buffer_(new char[kWindow]),
      capacity_(kWindow),
      at_(buffer_.get()),
      end_(at_) {}

PickleReader::~PickleReader() {
  for (const Node& node : nodes_)
    if (node.capacity != kTakenNode) std::free(node.items);
}

Error PickleReader::Refuse(const std::string& what) const {
  return Unreadable(name_ + ": byte " + std::to_string(offset()) + " of the pickle " + what);
}

bool PickleReader::Fail(const std::string& what) {
  if (!error_) error_ = Refuse(what);
  return false;
}

bool PickleReader::Fill(size_t bytes) {
  if (error_) return false;
  size_t left = static_cast<size_t>(end_ - at_);
  base_ += static_cast<uint64_t>(at_ - buffer_.get());
  if (bytes > capacity_) {
    capacity_ = bytes + kWindow;
    std::unique_ptr<char[]> larger(new char[capacity_]);
    std::memcpy(larger.get(), at_, left);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), at_, left);
  }
  at_ = buffer_.get();
  while (!has_ended_ && left < capacity_) {
    const Result<size_t> got = source_->Read(buffer_.get() + left, capacity_ - left);
    if (!got.ok()) {
      error_ = got.error();
      break;
    }
    has_ended_ = *got == 0;
    left += *got;
  }
  end_ = at_ + left;
  if (!error_ && check_) error_ = check_(held_bytes());
  return !error_ && left >= bytes;
}

bool PickleReader::Line(std::string_view* line) {
  size_t looked = 0;
  while (true) {
    const size_t left = static_cast<size_t>(end_ - at_);
    const void* const found = std::memchr(at_ + looked, '\n', left - looked);
    if (found != nullptr) {
      *line = {at_, static_cast<size_t>(static_cast<const char*>(found) - at_)};
      at_ += line->size() + 1;
      return true;
    }
    if (left > kMostText) return Fail("begins a line that is too long");
    looked = left;
    if (!Fill(left + 1)) return false;
  }
}

uint64_t PickleReader::Number(size_t bytes) {
  uint64_t number = 0;
  std::memcpy(&number, at_, bytes);
  at_ += bytes;
  return number;
}

bool PickleReader::Push(PickleValue value) {
  if (stack_.size() >= kMostStack) return Fail("stacks more values than a snapshot needs");
  stack_.push_back(value);
  return true;
}

bool PickleReader::PushInt(int64_t number) {
  if (number >= -kMostSmall && number <= kMostSmall)
    return Push({PickleKind::kInt, static_cast<uint64_t>(number)});
  large_.push_back(number);
  return Push({PickleKind::kLargeInt, large_.size() - 1});
}

bool PickleReader::PushReal(double real) {
  reals_.push_back(real);
  return Push({PickleKind::kReal, reals_.size() - 1});
}

bool PickleReader::PushLong(size_t bytes) {
  if (!Need(bytes)) return false;
  const auto byte = [this](size_t i) { return static_cast<unsigned char>(at_[i]); };
  const bool is_negative = bytes != 0 && (byte(bytes - 1) & 0x80) != 0;
  if (bytes <= sizeof(int64_t)) {
    uint64_t number = is_negative && bytes < 8 ? ~uint64_t{0} << (8 * bytes) : 0;
    for (size_t i = 0; i < bytes; ++i) number |= uint64_t{byte(i)} << (8 * i);
    at_ += bytes;
    return PushInt(static_cast<int64_t>(number));
  }
  double real = 0;
  for (size_t i = bytes; i-- > 0;) real = real * 256 + (is_negative ? 255 - byte(i) : byte(i));
  at_ += bytes;
  return PushReal(is_negative ? -real - 1 : real);
}

bool PickleReader::PushText(size_t bytes) {
  if (bytes > kMostText) return Fail("begins a text that is too long");
  if (!Need(bytes)) return false;
  at_ += bytes;
  return AddText({at_ - bytes, bytes});
}

bool PickleReader::AddText(std::string_view text) {
  auto known = text_numbers_.find(text);
  if (known == text_numbers_.end()) {
    known = text_numbers_.emplace(std::string(text), static_cast<uint32_t>(texts_.size())).first;
    texts_.push_back(&known->first);
    text_bytes_ += text.size() + 100;
  }
  return Push({PickleKind::kText, known->second});
}

bool PickleReader::PushBytes(uint64_t bytes) {
  for (uint64_t left = bytes; left != 0;) {
    if (!Need(1)) return false;
    const uint64_t some = std::min<uint64_t>(left, static_cast<uint64_t>(end_ - at_));
    at_ += some;
    left -= some;
  }
  return Push({PickleKind::kBytes, bytes});
}

bool PickleReader::PushNode(PickleKind kind) {
  if (nodes_.size() >= UINT32_MAX) return Fail("begins more containers than are read");
  nodes_.push_back({{nullptr}, 0, 0});
  return Push({kind, nodes_.size() - 1});
}

bool PickleReader::PopToMark(size_t* first) {
  if (marks_.empty()) return Fail("ends a container that did not begin");
  *first = marks_.back();
  marks_.pop_back();
  return *first <= stack_.size() || Fail("has lost its containers");
}

bool PickleReader::Memoize(uint64_t index) {
  if (stack_.empty()) return Fail("keeps a value that does not exist");
  if (index == memo_.size()) {
    memo_.push_back(stack_.back());
    return true;
  }
  if (index > memo_.size()) {
    if (index > memo_.size() + kMemoSlack) return Fail("numbers a value out of order");
    memo_.resize(index + 1, PickleValue(PickleKind::kMark, 0));
  }
  memo_[index] = stack_.back();
  return true;
}

bool PickleReader::Recall(uint64_t index) {
  if (index >= memo_.size() || memo_[index].kind() == PickleKind::kMark)
    return Fail("names a value that does not exist");
  return Push(memo_[index]);
}

bool PickleReader::Append(Node* node, const PickleValue* items, size_t count) {
  if (node->capacity == kTakenNode) return Fail("changes an entry that was complete");
  if (count > uint64_t{UINT32_MAX - 1} - node->size) return Fail("fills a container too much");
  const size_t size = node->size + count;
  if (size > node->capacity) {
    const size_t most = node->capacity == 0 ? size : std::max<size_t>(size, node->size * size_t{2});
    const size_t capacity = std::min<size_t>(most, UINT32_MAX - 1);
    void* const larger = std::realloc(node->items, capacity * sizeof(PickleValue));
    if (larger == nullptr) throw std::bad_alloc();
    item_bytes_ += (capacity - node->capacity) * sizeof(PickleValue);
    node->items = static_cast<PickleValue*>(larger);
    node->capacity = static_cast<uint32_t>(capacity);
  }
  if (count != 0) std::memcpy(node->items + node->size, items, count * sizeof *items);
  node->size = static_cast<uint32_t>(size);
  return true;
}

bool PickleReader::AppendFrom(size_t first, PickleKind kind) {
  if (first == 0 || first > stack_.size() || stack_[first - 1].kind() != kind)
    return Fail("adds to something other than a list");
  Node* const node = &nodes_[stack_[first - 1].payload()];
  const bool is_kept = Append(node, stack_.data() + first, stack_.size() - first);
  stack_.resize(first);
  return is_kept;
}

bool PickleReader::SetFrom(size_t first) {
  if (first == 0 || first > stack_.size() || stack_[first - 1].kind() != PickleKind::kDict)
    return Fail("sets a key of something other than a dict");
  const size_t count = stack_.size() - first;
  if (count % 2 != 0) return Fail("sets a key without a value");
  const PickleValue dict = stack_[first - 1];
  PickleValue as;
  const bool is_new = nodes_[dict.payload()].size == 0;
  bool is_kept = true;
  if (is_new && nodes_[dict.payload()].capacity == 0 && taker_ != nullptr && count > 2 &&
      taker_->Take(*this, stack_.data() + first, count / 2, &as)) {
    Replace(dict, as);
    stack_[first - 1] = as;
  } else {
    is_kept = Append(&nodes_[dict.payload()], stack_.data() + first, count);
  }
  stack_.resize(first);
  return is_kept;
}

bool PickleReader::TupleOf(size_t first) {
  if (first > stack_.size()) return Fail("makes a tuple of values that are not there");
  const size_t place = nodes_.size();
  if (!PushNode(PickleKind::kTuple)) return false;
  const PickleValue tuple = stack_.back();
  stack_.pop_back();
  if (!Append(&nodes_[place], stack_.data() + first, stack_.size() - first)) return false;
  stack_.resize(first);
  return Push(tuple);
}

bool PickleReader::Forbidden(uint8_t code) {
  std::string what = "an object";
  std::string_view module, name;
  if ((code == 'c' || code == 'i') && Line(&module)) {
    const std::string first = Shown(module);
    if (Line(&name)) what = first + "." + Shown(name);
  } else if (code == 0x93 && stack_.size() >= 2) {
    what = Shown(Text(stack_[stack_.size() - 2])) + "." + Shown(Text(stack_.back()));
  }
  error_ = {};
  return Fail("asks for " + what +
              ", and gpuprof runs no code of a pickle; a snapshot of "
              "torch.cuda.memory._dump_snapshot is plain data");
}

// Handles the codes of protocol 0, whose arguments are lines of text.
bool PickleReader::StepOfLine(uint8_t code) {
  std::string_view line;
  if (!Line(&line)) return false;
  const auto whole = [&](int64_t* number) {
    if (code == 'L' && line.ends_with('L')) line.remove_suffix(1);
    const std::from_chars_result read =
        std::from_chars(line.data(), line.data() + line.size(), *number);
    return read.ec == std::errc() && read.ptr == line.data() + line.size();
  };
  int64_t number = 0;
  switch (code) {
    case 'I':
      if (line == "00" || line == "01") return Push({PickleKind::kBool, line == "01" ? 1u : 0u});
      [[fallthrough]];
    case 'L':
      if (whole(&number)) return PushInt(number);
      return PushReal(std::strtod(std::string(line).c_str(), nullptr));
    case 'F':
      return PushReal(std::strtod(std::string(line).c_str(), nullptr));
    case 'g':
      return whole(&number) && number >= 0 ? Recall(static_cast<uint64_t>(number))
                                           : Fail("names a value by no number");
    case 'p':
      return whole(&number) && number >= 0 ? Memoize(static_cast<uint64_t>(number))
                                           : Fail("keeps a value by no number");
    default:  // 'V' and 'S'
      if (code == 'S' && line.size() >= 2) line = line.substr(1, line.size() - 2);
      return AddText(code == 'V' ? Unescaped(line) : std::string(line));
  }
}

bool PickleReader::Step(uint8_t code, bool* has_ended) {
  size_t first = 0;
  switch (code) {
    case 'h':  // BINGET
      return Need(1) && Recall(Number(1));
    case 0x94:  // MEMOIZE
      return Memoize(memo_.size());
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      return Need(1) && PushText(Number(1));
    case 'K':  // BININT1
      return Need(1) && PushInt(static_cast<int64_t>(Number(1)));
    case 'M':  // BININT2
      return Need(2) && PushInt(static_cast<int64_t>(Number(2)));
    case 'J':  // BININT
      return Need(4) && PushInt(static_cast<int32_t>(Number(4)));
    case 0x8a:  // LONG1
      return Need(1) && PushLong(Number(1));
    case 'j':  // LONG_BINGET
      return Need(4) && Recall(Number(4));
    case '(':  // MARK
      if (marks_.size() >= kMostMarks) return Fail("nests containers too deep");
      marks_.push_back(stack_.size());
      return true;
    case '}':
      return PushNode(PickleKind::kDict);
    case ']':
      return PushNode(PickleKind::kList);
    case 'u':  // SETITEMS
      return PopToMark(&first) && SetFrom(first);
    case 'e':  // APPENDS
      return PopToMark(&first) && AppendFrom(first, PickleKind::kList);
    case 'a':  // APPEND
      return stack_.size() < 2 ? Fail("adds a value that does not exist")
                               : AppendFrom(stack_.size() - 1, PickleKind::kList);
    case 's':  // SETITEM
      return stack_.size() < 3 ? Fail("sets a key that does not exist")
                               : SetFrom(stack_.size() - 2);
    case 'N':
      return Push({});
    case 0x88:  // NEWTRUE
    case 0x89:
      return Push({PickleKind::kBool, code == 0x88 ? 1u : 0u});
    case 'G': {  // BINFLOAT, big-endian
      if (!Need(8)) return false;
      return PushReal(std::bit_cast<double>(__builtin_bswap64(Number(8))));
    }
    case ')':
      return TupleOf(stack_.size());
    case 0x85:  // TUPLE1, 2, 3
    case 0x86:
    case 0x87:
      if (stack_.size() < code - 0x84u) return Fail("makes a tuple of values that are not there");
      return TupleOf(stack_.size() - (code - 0x84u));
    case 't':
      return PopToMark(&first) && TupleOf(first);
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      return Need(4) && PushText(Number(4));
    case 0x8d:  // BINUNICODE8
      return Need(8) && PushText(Number(8));
    case 'C':  // SHORT_BINBYTES
      return Need(1) && PushBytes(Number(1));
    case 'B':
      return Need(4) && PushBytes(Number(4));
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      return Need(8) && PushBytes(Number(8));
    case 0x8b: {  // LONG4
      if (!Need(4)) return false;
      const uint64_t bytes = Number(4);
      return bytes > kMostText ? Fail("begins a number that is too long") : PushLong(bytes);
    }
    case 'q':  // BINPUT
      return Need(1) && Memoize(Number(1));
    case 'r':  // LONG_BINPUT
      return Need(4) && Memoize(Number(4));
    case 'l':  // LIST
    case 'd':  // DICT
      if (!PopToMark(&first)) return false;
      if (!PushNode(code == 'l' ? PickleKind::kList : PickleKind::kDict)) return false;
      std::rotate(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end() - 1,
                  stack_.end());
      if (first + 1 == stack_.size()) return true;
      return code == 'l' ? AppendFrom(first + 1, PickleKind::kList) : SetFrom(first + 1);
    case 0x8f:  // EMPTY_SET
      return PushNode(PickleKind::kSet);
    case 0x90:  // ADDITEMS
      return PopToMark(&first) && AppendFrom(first, PickleKind::kSet);
    case 0x91:  // FROZENSET
      if (!PopToMark(&first) || !PushNode(PickleKind::kSet)) return false;
      std::rotate(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end() - 1,
                  stack_.end());
      return AppendFrom(first + 1, PickleKind::kSet);
    case '0':  // POP
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else if (stack_.empty()) {
        return Fail("drops a value that does not exist");
      } else {
        stack_.pop_back();
      }
      return true;
    case '1':  // POP_MARK
      if (!PopToMark(&first)) return false;
      stack_.resize(first);
      return true;
    case '2':  // DUP
      return stack_.empty() ? Fail("doubles a value that does not exist") : Push(stack_.back());
    case 0x80:  // PROTO
      if (!Need(1)) return false;
      return Number(1) <= 5 || Fail("is of a newer protocol than 5");
    case 0x95:  // FRAME
      if (!Need(8)) return false;
      at_ += 8;
      return true;
    case '.':
      *has_ended = true;
      return true;
    case 'I':
    case 'L':
    case 'F':
    case 'V':
    case 'S':
    case 'g':
    case 'p':
      return StepOfLine(code);
    case 'c':   // GLOBAL
    case 'R':   // REDUCE
    case 'b':   // BUILD
    case 'i':   // INST
    case 'o':   // OBJ
    case 'P':   // PERSID
    case 'Q':   // BINPERSID
    case 0x81:  // NEWOBJ
    case 0x82:  // EXT1, 2, 4
    case 0x83:
    case 0x84:
    case 0x92:  // NEWOBJ_EX
    case 0x93:  // STACK_GLOBAL
    case 0x97:  // NEXT_BUFFER
    case 0x98:  // READONLY_BUFFER
      return Forbidden(code);
    default:
      return Fail("has the code " + std::to_string(code) + ", which no pickle has");
  }
}

Result<PickleValue> PickleReader::Read() {
  bool has_ended = false;
  while (!has_ended) {
    // Most codes of a snapshot name a value that was kept.
    while (end_ - at_ > 1 && *at_ == 'h' && stack_.size() < kMostStack) {
      const size_t index = static_cast<unsigned char>(at_[1]);
      if (index >= memo_.size() || memo_[index].kind() == PickleKind::kMark) break;
      stack_.push_back(memo_[index]);
      at_ += 2;
    }
    if (!Need(1)) {
      if (!error_) Fail("is its last, and the pickle has no end: the file was cut");
      return error_;
    }
    const uint8_t code = static_cast<uint8_t>(*at_++);
    if (Step(code, &has_ended)) continue;
    if (!error_) {
      at_ = end_;
      Fail("is its last, within a value: the file was cut");
    }
    return error_;
  }
  if (stack_.size() != 1 || !marks_.empty()) {
    Fail("ends it, and its containers did not end");
    return error_;
  }
  return Resolve(stack_.front());
}

PickleValue PickleReader::Resolve(PickleValue value) const {
  if (!value.IsNode()) return value;
  const Node& node = nodes_[value.payload()];
  return node.capacity == kTakenNode ? PickleValue::FromBits(node.taken) : value;
}

const PickleValue* PickleReader::Items(PickleValue value, size_t* count) const {
  *count = 0;
  if (!value.IsNode()) return nullptr;
  const Node& node = nodes_[value.payload()];
  if (node.capacity == kTakenNode) return nullptr;
  *count = node.size;
  return node.items;
}

void PickleReader::Replace(PickleValue container, PickleValue as) {
  Node& node = nodes_[container.payload()];
  if (node.capacity == kTakenNode) return;
  item_bytes_ -= node.capacity * sizeof(PickleValue);
  std::free(node.items);
  node.taken = as.bits();
  node.capacity = kTakenNode;
}

std::string_view PickleReader::Text(PickleValue value) const {
  return value.kind() == PickleKind::kText ? std::string_view(*texts_[value.payload()]) : "";
}

bool PickleReader::Int(PickleValue value, int64_t* number) const {
  switch (value.kind()) {
    case PickleKind::kBool:
      *number = static_cast<int64_t>(value.payload());
      return true;
    case PickleKind::kInt:  // its highest bit is its sign
      *number = static_cast<int64_t>(value.payload() << 4) >> 4;
      return true;
    case PickleKind::kLargeInt:
      *number = large_[value.payload()];
      return true;
    case PickleKind::kReal: {
      const double real = reals_[value.payload()];
      if (!(std::abs(real) < 9.2e18)) return false;
      *number = static_cast<int64_t>(real);
      return true;
    }
    default:
      return false;
  }
}

double PickleReader::Real(PickleValue value) const {
  if (value.kind() == PickleKind::kReal) return reals_[value.payload()];
  int64_t number = 0;
  return Int(value, &number) ? static_cast<double>(number) : 0;
}

uint64_t PickleReader::held_bytes() const {
  return capacity_ + (stack_.capacity() + memo_.capacity()) * sizeof(PickleValue) +
         nodes_.capacity() * sizeof(Node) + (large_.capacity() + reals_.capacity()) * 8 +
         text_bytes_ + item_bytes_ + (taker_ == nullptr ? 0 : taker_->held_bytes());
}

}  // namespace gpuprof::analysis::import
