// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Schemas and enumerations of payloads. The program registers each once, often before anything is
// recorded. They are kept in the form that a trace has (proto::nvtx::DefinitionHeader). Any thread,
// signal handlers too: no lock, no allocation.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "proto/nvtx_payload.h"

namespace gpuprof::inject::ranges {

// Keeps a definition, in place of an older one of its domain and id. A definition that finds no
// room is not kept.
void KeepDefinition(const char* bytes, uint32_t size) noexcept;

// Returns the newest definition of the id in the domain; null: it is not known.
Text* FindDefinition(const Text* domain, uint64_t id) noexcept;
proto::nvtx::DefinitionHeader HeaderOf(const Text& definition) noexcept;

// Defines all in the present file. Does nothing if `capture` has all of them already. With the
// guard held.
void ReportDefinitions(uint32_t capture, proto::RingHeader* ring) noexcept;

}  // namespace gpuprof::inject::ranges
