// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a report: the built page with the results of the passes and the files of the bundle
// and the engine inside. Results come first, because the page needs them to begin. Files are read
// and written piece by piece. If the page would be too large, it has the events of some steps
// alone, and says so. A page that is given the address of its files has none of them inside.
// Without the engine nobody reads events, so none are there.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/base/figures.h"
#include "analysis/export/kept_parts.h"
#include "analysis/export/page_manifest.h"
#include "analysis/export/report_results.h"
#include "analysis/export/report_text.h"
#include "analysis/model/trace.h"
#include "analysis/passes/page_need.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_marks.h"
#include "analysis/symbols/code_names.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

// Three bytes make four digits: a piece of whole threes needs no padding before the file's end.
constexpr size_t kPiece = 3 << 20;
// What the manifest may say of parts and of left out events.
constexpr uint64_t kManifestRoom = 8192;
// Results of parts take this part of the room if the events do not fit.
constexpr uint64_t kShareOfParts = 8;

class Report {
 public:
  Report(const Trace& trace, const ReportOptions& options, Sink sink, void* context)
      : trace_(trace), options_(options), sink_(sink), context_(context), results_(trace) {}

  Error Write(ReportReport* report) {
    const size_t place = options_.page.rfind(kDataMark);
    if (place == std::string_view::npos) return PageWithoutPlace();
    for (const PageResult& result : PageResults()) results_.Add(result);
    if (!options_.comparison.empty())
      results_.Keep(std::string(kComparisonResult), options_.comparison);
    if (Error error = MeasureFiles()) return error;
    if (files_.empty() && HasMemorySnapshot(trace_)) {
      left_out_ = "The page has the results of a memory snapshot of PyTorch, and not its events.";
      results_.AddParts(Room());
      return PutAll(place, report);
    }
    const uint64_t whole = file_bytes_;
    if (std::string engine = EngineBlock(); engine.size() <= Room()) engine_ = std::move(engine);
    const bool has_all = !engine_.empty() && whole <= Room();
    // With the engine and all events, the page computes every part by itself. If the events do not
    // fit, results of parts say more than a few events. A page from disk may not read linked ones.
    if (!has_all || IsLinked())
      results_.AddParts(whole <= Room() ? Room() - whole : Room() / kShareOfParts);
    if (!has_all) {
      ChooseParts();
      report->left_out_bytes = whole - std::min(whole, file_bytes_);
      report->left_out_rows = left_out_rows_;
    }
    return PutAll(place, report);
  }

 private:
  // Writes the page with all that was chosen.
  Error PutAll(size_t place, ReportReport* report) {
    Put(options_.page.substr(0, place));
    Put(Manifest());
    Put(results_.elements());
    Put(engine_);
    if (!IsLinked()) {
      if (Error error = WriteFiles()) return error;
    }
    Put(options_.page.substr(place));
    report->bytes = bytes_;
    report->failed_count = results_.failed_count();
    report->left_out_parts = results_.left_out_parts();
    return {};
  }

  struct File {
    std::string name;
    InputPath path;
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t size = 0;
    std::vector<FilePart> parts;  // empty: all of it
  };

  // Returns whether the events stay in the bundle.
  bool IsLinked() const { return !options_.files_at.empty(); }

  // Returns how many bytes are left beside the page, its results and the engine.
  uint64_t Room() const {
    const uint64_t fixed =
        options_.page.size() + results_.elements().size() + kManifestRoom + engine_.size();
    return options_.max_bytes - std::min(options_.max_bytes, fixed);
  }

  Error MeasureFiles() {
    for (const ReportFile& file : options_.files) {
      OwnFile own;
      if (Error error = OpenOwnFile(file.path, &own)) {
        if (IsTold(file.name)) continue;
        return error;
      }
      files_.push_back({file.name,
                        file.path,
                        own.status.st_dev,
                        own.status.st_ino,
                        static_cast<uint64_t>(own.status.st_size),
                        {}});
      if (!IsLinked()) file_bytes_ += TextBytes(files_.back());
    }
    whole_bytes_ = file_bytes_;
    return {};
  }

  // Returns whether the trace tells that a file could not be read. The page goes without it.
  bool IsTold(const std::string& name) const {
    return std::any_of(trace_.faults.begin(), trace_.faults.end(),
                       [&](const InputFault& fault) { return fault.file == name; });
  }

