// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/process_facts.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "proto/codec/tables.h"
#include "tracer/own_memory.h"
#include "tracer/raw_file.h"

extern "C" char** environ;

namespace gpuprof::tracer {
namespace {

constexpr char kWriterVersion[] = "gpuprof " GPUPROF_VERSION;
constexpr uint32_t kMostArgumentBytes = 64 * 1024;
constexpr uint32_t kMostVariables = 4096;
constexpr uint32_t kMostVariableBytes = 512;

// Who this process is among its peers, and what decides its speed, as launchers and frameworks tell
// it.
constexpr const char* kVariables[] = {"RANK",
                                      "LOCAL_RANK",
                                      "WORLD_SIZE",
                                      "LOCAL_WORLD_SIZE",
                                      "GROUP_RANK",
                                      "SLURM_JOB_ID",
                                      "SLURM_PROCID",
                                      "SLURM_LOCALID",
                                      "SLURM_NTASKS",
                                      "OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "PMI_RANK",
                                      "PMIX_RANK",
                                      "CUDA_VISIBLE_DEVICES",
                                      "OMP_NUM_THREADS",
                                      "MKL_NUM_THREADS",
                                      "PYTORCH_CUDA_ALLOC_CONF",
                                      "TORCHELASTIC_RUN_ID",
                                      "MALLOC_ARENA_MAX",
                                      "KUBERNETES_SERVICE_HOST",
                                      "HOSTNAME"};

void AppendStrings(const std::vector<char>& bytes, int field, codec::PbWriter* writer) {
  size_t start = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) continue;
    writer->Bytes(field, &bytes[start], i - start);
    start = i + 1;
  }
  if (start < bytes.size()) writer->Bytes(field, &bytes[start], bytes.size() - start);
}

// One entry of the environment, if it is one of ours: copied, because the program may give it back.
void AppendVariable(const char* entry, codec::PbWriter* writer) {
  const char* equals = strchr(entry, '=');
  if (equals == nullptr) return;
  const size_t bytes = static_cast<size_t>(equals - entry);
  for (const char* variable : kVariables) {
    if (strlen(variable) != bytes || memcmp(variable, entry, bytes) != 0) continue;
    const uint64_t mark = writer->Begin(7);
    writer->Bytes(1, entry, bytes);
    writer->Bytes(2, equals + 1, strlen(equals + 1));
    writer->End(mark);
  }
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

}  // namespace

void AppendProcessFacts(const Settings& settings, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Varint(1, static_cast<uint64_t>(getpid()));
  writer.Varint(2, static_cast<uint64_t>(getppid()));
  writer.Fixed64(3, settings.start_id);
  char executable[1024];
  const ssize_t n = readlink("/proc/self/exe", executable, sizeof(executable));
  if (n > 0) writer.Bytes(4, executable, static_cast<uint64_t>(n));
  AppendStrings(ReadSmallFile("/proc/self/cmdline", kMostArgumentBytes), 5, &writer);
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
                       std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  const uint64_t mark = writer.Begin(15);
  writer.Varint(1, capture);
  writer.Varint(2, start ? 1 : 0);
  writer.Fixed64(3, ticks);
  writer.Bytes(4, trigger, strlen(trigger));
  writer.End(mark);
}

void AppendFramework(const char* framework, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Bytes(18, framework, strlen(framework));
}

void AppendExit(proto::ExitWay way, int32_t status, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Varint(16, static_cast<uint64_t>(way));
  writer.Varint(17, static_cast<uint64_t>(int64_t{status}));
}

}  // namespace gpuprof::tracer
