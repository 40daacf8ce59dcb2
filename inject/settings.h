// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's settings, from the GPUPROF_* variables of proto/contract.h. Read once, in the
// constructor. A value that makes no sense is said on stderr and replaced by its default. The
// launcher has checked the values before, so only hand-made environments get here.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject {

enum class CaptureMode { kNow, kOff, kDelay, kRange, kSteps, kProfilerCalls, kBudget };

struct LaunchSettings {
  CaptureMode capture = CaptureMode::kNow;
  uint64_t delay_ns = 0;
  uint64_t length_ns = 0;   // 0: until stopped
  char range[256] = {};     // kRange: of the range, NAME or NAME@DOMAIN; kSteps: "": any step
  uint64_t first_step = 0;  // both belong to the capture
  uint64_t last_step = UINT64_MAX;
  bool watches_ranges = false;   // the program's ranges or steps matter, also between captures
  bool judges_steps = false;     // for triggers
  uint32_t snapshots = 0;        // the process keeps so many; 0: all
  int signal = 0;                // 0: none
  bool preloaded = false;        // by the loader's LD_PRELOAD: the program has not begun yet
  char runtime_folder[96] = {};  // XDG_RUNTIME_DIR; "": none, or too long for a socket in it
};
extern LaunchSettings g_launch;

// Fills g_settings, g_launch and g_ring_memory. False: this process is not to be recorded (no
// bundle, or excluded by name).
bool ReadSettings() noexcept;

// Takes these "NAME=value" entries, each ended by a zero byte, instead of the environment. They
// stay valid.
void GiveSettings(const char* entries, size_t bytes) noexcept;

// Returns the variable's value, or null. Never libc's getenv: constructors of other libraries may
// be changing the environment.
const char* Variable(const char* name) noexcept;

// Reads 5s, 500ms, 2m, or plain seconds at `*text`, and moves it behind them. Says that a value is
// not valid. For settings that are read elsewhere.
bool ParseDuration(const char** text, uint64_t* ns) noexcept;
void RejectSetting(const char* variable, const char* value, const char* expected) noexcept;

// Returns the path of the tracer object: GPUPROF_TRACER, else next to this object; "" when neither
// is known. The path is of the time when ReadSettings() ran: programs replace their environment
// later (setproctitle, clearenv).
const char* TracerPath() noexcept;

// Returns the path of this object; "" when it is not known, or if the process has no bundle.
const char* InjectPath() noexcept;

// Reads the command line: its words, each with its zero, and a zero behind all. Returns how many
// bytes there are without the last one; 0: it is not known.
size_t ReadCommandLine(char* words, size_t capacity) noexcept;

// Returns whether a program of this base name is excluded, given the user's lists. Exposed for its
// unit test.
bool IsExcludedProgram(const char* name, const char* include, const char* exclude) noexcept;

// Returns whether an interpreter's script or module is excluded, by the same lists: launchers of
// jobs are (proto/job_launchers.h). `words`: the command line, each word with its zero. Exposed for
// its unit test.
bool IsExcludedScript(const char* words, size_t bytes, const char* include,
                      const char* exclude) noexcept;

}  // namespace gpuprof::inject
