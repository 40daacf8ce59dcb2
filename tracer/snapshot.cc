// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "proto/codec/segments.h"
#include "proto/codec/trace_writer.h"
#include "proto/snapshot_request.h"
#include "tracer/kept_snapshots.h"
#include "tracer/process_facts.h"
#include "tracer/snapshot_reason.h"

namespace gpuprof::tracer {
namespace {

constexpr int kMetaField = 13, kHealthField = 14;
constexpr int kMostNumber = 1000;  // snapshots of one name
constexpr uint32_t kPathBytes = 900;

// "20261121T161500Z". Not libc's calendar: it takes a lock that a thread of the program may hold.
void UtcName(uint64_t realtime_ns, char (&name)[32]) {
  const uint64_t seconds = realtime_ns / 1'000'000'000u;
  // Days to a civil date in the proleptic Gregorian calendar, years beginning in March.
  const uint64_t days = seconds / 86400 + 719468;
  const uint64_t era = days / 146097;
  const uint64_t of_era = days % 146097;
  const uint64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const uint64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint64_t shifted = (5 * of_year + 2) / 153;
  const uint64_t day = of_year - (153 * shifted + 2) / 5 + 1;
  const uint64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  const uint64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const uint64_t rest = seconds % 86400;
  std::snprintf(name, sizeof(name), "%04u%02u%02uT%02u%02u%02uZ", static_cast<unsigned>(year),
                static_cast<unsigned>(month), static_cast<unsigned>(day),
                static_cast<unsigned>(rest / 3600), static_cast<unsigned>(rest / 60 % 60),
                static_cast<unsigned>(rest % 60));
}

// What cannot be read leaves a hole, and its rows are counted. False: `to` cannot be written.
bool CopyFiles(const FileParts& files, codec::TraceWriter* to, uint64_t* unread_rows) {
  for (uint32_t i = 0; i < files.count; ++i) {
    const FileParts::Part& part = files.part[i];
    const uint64_t rows_before = to->rows_in_file();
    const codec::CopyResult result = codec::CopyBlocks(part.fd, part.bytes, 0, to);
    if (result == codec::CopyResult::kNotWritten) return false;
    if (result == codec::CopyResult::kWhole) continue;
    to->LeaveHole();
    const uint64_t rows = to->rows_in_file() - rows_before;
    if (part.rows > rows) *unread_rows += part.rows - rows;
  }
  return true;
}

// 0 or an errno value.
int WriteTrace(const char* path, const Drain::Snapshot& snapshot, const char* reason) {
  codec::TraceWriter to;
  if (!to.Create(path, snapshot.header)) return errno;
  uint64_t unread_rows = 0;
  bool written = CopyFiles(snapshot.files, &to, &unread_rows);
  for (const auto& spans : *snapshot.open_spans) {
    for (const auto& builder : spans->builders()) {
      // Names from the tables that were copied just now.
      written = written && to.WriteEvents(builder.get(), snapshot.capture, ~uint64_t{0});
    }
  }
  std::vector<uint8_t> message;
  if (unread_rows != 0) {
    message = *snapshot.health;
    Drain::AppendUnreadRows(unread_rows, &message);
    written = written && to.WriteTable(proto::ChunkKind::kHealth, snapshot.capture, kHealthField,
                                       message.data(), message.size(), 1);
    message.clear();
  }
  char mark[320];
  std::snprintf(mark, sizeof(mark), "%s%s%s", proto::kSnapshotMark,
                *reason == 0 ? "" : proto::kReasonMark, reason);
  AppendCaptureMark(snapshot.capture, false, snapshot.now, mark, 0, &message);
  AppendExit(proto::ExitWay::kSnapshot, 0, snapshot.now, &message);
  written = written && to.WriteTable(proto::ChunkKind::kMeta, snapshot.capture, kMetaField,
                                     message.data(), message.size(), 1);
  proto::EndMarker end = {};
  end.exit_way = static_cast<uint32_t>(proto::ExitWay::kSnapshot);
  written = written && to.WriteEnd(end);
  const int error = to.last_error();
  to.Close();
  if (!written) unlink(path);
  return written ? 0 : error;
}

int WriteSnapshot(const Settings& settings, const Drain::Snapshot& snapshot, const char* name,
                  const char* reason, char* path, uint32_t path_bytes) {
  char by_time[32];
  if (*name == 0) {
    UtcName(proto::ReadClockNs(CLOCK_REALTIME), by_time);
    name = by_time;
  }
  char manifest[kPathBytes];
  std::snprintf(manifest, sizeof(manifest), "%s/%s", settings.bundle, proto::kBundleFile);
  int error = EEXIST;
  for (int number = 1; error == EEXIST && number <= kMostNumber; ++number) {
    char suffix[16] = "";
    if (number > 1) std::snprintf(suffix, sizeof(suffix), "-%d", number);
    const int length = std::snprintf(path, path_bytes, "%s/%s%s%s", settings.bundle,
                                     proto::kSnapshotPrefix, name, suffix);
    if (length < 0 || static_cast<uint32_t>(length) >= path_bytes) return ENAMETOOLONG;
    const bool made = mkdir(path, 0700) == 0;
    if (!made && errno != EEXIST) return errno;
    if (made) chmod(path, 0700);  // whatever the program's umask
    char file[kPathBytes];
    std::snprintf(file, sizeof(file), "%s/%s%s", path, settings.file_stem, proto::kTraceSuffix);
    error = WriteTrace(file, snapshot, reason);
    if (error != 0 && made) rmdir(path);  // unless another process's is in it
    if (error != 0) continue;
    // What the whole run is about, as far as the launcher has told; a second process finds it
    // there.
    std::snprintf(file, sizeof(file), "%s/%s", path, proto::kBundleFile);
    if (link(manifest, file) != 0) errno = 0;
  }
  return error;
}

// One line for each snapshot of a trigger, as long as there are few.
void SayTaken(const Host& host, const char* path, const char* reason) {
  constexpr int kMostLines = 20;
  static int lines = 0;
  if (*reason == 0 || lines > kMostLines) return;
  char line[1200];
  std::snprintf(line, sizeof(line), "a snapshot was taken, because %s: %s", reason, path);
  host.say(++lines > kMostLines ? "further snapshots are taken without a word" : line);
}

}  // namespace

int TakeRequested(const Host& host, const Drain::Snapshot& snapshot, const char* request,
                  char* path, uint32_t path_bytes) {
  const NamedRequest read = ReadSnapshotRequest(request, getpid());
  char reason[256];
  ReasonWords(read.numbers, reason, sizeof(reason));
  const int error = WriteSnapshot(*host.settings, snapshot, read.name, reason, path, path_bytes);
  if (error != 0) return error;
  SayTaken(host, path, reason);
  KeepSnapshot(path, *host.settings, read.numbers[proto::kKeepSnapshots]);
  return 0;
}

}  // namespace gpuprof::tracer
