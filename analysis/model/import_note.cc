// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See import_note.h.

#include "analysis/model/import_note.h"

namespace gpuprof::analysis {
namespace {

struct Known {
  const char* name;
  bool is_loss;
  const char* text;  // behind the number
};

constexpr Known kKnown[kImportNoteKinds] = {
    {"truncated", true, "the file ends early; events that were cut"},
    {"repaired_syntax", false, "events whose text is not valid JSON were repaired and read"},
    {"unreadable_event", true, "events were skipped, as they could not be read"},
    {"bad_text", false, "texts have bytes that are not UTF-8; U+FFFD stands for these bytes"},
    {"not_read", true, "bytes behind the end of the JSON document were not read"},
    {"no_time", true, "device rows have no time; they are left out of all sums"},
    {"bad_time", true, "events have no valid time or duration"},
    {"clipped", false, "spans with an impossible end were cut"},
    {"unmatched", false, "begins and ends do not match"},
    {"no_launch", false, "device rows have no call that launched them"},
    {"no_kernel", false, "calls that launch work have no device row"},
    {"impossible_order", false, "device rows begin before the call that launched them"},
    {"id_clash", false,
     "correlation ids occur in several processes; each process was joined alone"},
    {"unknown_name", false, "ids lead nowhere"},
    {"ends_at_stop", false, "calls end after the profiler stopped"},
    {"other_dialect", false,
     "the file is of PyTorch's old autograd profiler: its device rows are ranges between events, "
     "not kernels"},
    {"unknown_category", false, "events of unknown categories are shown as ranges"},
    {"unknown_phase", true, "events of unknown phases were left out"},
    {"counter", true, "values of counters are not numbers, or are missing"},
    {"preexisting", false, "blocks were freed whose allocation is not in the file"},
    {"cycle", false, "circles of scopes that lie in each other were cut"},
    {"said_by_the_file", false, "errors and warnings are in the file itself"},
    {"hlo_module", false,
     "entries of the plane of compiled modules hold no module, or one that is too long; they are "
     "left out"},
    {"other_run", false, "runs are in the folder; only the newest one was read"},
    {"detail", true, "events have details that were left out, because all take too much memory"},
    {"in_zip", false, "traces were read from a zip archive"},
};

const Known& KnownOf(ImportNoteKind kind) { return kKnown[static_cast<int>(kind)]; }

}  // namespace

const char* ImportNoteName(ImportNoteKind kind) { return KnownOf(kind).name; }

bool IsImportLoss(const ImportNote& note) { return KnownOf(note.kind).is_loss && note.count != 0; }

std::string ImportNoteText(const ImportNote& note) {
  const Known& known = KnownOf(note.kind);
  std::string text;
  if (note.kind == ImportNoteKind::kTruncated) {
    text = note.count == 0 ? "the file has no end, but no event was cut"
                           : std::string(known.text) + ": " + std::to_string(note.count);
  } else if (note.kind == ImportNoteKind::kOtherDialect) {
    text = known.text;
  } else {
    text = std::to_string(note.count) + " " + known.text;
  }
  if (!note.example.empty() && note.kind != ImportNoteKind::kOtherDialect)
    text += " (" + note.example + ")";
  return text;
}

}  // namespace gpuprof::analysis