  // Keeps some steps of a bundle that does not fit. If not even one fits, no file is kept.
  void ChooseParts() {
    std::unique_ptr<KeptParts> kept;
    std::vector<std::string> steps;
    bool any = false;
    if (!engine_.empty() && !KeptParts::Open(options_.bundle, &kept)) {
      // Few rows of the recording's steps may be in the page.
      marks_ = PackStepMarks(FindStepMarks(trace_));
      const uint64_t room = Room() - std::min(Room(), Base64Length(marks_.size()));
      const std::vector<WantedStep> wanted = results_.Steps();
      for (const WantedStep& step : wanted) {
        if (!kept->Keep(step.window, room)) continue;
        any = true;
        steps.push_back(step.Words());
      }
      for (const Interval& stretch : kept->MiddleStretches()) {
        if (!wanted.empty() || !kept->Keep(stretch, room)) break;
        any = true;
      }
    }
    if (any) KeepParts(*kept);
    if (!any) files_.clear();
    file_bytes_ = 0;
    for (const File& file : files_) file_bytes_ += TextBytes(file);
    if (options_.engine.empty())
      left_out_ =
          "The events are left out, because this gpuprof was built without the engine that shows "
          "them; 'scripts/setup' installs what the engine needs.";
    else
      left_out_ = any ? WordsOfParts(steps) : "The events are left out, " + WordsOfSize();
  }

  void KeepParts(const KeptParts& kept) {
    for (File& file : files_) file.parts = kept.PartsOf(file.name);
    // A file without rows is kept whole.
    left_out_rows_ = kept.LeftOutRows();
    proto::BundleParts parts = kept.Message();
    engine_ += "<script type=\"text/plain\" id=\"gpuprof-parts\" data-encoding=\"base64\">" +
               Base64(parts.SerializeAsString() + marks_) + std::string(kAfter);  // as one message
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
    const uint64_t whole = options_.page.size() + results_.elements().size() +
                           EngineBlock().size() + whole_bytes_ + 2 * kManifestRoom;
    constexpr uint64_t kKiB = 1024, kMany = 10'000;
    const uint64_t kib = whole / kKiB + 1;
    const std::string size =
        kib > kMany ? std::to_string(kib / kKiB + 1) + "MiB" : std::to_string(kib) + "KiB";
    return "because the page would be larger than " + FormatBytes(options_.max_bytes) +
           "; 'gpuprof report --max-size " + size + "' keeps all, and so does 'gpuprof serve'.";
  }

  // Writes what was measured, even if the file has grown: the page knows the size. Another file in
  // its place is none that was measured.
  Error WriteFiles() {
    for (const File& file : files_) {
      OwnFile own;
      if (Error error = OpenOwnFile(file.path, &own)) return error;
      if (own.status.st_dev != file.device || own.status.st_ino != file.inode)
        return Unreadable(file.path.path, ESTALE);
      Put(Before(file));
      // The digits of a file go on from part to part: only the last three bytes may be padded.
      std::string piece;
      for (const FilePart& part : PartsOf(file)) {
        for (uint64_t done = 0; done < part.bytes;) {
          const size_t before = piece.size();
          piece.resize(std::min<uint64_t>(kPiece, before + part.bytes - done));
          if (!ReadAt(own.file.fd(), part.offset + done, before, &piece))
            return Unreadable(file.path.path, EIO);
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

  std::string EngineBlock() const {
    if (options_.engine.empty()) return "";
    return "<script type=\"text/plain\" id=\"gpuprof-engine\" data-encoding=\"zstd+base64\">" +
           Base64(options_.engine) + std::string(kAfter) +
           "<script type=\"text/plain\" id=\"gpuprof-names\" data-encoding=\"base64\">" +
           Base64(PackedCodeNames(trace_)) + std::string(kAfter) +
           "<script type=\"text/plain\" id=\"gpuprof-notices\" data-encoding=\"gzip+base64\">" +
           Base64(Gzip(options_.notices)) + std::string(kAfter);
  }

  std::string Manifest() const {
    nlohmann::json more = results_.Members();
    if (!engine_.empty()) more["engine"] = true;
    if (!left_out_.empty()) more["lacks_events"] = true;
    if (IsLinked()) {
      more["files_at"] = options_.files_at;
      for (const File& file : files_)
        more["files"].push_back({{"name", file.name}, {"size", file.size}});
    }
    return ManifestBlock(options_, left_out_.empty() ? options_.left_out : left_out_, more);
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
  ReportResults results_;
  std::string marks_;   // of all steps: few of their rows may be in the page
  std::string engine_;  // with what it needs, as elements; empty: the page has none
  std::string left_out_;
  std::vector<File> files_;
  uint64_t file_bytes_ = 0, whole_bytes_ = 0, bytes_ = 0, left_out_rows_ = 0;
  bool is_open_ = true;
};

}  // namespace

Error WriteReport(const Trace& trace, const ReportOptions& options, Sink sink, void* context,
                  ReportReport* report) {
  return Report(trace, options, sink, context).Write(report);
}

}  // namespace gpuprof::analysis
