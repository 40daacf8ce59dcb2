// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/script.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace fake_gpu {
namespace {

using Words = std::istringstream;

template <typename T>
std::function<void(Words&)> Into(T* target) {
  return [target](Words& words) { words >> *target; };
}

// True when the next word is the one given.
std::function<void(Words&)> Flag(bool* target, const char* yes) {
  return [target, yes](Words& words) {
    std::string word;
    words >> word;
    *target = word == yes;
  };
}

void ReadFailure(Script* script, Words& words) {
  Failure failure;
  words >> failure.function >> failure.code;
  if (uint64_t skip = 0; words >> skip) failure.skip = skip;
  if (uint64_t times = 0; words >> times) failure.times = times;
  words.clear();
  script->failures.push_back(failure);
}

// "WHAT DEVICE VALUE..." into a map.
template <typename Map>
std::function<void(Words&)> Values(Map* target) {
  return [target](Words& words) {
    typename Map::key_type key;
    words >> key.first >> key.second;
    if (words.fail()) return;
    std::vector<double>& values = (*target)[key];
    // strtod knows "nan", which streams do not.
    for (std::string word; words >> word;) {
      char* end = nullptr;
      values.push_back(strtod(word.c_str(), &end));
      if (*end != 0) return words.setstate(std::ios::failbit);
    }
    words.clear();
  };
}

std::function<void(Words&)> NameInto(std::vector<std::string>* target) {
  return [target](Words& words) { words >> target->emplace_back(); };
}

std::map<std::string, std::function<void(Words&)>> Statements(Script* script) {
  return {
      {"kernel",
       [script](Words& words) {
         auto& [text, duration] = script->kernels.emplace_back();
         words >> text >> duration;
       }},
      {"kernel_ns", Into(&script->kernel_ns)},
      {"copy_gbps", Into(&script->copy_gbps)},
      {"copy_ns", Into(&script->copy_ns)},
      {"host_ns", Into(&script->host_ns)},
      {"launch_ns", Into(&script->launch_ns)},
      {"record_ns", Into(&script->record_ns)},
      {"queue", Into(&script->queue)},
      {"stream_handles", Flag(&script->reuse_streams, "again")},
      {"context_releases", Flag(&script->context_releases, "on")},
      {"registers", Into(&script->registers)},
      {"devices", Into(&script->devices)},
      {"memory", Into(&script->memory)},
      {"driver_version", Into(&script->driver_version)},
      {"fail", [script](Words& words) { ReadFailure(script, words); }},
      {"hang",
       [script](Words& words) {
         Failure& hang = script->hangs.emplace_back();
         words >> hang.function;
         if (uint64_t skip = 0; words >> skip) hang.skip = skip;
         words.clear();
       }},
      {"subscriber",
       [script](Words& words) { std::getline(words >> std::ws, script->subscriber); }},
      {"lose_times", Into(&script->lose_times)},
      {"drop", Into(&script->drop)},
      {"clock_step",
       [script](Words& words) { words >> script->clock_step >> script->clock_step_after; }},
      {"gpu_drift", Into(&script->gpu_drift_ppm)},
      {"gpu_records", Flag(&script->mixed, "mixed")},
      {"shuffle", Flag(&script->shuffle, "on")},
      {"seed", Into(&script->seed)},
      {"correlation", Flag(&script->correlation_always, "always")},
      {"launch_cbid", Into(&script->launch_cbid)},
      {"exit_flush", Into(&script->exit_flush)},
      {"exit_read", Into(&script->exit_read)},
      {"nvml", Values(&script->nvml_values)},
      {"gpm", Values(&script->gpm_values)},
      {"nvml_hang", NameInto(&script->nvml_hangs)},
      {"nvml_crash", NameInto(&script->nvml_crashes)},
      {"mig", Flag(&script->mig, "on")},
      {"pm", Flag(&script->pm, "on")},
      {"pm_samples", Values(&script->pm_values)},
      {"pm_two_passes", NameInto(&script->pm_two_passes)},
      {"pm_one_pass", Into(&script->pm_one_pass)},
      {"pm_overflow", Into(&script->pm_overflow)},
      {"pm_trigger", Flag(&script->pm_sysclk_only, "sysclk")},
      {"pm_crash", NameInto(&script->pm_crashes)},
      {"pm_slow",
       [script](Words& words) {
         auto& [function, file] = script->pm_slow.emplace_back();
         words >> function >> file;
       }},
  };
}

// A statement that is not understood ends the process: a test must not pass because of a
// misspelling.
void Parse(const std::string& text, Script* script) {
  const auto statements = Statements(script);
  std::string statement;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(";\n", begin), text.size());
    statement = text.substr(begin, end - begin);
    begin = end + 1;
    statement = statement.substr(0, statement.find('#'));
    Words words(statement);
    std::string name;
    if (!(words >> name)) continue;
    const auto found = statements.find(name);
    if (found != statements.end()) found->second(words);
    if (found == statements.end() || words.fail()) {
      fprintf(stderr, "fake_gpu: FAKE_GPU_SCRIPT: not understood: %s\n", statement.c_str());
      _exit(97);
    }
  }
}

Script* Read() {
  auto* script = new Script;
  const char* given = getenv("FAKE_GPU_SCRIPT");
  if (given == nullptr || given[0] == 0) return script;
  std::string text = given;
  if (std::ifstream file(given); file) {
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  Parse(text, script);
  if (script->queue < 1 || script->queue > 1024) script->queue = 1024;
  return script;
}

Script* Mutable() {
  static Script* const script = Read();  // never destroyed: exit handlers still ask
  return script;
}

}  // namespace

const Script& TheScript() { return *Mutable(); }

int ScriptedFailure(const char* function) {
  Script* script = Mutable();
  if (script->failures.empty()) [[likely]]
    return 0;
  for (Failure& failure : script->failures) {
    if (failure.function != function) continue;
    const uint64_t before = __atomic_fetch_add(&failure.seen, 1, __ATOMIC_RELAXED);
    if (before >= failure.skip && before - failure.skip < failure.times) return failure.code;
  }
  return 0;
}

void ScriptedHang(const char* function) {
  Script* script = Mutable();
  if (script->hangs.empty()) [[likely]]
    return;
  for (Failure& hang : script->hangs) {
    if (hang.function != function) continue;
    const uint64_t before = __atomic_fetch_add(&hang.seen, 1, __ATOMIC_RELAXED);
    while (before >= hang.skip) pause();
  }
}

}  // namespace fake_gpu
