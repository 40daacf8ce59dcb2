// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/raw_log.h"

#include "inject/raw_syscall.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

bool g_keeps_all = false;
bool g_debug = false;
constinit char g_said[kMostSaid] = {};

}  // namespace

void Say(const char* text) noexcept {
  char line[kMostSaid + 16];
  Text message(line, sizeof(line) - 1);
  message.Add("gpuprof: ").Add(text);
  line[message.size()] = '\n';
  KeepSaid(text);
  if (g_keeps_all) return;
  raw::Call(SYS_write, 2, raw::Arg(line), static_cast<long>(message.size() + 1));
}

void KeepSaid(const char* text) noexcept { Text(g_said, sizeof(g_said)).Add(text); }

const char* LastSaid() noexcept { return g_said; }

void Debug(const char* text) noexcept {
  if (g_debug) Say(text);
}

void KeepAllSaid() noexcept { g_keeps_all = true; }

void SetDebug(bool on) noexcept { g_debug = on; }

}  // namespace gpuprof::inject
