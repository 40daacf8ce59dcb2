// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks the messages of an XSpace where they lie: the fields that a window needs, by their numbers
// in tsl/profiler/protobuf/xplane.proto. Bytes that make no sense end the walk. Any thread; no
// allocation.

#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::tracer::jax {

struct Field {
  uint32_t number = 0;
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of a text or message
};

// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}

  // False: there are no more, or the rest is damaged.
  bool Next(Field* field) {
    uint64_t tag = 0;
    if (at_ == end_ || !Varint(&tag)) return false;
    field->number = static_cast<uint32_t>(tag >> 3);
    field->value = 0;
    field->bytes = {};
    switch (tag & 7) {
      case 0:
        return Varint(&field->value);
      case 1:
        return Fixed(8, field);
      case 2: {
        uint64_t length = 0;
        if (!Varint(&length) || length > static_cast<uint64_t>(end_ - at_)) return Fail();
        field->bytes = {at_, static_cast<size_t>(length)};
        at_ += length;
        return true;
      }
      case 5:
        return Fixed(4, field);
      default:
        return Fail();
    }
  }

 private:
  bool Fail() {
    at_ = end_;
    return false;
  }
  bool Varint(uint64_t* value) {
    uint64_t result = 0;
    for (uint32_t shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      result |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        *value = result;
        return true;
      }
    }
    return Fail();
  }
  bool Fixed(int bytes, Field* field) {
    if (end_ - at_ < bytes) return Fail();
    for (int i = bytes; i-- > 0;) field->value = field->value << 8 | static_cast<uint8_t>(at_[i]);
    field->bytes = {at_, static_cast<size_t>(bytes)};
    at_ += bytes;
    return true;
  }

  const char* at_;
  const char* end_;
};

// Numbers of fields.
namespace space_field {
inline constexpr uint32_t kPlane = 1;
}
namespace plane_field {
inline constexpr uint32_t kName = 2, kLine = 3, kEventMetadata = 4, kStatMetadata = 5, kStat = 6;
}
namespace entry_field {  // of a map
inline constexpr uint32_t kKey = 1, kValue = 2;
}
namespace metadata_field {
inline constexpr uint32_t kName = 2, kStat = 5;
}
namespace line_field {
inline constexpr uint32_t kId = 1, kName = 2, kTimestampNs = 3, kEvent = 4, kDisplayName = 11;
}
namespace event_field {
inline constexpr uint32_t kMetadata = 1, kOffsetPs = 2, kDurationPs = 3, kStat = 4;
}
namespace stat_field {
inline constexpr uint32_t kMetadata = 1, kDouble = 2, kUnsigned = 3, kSigned = 4, kText = 5,
                          kBytes = 6, kReference = 7;
}
namespace options_field {  // of ProfileOptions
inline constexpr uint32_t kDeviceTracerLevel = 3;
}

}  // namespace gpuprof::tracer::jax
