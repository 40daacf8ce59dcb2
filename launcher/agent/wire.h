// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads and writes fields of protobuf messages. The messages of the profiler's service are few, and
// one field of them may hold a gigabyte: so they are taken apart by hand. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// Walks over the fields of one message. Foreign bytes: nothing is believed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  // Goes to the next field. Returns false at the end, and where the message is broken.
  bool Next();
  bool is_broken() const { return is_broken_; }

  uint32_t field() const { return field_; }
  // Returns the value of a field that holds a number; 0: it holds none.
  uint64_t number() const { return number_; }
  // Returns the bytes of a field that holds bytes, a text or a message; empty: it holds none.
  std::string_view bytes() const { return bytes_; }
  bool is_bytes() const { return is_bytes_; }

 private:
  bool Fail();
  bool TakeFixed(size_t bytes);

  std::string_view rest_, bytes_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  bool is_bytes_ = false;
  bool is_broken_ = false;
};

// The tag and the length in front of a field of bytes, as the head of a stream of bytes tells them.
struct WireHead {
  uint32_t field = 0;
  bool is_bytes = false;
  uint64_t length = 0;  // of the bytes that follow; a number's value otherwise
  size_t size = 0;      // of the head; for a number, of the whole field
};
// The longest head: two numbers of ten bytes.
inline constexpr size_t kMostWireHead = 20;
// Reads the head of a field. Returns false if it is broken, or longer than `bytes`.
bool ReadWireHead(std::string_view bytes, WireHead* head);

// Adds a field to a message. A number that is 0 and a text that is empty are left out.
void AddNumber(uint32_t field, uint64_t value, std::string* message);
void AddText(uint32_t field, std::string_view text, std::string* message);
// Adds a field of bytes, also if it is empty.
void AddBytes(uint32_t field, std::string_view bytes, std::string* message);
// Adds the tag and the length of a field whose bytes follow.
void AddLength(uint32_t field, uint64_t length, std::string* message);

}  // namespace gpuprof::launcher
