// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names that the program gave to threads, categories, devices and streams. It gives them when it
// begins, often before anything is recorded: they are kept, and told in every capture, when a
// thread's first range in it comes. Any thread: no lock, no allocation.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "proto/record.h"

namespace gpuprof::inject::ranges {

struct Named {
  proto::RangeKind kind;
  Text* domain;  // of a category; null: the default domain
  uint64_t number;
  Text* name;
};

// Keeps the name, and tells it where something is being recorded. The later of two counts.
void Name(proto::RangeKind kind, Text* domain, uint64_t number, const Message& message) noexcept;

// With the guard held: writes all into `ring`, unless this was done in `capture` already.
void TellNames(uint32_t capture, proto::RingHeader* ring, uint64_t now) noexcept;

// By ranges.cc.
void WriteNamed(proto::RingHeader* ring, uint64_t now, const Named& named) noexcept;

}  // namespace gpuprof::inject::ranges
