// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process groups of torch.distributed that a process belongs to, as its trace names them. They
// are kept as notes of the process, one a group. Pure, any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// The source of notes that name a group. These notes say what was used, not what was in the way.
inline constexpr char kGroupNoteSource[] = "process_group";

struct ProcessGroup {
  std::string name;             // "3"; of no other group of the process
  std::string description;      // "mesh_dp"; empty: none was given
  std::vector<uint32_t> ranks;  // of the whole job, in the order of the group
};

// Returns the text of a note: "ranks 0-14:2 of group 3, mesh_dp".
std::string GroupNote(const ProcessGroup& group);
// Returns the groups that the notes of the process name, in the order in which they were made.
std::vector<ProcessGroup> GroupsOf(const Process& process);

// Writes numbers short: "0-3,8,16-30:2". The last part has a stride.
std::string ShortRankList(const std::vector<uint32_t>& ranks);
// Reads a list of this form. Empty: the text has another form, or more than a million ranks.
std::vector<uint32_t> ReadRankList(std::string_view text);

}  // namespace gpuprof::analysis
