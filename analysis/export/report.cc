// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a report: the built page with the results of the passes and the files of the bundle
// inside. Results come first, because the page needs them to begin. Files are read and written
// piece by piece. If the page would be too large, it has the events of some steps alone, and says
// so.

#include <fcntl.h>
#include <google/protobuf/message.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/export/kept_parts.h"
#include "analysis/export/page_manifest.h"
#include "analysis/export/report_text.h"
#include "analysis/model/trace.h"
#include "analysis/render/figures.h"
#include "proto/codec/compress_text.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

// Three bytes make four digits: a piece of whole threes needs no padding before the file's end.
constexpr size_t kPiece = 3 << 20;
// What the manifest may say of left out events.
constexpr uint64_t kManifestRoom = 4096;

// Returns whether the pass reads rows that a trace with sums does not have.
bool ReadsWork(std::string_view pass, const PassOptions& options) {
  using proto::ChunkKind;
  const TableSet summed = {ChunkKind::kKernel, ChunkKind::kMemcpy, ChunkKind::kMemset,
                           ChunkKind::kGraphLaunch, ChunkKind::kApi};
  return TablesOf(pass, options).Intersects(summed);
}

class Report {
 public:
  Report(const Trace& trace, const ReportOptions& options, Sink sink, void* context)
      : trace_(trace), options_(options), sink_(sink), context_(context) {}

  Error Write(ReportReport* report) {
    const size_t place = options_.page.rfind(kDataMark);
    if (place == std::string_view::npos) return PageWithoutPlace();
    for (const PageResult& result : PageResults()) AddResult(result);
    if (!options_.comparison.empty()) Keep(std::string(kComparisonResult), options_.comparison);
    if (Error error = MeasureFiles()) return error;
    const uint64_t whole = file_bytes_;
    const uint64_t fixed = options_.page.size() + results_.size() + Manifest().size();
    if (fixed + whole > options_.max_bytes) {
      ChooseParts(options_.max_bytes - std::min(options_.max_bytes, fixed + kManifestRoom));
      report->left_out_bytes = whole - std::min(whole, file_bytes_);
      report->left_out_rows = left_out_rows_;
    }
    Put(options_.page.substr(0, place));
    Put(Manifest());
    Put(results_);
    if (Error error = WriteFiles()) return error;
    Put(options_.page.substr(place));
    report->bytes = bytes_;
    report->failed_count = failed_.size();
    return {};
  }

 private:
  struct File {
    std::string name;
    std::string path;
    uint64_t size = 0;
    std::vector<FilePart> parts;  // empty: all of it
  };

  void AddResult(const PageResult& wanted) {
    const auto& [pass, by] = wanted;
    const std::string name = wanted.Name();
    PassOptions options;
    options.by = by;
    if (trace_.has_sums && PageSumsAbove(pass, options) == 0 && ReadsWork(pass, options)) {
      failed_.push_back({{"pass", name},
                         {"reason",
                          "The recording has too much work of GPUs for a report, which only "
                          "adds it up. This command reads every row: " +
                              CommandOf(pass, options)}});
      return;
    }
    std::unique_ptr<google::protobuf::Message> result;
    if (Error error = Run(pass, trace_, options, &result)) {
      failed_.push_back({{"pass", name}, {"reason", error.message}});
      return;
    }
    if (name == "steps") steps_.CopyFrom(*result);
    Keep(name, Render(*result, Format::kJson, options, 0));
  }

  void Keep(const std::string& name, const std::string& json) {
    const std::string frame = codec::CompressText(json);
    if (frame.empty()) {
      failed_.push_back({{"pass", name}, {"reason", "There was not enough memory."}});
      return;
    }
    passes_.push_back(name);
    results_ += "<script type=\"text/plain\" class=\"gpuprof-result\" data-pass=\"" + name +
                "\" data-encoding=\"zstd+base64\">" + Base64(frame) + "</script>\n";
  }

  Error MeasureFiles() {
    for (const ReportFile& file : options_.files) {
      struct stat status;
      const codec::OwnedFile opened(
          codec::OpenRegular(AT_FDCWD, file.path.c_str(), O_RDONLY, &status));
      if (opened.fd() < 0) return Unreadable(file.path, errno);
      files_.push_back({file.name, file.path, static_cast<uint64_t>(status.st_size), {}});
      file_bytes_ += TextBytes(files_.back());
    }
    whole_bytes_ = file_bytes_;
    return {};
  }

  // Keeps some steps of a bundle that does not fit. If not even one fits, no file is kept.
  void ChooseParts(uint64_t room) {
    std::unique_ptr<KeptParts> kept;
    std::vector<std::string> steps;
    bool any = false;
    if (!KeptParts::Open(options_.bundle, &kept)) {
      for (const Wanted& wanted : WantedStretches(steps_, kept->Whole())) {
        const bool fits = kept->Keep(wanted.window, room);
        any = any || fits;
        if (fits && !wanted.words.empty()) steps.push_back(wanted.words);
        if (!fits && wanted.words.empty()) break;
      }
    }
    if (any) KeepParts(*kept);
    if (!any) files_.clear();
    file_bytes_ = 0;
    for (const File& file : files_) file_bytes_ += TextBytes(file);
    left_out_ = any ? WordsOfParts(steps) : "The events are left out, " + WordsOfSize();
  }

