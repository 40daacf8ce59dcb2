// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See known_files.h.

#include "analysis/import/known_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <vector>

#include "analysis/import/wire.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;
using codec::InputPath;
using std::string_view_literals::operator""sv;

constexpr size_t kBeginning = 64 << 10;

struct KnownFile {
  size_t at;               // of the bytes
  std::string_view bytes;  // empty: known by its name
  std::string_view name;   // how the name ends; empty: any
  std::string_view what;
  std::string_view remedy;
};

constexpr std::string_view kNameTrace =
    "name a bundle of gpuprof, a trace of torch.profiler (JSON), or an XSpace (.xplane.pb)";
constexpr std::string_view kTakeJson =
    "let torch.profiler write its trace as JSON (export_chrome_trace), and name that file";
constexpr std::string_view kRecord =
    "record the program with `gpuprof run`, or name a trace of torch.profiler (JSON)";

constexpr std::string_view kExport =
    "export it: `nsys export --type sqlite --output NEW.sqlite FILE`, and name the result";

constexpr std::string_view kRocprofJson =
    "record again with `rocprofv3 --output-format json`, and name the result";

constexpr std::string_view kOpStats = "statistics of XProf, which have no events";
constexpr std::string_view kShowOpStats =
    "`gpuprof stats overview FILE --format=xprof` shows them, and so do ops, kernels and "
    "input_pipeline; name the HOST.xplane.pb of the run for all else";

constexpr KnownFile kKnown[] = {
    {0, "", ".op_stats_v2.pb", kOpStats, kShowOpStats},
    {0, "", ".op_stats.pb", kOpStats, kShowOpStats},
    {0, "SQLite format 3\0"sv, "_results.db", "a database of rocprofv3 (rocpd)", kRocprofJson},
    {0, "", ".nsys-rep", "a report of Nsight Systems", kExport},
    {0, "", ".qdrep", "a report of Nsight Systems", kExport},
    {0, "", ".qdstrm", "an unfinished report of Nsight Systems", kRecord},
    {0, "SQLite format 3\0"sv, "", "an SQLite database without the tables of `nsys export`",
     "gpuprof reads exports of Nsight Systems with work of GPUs, calls, NVTX or OSRT"},
    {0, "NVR\0"sv, "", "a report of Nsight Compute",
     "open it with ncu-ui; gpuprof reads traces of whole programs"},
    {0, "", ".ncu-rep", "a report of Nsight Compute",
     "open it with ncu-ui; gpuprof reads traces of whole programs"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "", "compressed by xz", "unpack it with `xz -d`, and name the result"},
    {0, "BZh", "", "compressed by bzip2", "unpack it with `bzip2 -d`, and name the result"},
    {0, "\x04\x22\x4d\x18", "", "compressed by lz4",
     "unpack it with `lz4 -d`, and name the result"},
    {0, "\x1f\x9d", "", "compressed by compress", "unpack it with `gzip -d`, and name the result"},
    {0, "7z\xbc\xaf\x27\x1c", "", "a 7z archive", "unpack it, and name the trace or the folder"},
    {0, "Rar!\x1a\x07", "", "a RAR archive", "unpack it, and name the trace or the folder"},
    {257, "ustar", "", "a tar archive",
     "unpack it with `tar -xf`, and name the trace or the folder"},
    {0, "PAR1", "", "a table in the format Parquet", kNameTrace},
    {0, "ARROW1", "", "a table in the format Arrow", kNameTrace},
    {0, "FEA1", "", "a table in the format Feather", kNameTrace},
    {0, "\xff\xff\xff\xff", ".arrows", "a stream in the format Arrow", kNameTrace},
    {0, "\x89HDF\r\n\x1a\n", "", "a file of HDF5", kNameTrace},
    {0,
     "\x7f"
     "ELF",
     "", "a program or a library", "name the bundle that `gpuprof run` wrote"},
    {0, "PERFILE2", "", "a recording of Linux perf (perf.data)",
     "`perf report` reads it; gpuprof reads what `gpuprof run` records"},
    {0, "\xc1\x1f\xfc\xc1", "", "a trace in the format CTF, as LTTng writes it",
     "babeltrace2 reads it; gpuprof reads what `gpuprof run` records"},
    {0, "\x89PNG", "", "a picture", kNameTrace},
    {0, "%PDF-", "", "a PDF document", kNameTrace},
    {0, "\xff\xfe\0\0"sv, "", "text in UTF-32", "convert it: iconv -f UTF-32 -t UTF-8 FILE > NEW"},
    {0, "\xff\xfe", "", "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"},
    {0, "\xfe\xff", "", "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"},
    {0, "{\0"sv, "", "text in UTF-16", "convert it: iconv -f UTF-16LE -t UTF-8 FILE > NEW"},
    {0, "[\0"sv, "", "text in UTF-16", "convert it: iconv -f UTF-16LE -t UTF-8 FILE > NEW"},
    {0, "\0{"sv, "", "text in UTF-16", "convert it: iconv -f UTF-16BE -t UTF-8 FILE > NEW"},
    {0, "\0["sv, "", "text in UTF-16", "convert it: iconv -f UTF-16BE -t UTF-8 FILE > NEW"},
};

