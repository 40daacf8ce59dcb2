// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How launchers of parallel jobs tell a process its rank and its job, by variables of the
// environment. The tracer records these variables, the launcher joins ranks by them, and the
// analysis names processes by them. Included by freestanding code, so no library headers.

#pragma once

namespace gpuprof::proto {

struct RankSource {
  const char* launcher;    // as users call it
  const char* rank;        // a number from 0; null: the processes of the job have no numbers
  const char* size;        // how many ranks there are; null: not known
  const char* local_rank;  // the number on this host; null: not known
  const char* needs;       // counts only if this is set, too; null: nothing
  const char* restart;     // how often the job was begun anew; null: not known
  // The variables that together name the job, and those that name it if none of the first is set.
  const char* job[2];
  const char* other_job[2];
  // No two jobs have the same name. Otherwise a later job may have the name of an earlier one.
  bool is_unique;
};

// The inner launcher first: mpirun inside a job of Slurm gives its ranks both kinds of variables.
// A batch script of Slurm has SLURM_PROCID, too, but its process is not a rank.
inline constexpr RankSource kRankSources[] = {
    {.launcher = "torchrun",
     .rank = "RANK",
     .size = "WORLD_SIZE",
     .local_rank = "LOCAL_RANK",
     .needs = nullptr,
     .restart = "TORCHELASTIC_RESTART_COUNT",
     .job = {"TORCHELASTIC_RUN_ID", nullptr},
     .other_job = {"MASTER_ADDR", "MASTER_PORT"},
     .is_unique = false},
    {.launcher = "Open MPI",
     .rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .needs = nullptr,
     .restart = nullptr,
     .job = {"PMIX_NAMESPACE", nullptr},
     .other_job = {"OMPI_MCA_ess_base_jobid", nullptr},
     .is_unique = true},
    {.launcher = "PMIx",
     .rank = "PMIX_RANK",
     .size = nullptr,
     .local_rank = nullptr,
     .needs = nullptr,
     .restart = nullptr,
     .job = {"PMIX_NAMESPACE", nullptr},
     .other_job = {nullptr, nullptr},
     .is_unique = true},
    {.launcher = "PMI",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .needs = nullptr,
     .restart = nullptr,
     .job = {"PMI_JOBID", nullptr},
     .other_job = {"SLURM_JOB_ID", nullptr},
     .is_unique = false},
    {.launcher = "Slurm",
     .rank = "SLURM_PROCID",
     .size = "SLURM_NTASKS",
     .local_rank = "SLURM_LOCALID",
     .needs = "SLURM_STEP_ID",
     .restart = "SLURM_RESTART_COUNT",
     .job = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     .other_job = {nullptr, nullptr},
     .is_unique = true},
    {.launcher = "Ray",
     .rank = nullptr,
     .size = nullptr,
     .local_rank = nullptr,
     .needs = "RAY_JOB_ID",
     .restart = nullptr,
     .job = {"RAY_JOB_ID", "RAY_ADDRESS"},
     .other_job = {nullptr, nullptr},
     .is_unique = false},
};

// Reads a number of at most nine digits. False: it is not a number.
constexpr bool ReadRankNumber(const char* text, unsigned* number) {
  constexpr int kMostDigits = 9;
  unsigned value = 0;
  int digits = 0;
  for (; text != nullptr && text[digits] != 0; ++digits) {
    const char c = text[digits];
    if (c < '0' || c > '9' || digits == kMostDigits) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  *number = value;
  return digits != 0;
}

// Returns the launcher whose variables are set, or null. `get(name)` returns the value of a
// variable, or null if it is not set.
template <typename Get>
constexpr const RankSource* FindRankSource(Get get) {
  for (const RankSource& source : kRankSources) {
    unsigned number = 0;
    if (source.needs != nullptr && get(source.needs) == nullptr) continue;
    if (source.rank == nullptr || ReadRankNumber(get(source.rank), &number)) return &source;
  }
  return nullptr;
}

// Calls visit(name) for each variable of the table. A name may come several times.
template <typename Visit>
constexpr void ForEachRankVariable(Visit visit) {
  for (const RankSource& source : kRankSources) {
    for (const char* name :
         {source.rank, source.size, source.local_rank, source.needs, source.restart})
      if (name != nullptr) visit(name);
    for (const char* name :
         {source.job[0], source.job[1], source.other_job[0], source.other_job[1]})
      if (name != nullptr) visit(name);
  }
}

}  // namespace gpuprof::proto
