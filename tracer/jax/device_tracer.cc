// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_tracer.h.

#include "tracer/jax/device_tracer.h"

#include <cstdint>
#include <cstring>

namespace gpuprof::tracer::jax {
namespace {

constexpr uint32_t kHost = 1'000'003, kPython = 2'000'029;  // found nowhere else
constexpr uint32_t kOn = 1;
constexpr long kMostBytes = 4096;

bool Set(const Python& python, PyObject* object, const char* name, uint32_t value) {
  PyObject* const number = python.new_long(static_cast<long>(value));
  const bool is_set = number != nullptr && python.set_attribute(object, name, number) == 0;
  python.Drop(number);
  python.clear_error();
  return is_set;
}

// Returns the bytes of an object, which its class knows; 0: not known.
long BytesOf(const Python& python, PyObject* object) {
  PyObject* const type = python.type_of(object);
  PyObject* const size = type != nullptr ? python.attribute(type, "__basicsize__") : nullptr;
  const long bytes = size != nullptr ? python.as_long(size) : 0;
  python.Drop(size);
  python.Drop(type);
  python.clear_error();
  return bytes > 0 && bytes <= kMostBytes ? bytes : 0;
}

}  // namespace

bool DeviceTracerOff(const Python& python, PyObject* options) {
  if (!Set(python, options, "host_tracer_level", kHost) ||
      !Set(python, options, "python_tracer_level", kPython)) {
    return false;
  }
  char* const memory = reinterpret_cast<char*>(options);
  const auto word = [memory](long at) {
    uint32_t value;
    std::memcpy(&value, memory + at, sizeof value);
    return value;
  };
  constexpr long kWord = sizeof(uint32_t);
  long place = 0;
  const long bytes = BytesOf(python, options);
  for (long at = 0; at + 3 * kWord <= bytes; at += kWord) {
    if (word(at) != kHost || word(at + 2 * kWord) != kPython) continue;
    if (place != 0) return false;
    place = at + kWord;
  }
  if (place == 0 || word(place) != kOn) return false;
  constexpr uint32_t kOff = 0;
  std::memcpy(memory + place, &kOff, sizeof kOff);
  return true;
}

}  // namespace gpuprof::tracer::jax