// JSON of other programs, by words that all must be there.
struct KnownJson {
  std::string_view words[2];
  std::string_view what, remedy;
};
constexpr KnownJson kKnownJson[] = {
    {{"speedscope.app/file-format-schema", ""}, "a profile for speedscope", kTakeJson},
    {{"\"segments\"", "\"device_traces\""},
     "a snapshot of PyTorch's memory",
     "name the pickle that torch.cuda.memory._dump_snapshot wrote"},
    {{"\"schema\"", "\"nodes\""}, "an execution trace of PyTorch", kTakeJson},
    {{"\"timeDeltas\"", "\"nodes\""}, "a profile of V8 (.cpuprofile)", kRecord},
    {{"\"resourceSpans\"", ""}, "a trace of OpenTelemetry", kRecord},
    {{"\"meta\"", "\"pass\""}, "a result of gpuprof", "name the bundle that the result is of"},
};

std::string Words(std::string_view what, std::string_view remedy) {
  return "this is " + std::string(what) + "; " + std::string(remedy);
}

bool IsKnown(const KnownFile& known, std::string_view beginning, std::string_view name) {
  if (!name.ends_with(known.name)) return false;
  return known.at <= beginning.size() && beginning.substr(known.at).starts_with(known.bytes);
}

bool HasBlankOrEnd(std::string_view text, size_t at) {
  return at >= text.size() || std::isspace(static_cast<unsigned char>(text[at])) != 0 ||
         text[at] == '>';
}

// Returns whether the text begins with the word, in whatever case.
bool BeginsWith(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  const auto is_same = [](char small, char any) {
    return std::tolower(static_cast<unsigned char>(any)) == small;
  };
  return std::equal(word.begin(), word.end(), text.begin(), is_same) &&
         HasBlankOrEnd(text, word.size());
}

bool IsPickle(std::string_view text) {
  constexpr char kOldest = 2, kNewest = 5;  // versions that begin with a byte of their own
  return text.size() > 1 && text[0] == '\x80' && text[1] >= kOldest && text[1] <= kNewest;
}

// Returns whether the bytes are records of Perfetto: packets with fields that only these have.
bool IsPerfetto(std::string_view text) {
  constexpr uint32_t kPacket = 1, kClocks = 6, kSequence = 10, kConfig = 33, kMarker = 36;
  constexpr uint32_t kTrack = 60, kUuid = 89;
  WireReader packets(text);
  WireField packet;
  for (int i = 0; i < 64 && packets.Next(&packet); ++i) {
    if (!packet.Is(kPacket, WireType::kBytes)) return false;
    WireReader fields(packet.bytes);
    WireField field;
    while (fields.Next(&field)) {
      if (field.Is(kSequence, WireType::kVarint)) return true;
      for (const uint32_t number : {kClocks, kConfig, kMarker, kTrack, kUuid})
        if (field.Is(number, WireType::kBytes)) return true;
    }
  }
  return false;
}

std::string WhatTextIs(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(std::min(first, text.size()));
  if (BeginsWith(text, "<!doctype") || BeginsWith(text, "<html")) {
    return text.find("gpuprof-manifest") != std::string_view::npos
               ? Words("a report of gpuprof",
                       "open it in a browser, or name the bundle that it is of")
               : Words("a page of HTML", kNameTrace);
  }
  if (text.starts_with("<?xml")) return Words("a file of XML", kNameTrace);
  if (!text.starts_with('{') && !text.starts_with('[')) return "";
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  for (const KnownJson& known : kKnownJson)
    if (std::all_of(std::begin(known.words), std::end(known.words), has))
      return Words(known.what, known.remedy);
  return "";
}