  void KeepParts(const KeptParts& kept) {
    for (File& file : files_) file.parts = kept.PartsOf(file.name);
    // A file without rows is kept whole.
    left_out_rows_ = kept.LeftOutRows();
  }

  std::string WordsOfParts(const std::vector<std::string>& steps) const {
    constexpr size_t kMostNamed = 3;
    std::string words = "The page has the events of ";
    if (steps.empty()) words += "a part of the time";
    for (size_t i = 0; i < std::min(steps.size(), kMostNamed); ++i)
      words += (i == 0 ? "step " : "; step ") + steps[i];
    if (steps.size() > kMostNamed)
      words += "; and of " + std::to_string(steps.size() - kMostNamed) + " more steps";
    return words + ". " + FormatNumber(left_out_rows_) + " events are left out, " + WordsOfSize();
  }

  std::string WordsOfSize() const {
    const uint64_t whole =
        options_.page.size() + results_.size() + whole_bytes_ + 2 * kManifestRoom;
    constexpr uint64_t kKiB = 1024, kMany = 10'000;
    const uint64_t kib = whole / kKiB + 1;
    const std::string size =
        kib > kMany ? std::to_string(kib / kKiB + 1) + "MiB" : std::to_string(kib) + "KiB";
    return "because the page would be larger than " + FormatBytes(options_.max_bytes) +
           "; 'gpuprof report --max-size " + size + "' keeps all, and so does 'gpuprof serve'.";
  }

  // Writes what was measured, even if the file has grown: the page knows the size.
  Error WriteFiles() {
    for (const File& file : files_) {
      struct stat status;
      const codec::OwnedFile opened(
          codec::OpenRegular(AT_FDCWD, file.path.c_str(), O_RDONLY, &status));
      if (opened.fd() < 0) return Unreadable(file.path, errno);
      Put(Before(file));
      // The digits of a file go on from part to part: only the last three bytes may be padded.
      std::string piece;
      for (const FilePart& part : PartsOf(file)) {
        for (uint64_t done = 0; done < part.bytes;) {
          const size_t before = piece.size();
          piece.resize(std::min<uint64_t>(kPiece, before + part.bytes - done));
          if (!ReadAt(opened.fd(), part.offset + done, before, &piece))
            return Unreadable(file.path, EIO);
          done += piece.size() - before;
          const std::string rest = piece.substr(piece.size() / 3 * 3);
          piece.resize(piece.size() - rest.size());
          Put(Base64(piece));
          piece = rest;
        }
      }
      Put(Base64(piece));
      Put(kAfter);
    }
    return {};
  }

  static std::vector<FilePart> PartsOf(const File& file) {
    return file.parts.empty() ? std::vector<FilePart>{{0, file.size}} : file.parts;
  }

  static uint64_t TextBytes(const File& file) {
    uint64_t bytes = 0;
    for (const FilePart& part : PartsOf(file)) bytes += part.bytes;
    return Before(file).size() + Base64Length(bytes) + kAfter.size();
  }

  // Reads from a place of the file to the end of `piece`, from its byte `done` on.
  static bool ReadAt(int fd, uint64_t offset, size_t done, std::string* piece) {
    for (const size_t before = done; done < piece->size();) {
      const ssize_t got = pread(fd, piece->data() + done, piece->size() - done,
                                static_cast<off_t>(offset + done - before));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<size_t>(got);
    }
    return true;
  }

  static Error Unreadable(const std::string& path, int error) {
    return {ErrorKind::kUnreadable,
            OneLine(path) + " cannot be read: " + codec::OpenErrorText(error) + "."};
  }

  static std::string Before(const File& file) {
    return "<script type=\"text/plain\" class=\"gpuprof-file\" data-name=\"" +
           AttributeText(file.name) + "\" data-size=\"" + std::to_string(file.size) + "\"" +
           PartsAttribute(file) + ">";
  }

  static std::string PartsAttribute(const File& file) {
    if (file.parts.empty()) return "";
    std::string text;
    for (const FilePart& part : file.parts)
      text += (text.empty() ? "" : ",") + std::to_string(part.offset) + ":" +
              std::to_string(part.bytes);
    return " data-parts=\"" + text + "\"";
  }

  std::string Manifest() const {
    return ManifestBlock(options_, left_out_.empty() ? options_.left_out : left_out_,
                         {{"passes", passes_}, {"failed", failed_}});
  }

  void Put(std::string_view text) {
    bytes_ += text.size();
    if (is_open_) is_open_ = sink_(context_, text);
  }

  static constexpr std::string_view kAfter = "</script>\n";
  const Trace& trace_;
  const ReportOptions& options_;
  const Sink sink_;
  void* const context_;
  std::vector<std::string> passes_;
  nlohmann::json failed_ = nlohmann::json::array();
  std::string results_, left_out_;
  std::vector<File> files_;
  results::Steps steps_;
  uint64_t file_bytes_ = 0, whole_bytes_ = 0, bytes_ = 0, left_out_rows_ = 0;
  bool is_open_ = true;
};

}  // namespace

Error WriteReport(const Trace& trace, const ReportOptions& options, Sink sink, void* context,
                  ReportReport* report) {
  return Report(trace, options, sink, context).Write(report);
}

}  // namespace gpuprof::analysis
