// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/process_facts.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <utility>

#include "proto/codec/tables.h"
#include "proto/ranks.h"
#include "proto/secret_words.h"
#include "tracer/own_memory.h"
#include "tracer/raw_file.h"

extern "C" char** environ;

namespace gpuprof::tracer {
namespace {

constexpr char kWriterVersion[] = "gpuprof " GPUPROF_VERSION;
constexpr uint32_t kMostArgumentBytes = 64 * 1024;
constexpr uint32_t kMostVariables = 4096;
constexpr uint32_t kMostVariableBytes = 512;

// What decides the speed of this process, and where it runs. Who it is among its peers is told by
// the variables of proto/ranks.h.
constexpr const char* kVariables[] = {"LOCAL_WORLD_SIZE",
                                      "GROUP_RANK",
                                      "CUDA_VISIBLE_DEVICES",
                                      "CUDA_LAUNCH_BLOCKING",
                                      "CUDA_CACHE_DISABLE",
                                      "NCCL_DEBUG",
                                      "NCCL_P2P_DISABLE",
                                      "NCCL_SHM_DISABLE",
                                      "NCCL_IB_DISABLE",
                                      "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                      "TORCH_DISTRIBUTED_DEBUG",
                                      "JAX_DISABLE_JIT",
                                      "JAX_DEBUG_NANS",
                                      "XLA_PYTHON_CLIENT_ALLOCATOR",
                                      "PYTHONMALLOC",
                                      "OMP_NUM_THREADS",
                                      "MKL_NUM_THREADS",
                                      "PYTORCH_CUDA_ALLOC_CONF",
                                      "MALLOC_ARENA_MAX",
                                      "KUBERNETES_SERVICE_HOST",
                                      "HOSTNAME"};

bool IsRecorded(const char* name, size_t bytes) {
  bool is_recorded = false;
  const auto compare = [&](const char* variable) {
    is_recorded |= strlen(variable) == bytes && memcmp(variable, name, bytes) == 0;
  };
  for (const char* variable : kVariables) compare(variable);
  proto::ForEachRankVariable(compare);
  return is_recorded;
}

// One entry of the environment, if it is one of ours: copied, because the program may give it back.
void AppendVariable(const char* entry, codec::PbWriter* writer) {
  const char* equals = strchr(entry, '=');
  if (equals == nullptr) return;
  const size_t bytes = static_cast<size_t>(equals - entry);
  if (!IsRecorded(entry, bytes)) return;
  const uint64_t mark = writer->Begin(7);
  writer->Bytes(1, entry, bytes);
  writer->Bytes(2, equals + 1, strlen(equals + 1));
  writer->End(mark);
}

// Programs replace their whole environment while this runs (setproctitle moves it, clearenv frees
// it), so that nothing of it is touched directly.
void AppendEnvironment(codec::PbWriter* writer) {
  const OwnMemory memory;
  const char* const* entries = *const_cast<char** volatile*>(&environ);
  for (uint32_t i = 0; entries != nullptr && i < kMostVariables; ++i) {
    const char* entry = nullptr;
    if (memory.Read(entries + i, &entry, sizeof(entry)) != sizeof(entry) || entry == nullptr)
      return;
    char text[kMostVariableBytes];
    const uint32_t bytes = memory.Read(entry, text, sizeof(text));
    if (bytes != 0 && memchr(text, 0, bytes) != nullptr) AppendVariable(text, writer);
  }
}

// The program's name is no secret.
void AppendArguments(const std::vector<char>& words, proto::Arguments how,
                     codec::PbWriter* writer) {
  proto::SecretMask mask;
  bool is_program = true;
  std::vector<char> masked;
  for (size_t at = 0; at < words.size();) {
    const size_t length = strnlen(words.data() + at, words.size() - at);
    masked.assign(words.data() + at, words.data() + at + length);
    if (!is_program && how == proto::Arguments::kMasked) {
      masked.clear();
      mask.Next(words.data() + at, length, [&masked](const char* text, size_t bytes) {
        masked.insert(masked.end(), text, text + bytes);
      });
    }
    if (is_program || how != proto::Arguments::kNone)
      writer->Bytes(5, masked.data(), masked.size());
    is_program = false;
    at += length + 1;
  }
}

}  // namespace

void AppendProcessFacts(const Settings& settings, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Varint(1, static_cast<uint64_t>(getpid()));
  writer.Varint(2, static_cast<uint64_t>(getppid()));
  writer.Fixed64(3, settings.start_id);
  char executable[1024];
  const ssize_t n = readlink("/proc/self/exe", executable, sizeof(executable));
  if (n > 0) writer.Bytes(4, executable, static_cast<uint64_t>(n));
  AppendArguments(ReadSmallFile("/proc/self/cmdline", kMostArgumentBytes), settings.arguments,
                  &writer);
  utsname names;
  if (uname(&names) == 0) writer.Bytes(6, names.nodename, strlen(names.nodename));
  AppendEnvironment(&writer);
  writer.Bytes(8, kWriterVersion, sizeof(kWriterVersion) - 1);
  writer.Varint(9, static_cast<uint64_t>(settings.clock));
  writer.Varint(10, settings.ticks_per_second);
  writer.Varint(11, settings.sources);
  writer.Varint(12, static_cast<uint64_t>(settings.heap_mode));
  writer.Varint(13, settings.heap_period);
  writer.Varint(14, settings.stack_depth);
  writer.Varint(19, getuid());
  writer.Varint(20, static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  writer.Varint(21, static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

void AppendCaptureMark(uint32_t capture, bool start, uint64_t ticks, const char* trigger,
                       uint64_t steps, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  const uint64_t mark = writer.Begin(15);
  writer.Varint(1, capture);
  writer.Varint(2, start ? 1 : 0);
  writer.Fixed64(3, ticks);
  writer.Bytes(4, trigger, strlen(trigger));
  if (steps != 0) writer.Varint(5, steps);
  writer.End(mark);
}

void AppendFramework(const char* framework, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Bytes(18, framework, strlen(framework));
}

void AppendExit(proto::ExitWay way, int32_t status, uint64_t ticks, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Varint(16, static_cast<uint64_t>(way));
  writer.Varint(17, static_cast<uint64_t>(int64_t{status}));
  writer.Fixed64(25, ticks);
  AppendEnvironment(&writer);
}

bool AppendTitle(proto::Arguments how, std::vector<char>* known, std::vector<uint8_t>* out) {
  std::vector<char> now = ReadSmallFile("/proc/self/cmdline", kMostArgumentBytes);
  if (now.empty() || now == *known) return false;
  const bool is_first = known->empty();
  known->swap(now);
  if (is_first || how == proto::Arguments::kNone) return false;
  std::vector<char> title(known->data(), known->data() + strnlen(known->data(), known->size()));
  if (how == proto::Arguments::kMasked) {
    const std::vector<char> open = std::move(title);
    title.clear();
    proto::SecretMask().Next(open.data(), open.size(), [&title](const char* text, size_t bytes) {
      title.insert(title.end(), text, text + bytes);
    });
  }
  codec::PbWriter writer(out);
  writer.Bytes(26, title.data(), title.size());
  return true;
}

}  // namespace gpuprof::tracer