Error NamedZip(const InputPath& path) {
  const Result<std::vector<ZipMember>> members = ListZip(path);
  if (!members.ok()) return members.error();
  const std::string lead = path.path + ": this is a zip archive, and ";
  if (members->empty()) return Unreadable(lead + "no file is in it; name a trace");
  const auto is_own = [](const ZipMember& member) {
    return member.name.ends_with(proto::kTraceSuffix) ||
           fs::path(member.name).filename() == proto::kBundleFile;
  };
  if (std::any_of(members->begin(), members->end(), is_own)) {
    return Unreadable(lead + "a bundle of gpuprof is in it; unpack it, and name its folder");
  }
  const std::string known =
      WhatFileIs(BeginningOf(MemberOf(path, members->front()), kBeginning), members->front().name);
  return Unreadable(lead + "no trace is among its " + std::to_string(members->size()) +
                    " files. The first is " + members->front().name +
                    (known.empty() ? "" : ": " + known) + "; name an archive of traces");
}

// Names the bundles and the known files in a folder that has no trace itself.
std::string WhatFolderHas(const InputPath& path) {
  constexpr size_t kMostEntries = 10'000, kMostNamed = 3;
  std::vector<std::string> bundles, known;
  std::error_code error;
  size_t entries = 0;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const InputPath each = path.Below(name);
    struct stat status {};
    if (!codec::StatInput(each, &status)) continue;
    if (S_ISDIR(status.st_mode)) {
      if (codec::StatInput(each.Below(proto::kBundleFile), &status)) bundles.push_back(name);
    } else if (S_ISREG(status.st_mode) && known.size() < kMostNamed) {
      const std::string what = WhatFileIs(BeginningOf(FileAt(each), 512), name);
      if (!what.empty()) known.push_back(name + ": " + what);
    }
  }
  std::sort(bundles.begin(), bundles.end());
  std::sort(known.begin(), known.end());
  std::string text;
  for (size_t i = 0; i < std::min(bundles.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + bundles[i];
  if (!bundles.empty()) {
    return "the folder has no trace itself, but bundles are in it (" + text +
           (bundles.size() > kMostNamed ? " and others" : "") +
           "); name one. To read all together, copy their files into one folder";
  }
  return known.empty() ? "" : "the folder has no trace. " + known.front();
}

}  // namespace

std::string WhatFileIs(std::string_view beginning, std::string_view name) {
  for (const KnownFile& known : kKnown)
    if (IsKnown(known, beginning, name)) return Words(known.what, known.remedy);
  if (IsPickle(beginning)) {
    return Words("a Python pickle",
                 "gpuprof reads those of torch.cuda.memory._dump_snapshot, which have no code");
  }
  if (beginning.substr(0, 64).find("brain.Event:") != std::string_view::npos) {
    return Words("a file of events of TensorBoard (tfevents)",
                 "it has no trace; name the folder plugins/profile in its folder");
  }
  if (name.ends_with(".perfetto-trace") || name.ends_with(".pftrace") || IsPerfetto(beginning)) {
    return Words("a trace of Perfetto in its own format",
                 "convert it with `traceconv json FILE NEW.json`, and name the result");
  }
  return WhatTextIs(beginning);
}

Error NamedError(const ForeignFile& file, const Error& error) {
  const std::string known = WhatFileIs(BeginningOf(file, kBeginning), file.shown);
  return known.empty() ? error : Unreadable(file.Title() + ": " + known);
}

Error NamedError(const InputPath& path, const Error& error) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return error;
  if (S_ISDIR(status.st_mode)) {
    const std::string known = WhatFolderHas(path);
    return known.empty() ? error : Unreadable(path.path + ": " + known);
  }
  if (!S_ISREG(status.st_mode)) return error;
  if (status.st_size == 0) {
    return Unreadable(path.path +
                      ": the file is empty: its program was ended before it wrote, or the disk was "
                      "full; record again");
  }
  const ForeignFile file = FileAt(path);
  if (BeginsAsZip(BeginningOf(file, 4))) return NamedZip(path);
  return NamedError(file, error);
}

}  // namespace gpuprof::analysis::import
