// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/description.h"

#include <atomic>

#include "tracer/cupti/quirks.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

// Each is whole once its word is set.
char g_used[2800];
std::atomic<uint32_t> g_is_used{0};
char g_unused[1400];
std::atomic<uint32_t> g_is_unused{0};

void AddLibrary(const Library& library, Text* text) {
  text->Add("CUPTI ");
  AddRelease(library.version, text);
  text->Add(" (").Number(library.version).Add(") of ").Add(library.path);
}

}  // namespace

void Describe(const Library& library, Interface interface) {
  if (g_is_used.load() != 0) return;
  Text text(g_used);
  AddLibrary(library, &text);
  text.Add(interface == Interface::kV2
               ? ", by its second interface: other profilers may use it at the same time"
               : ", by its first interface: a capture leaves it to a profiler of the program that "
                 "asks for it");
  AddWarnings(library.version, &text);
  if (library.passed_over[0] != 0) text.Add("; passed over: ").Add(library.passed_over);
  g_is_used.store(1, std::memory_order_release);
}

void DescribeUnused(const Library& library) {
  if (g_is_unused.load() != 0) return;
  Text text(g_unused);
  AddLibrary(library, &text);
  text.Add(", but subscribing to it failed");
  g_is_unused.store(1, std::memory_order_release);
}

const char* Description() {
  if (g_is_used.load(std::memory_order_acquire) != 0) return g_used;
  return g_is_unused.load(std::memory_order_acquire) != 0 ? g_unused : "";
}

}  // namespace gpuprof::tracer::cupti
