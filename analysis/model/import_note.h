// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an importer had to mend, to leave out or could not join. Each kind is counted.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

enum class ImportNoteKind : uint8_t {
  kTruncated,        // the file ends early
  kRepairedSyntax,   // events were read although their text is not JSON
  kUnreadableEvent,  // events were skipped
  kBadText,          // texts with bytes that are not UTF-8
  kNotRead,          // bytes behind the end of the document
  kNoTime,           // device rows without a time
  kBadTime,          // rows whose time or duration is not a number, or is negative
  kClipped,          // impossible ends were moved
  kUnmatched,        // a begin without an end, or an end without a begin
  kNoLaunch,         // device rows without their call
  kNoKernel,         // launching calls without their device rows
  kImpossibleOrder,  // device rows that begin before their call
  kIdClash,          // one correlation id in several processes
  kUnknownName,      // ids of callers that the file does not have
  kEndsAtStop,       // calls that were cut by the end of the recording
  kOtherDialect,     // event pairs of an older profiler: device ranges, not kernels
  kUnknownCategory,  // complete events of categories that the importer does not know
  kUnknownPhase,     // events of phases that the importer does not know
  kCounter,          // values of counters that are missing, or are not numbers
  kPreexisting,      // memory was freed whose allocation is not in the file
  kCycle,            // scopes that lie in each other in a circle
  kSaidByFile,       // errors and warnings that the file itself has
  kHloModule,        // entries among the compiled modules that are not kept
  kOtherRun,         // runs of a folder; the newest one was read
  kDetail,           // details of events that take too much memory
  kInZip,            // files that are members of a zip archive
};
inline constexpr int kImportNoteKinds = 26;

struct ImportNote {
  ImportNoteKind kind;
  uint64_t count = 0;
  std::string example;  // a name or place, for people; may be empty
};

// Returns "truncated", "repaired_syntax" and so on, as JSON shows the kind.
const char* ImportNoteName(ImportNoteKind kind);
// Returns whether rows of the program are missing because of the fault.
bool IsImportLoss(const ImportNote& note);
// Describes a note in one sentence.
std::string ImportNoteText(const ImportNote& note);

}  // namespace gpuprof::analysis
