// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a report: the built page with the results of the passes and the files of the bundle
// inside. Results come first, because the page needs them to begin. Files are read and written
// piece by piece. If the page would be too large, the files are left out, and the page says so.

#include <fcntl.h>
#include <google/protobuf/message.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/export/page_manifest.h"
#include "analysis/export/report_text.h"
#include "analysis/model/trace.h"
#include "proto/codec/compress_text.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

// Three bytes make four digits: a piece of whole threes needs no padding before the file's end.
constexpr size_t kPiece = 3 << 20;

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
    const uint64_t fixed = options_.page.size() + results_.size() + Manifest().size();
    report->left_out_bytes = fixed + file_bytes_ > options_.max_bytes ? file_bytes_ : 0;
    if (report->left_out_bytes != 0) LeaveFilesOut();
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
  };

  void AddResult(const PageResult& wanted) {
    const auto& [pass, by] = wanted;
    const std::string name = wanted.Name();
    PassOptions options;
    options.by = by;
    if (trace_.has_sums && SumsAbove(pass, options) == 0 && ReadsWork(pass, options)) {
      const std::string command = by.empty() ? "" : " --by " + std::string(by);
      failed_.push_back({{"pass", name},
                         {"reason",
                          "The recording has too much work of GPUs for a report, which only "
                          "adds it up. This command reads every row: gpuprof stats " +
                              std::string(pass) + command}});
      return;
    }
    std::unique_ptr<google::protobuf::Message> result;
    if (Error error = Run(pass, trace_, options, &result)) {
      failed_.push_back({{"pass", name}, {"reason", error.message}});
      return;
    }
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
      files_.push_back({file.name, file.path, static_cast<uint64_t>(status.st_size)});
      file_bytes_ +=
          Before(files_.back()).size() + Base64Length(files_.back().size) + kAfter.size();
    }
    return {};
  }

  void LeaveFilesOut() {
    constexpr unsigned kMiB = 20;
    files_.clear();
    const uint64_t whole = options_.page.size() + results_.size() + file_bytes_;
    // Two more: the manifest, and what the shift cuts off.
    left_out_ = "The events are left out, because the page would be larger than " +
                std::to_string(options_.max_bytes >> kMiB) + " MiB; 'gpuprof report --max-size " +
                std::to_string((whole >> kMiB) + 2) + "MiB' keeps them.";
  }

  // Writes what was measured, even if the file has grown: the page knows the size.
  Error WriteFiles() {
    for (const File& file : files_) {
      struct stat status;
      const codec::OwnedFile opened(
          codec::OpenRegular(AT_FDCWD, file.path.c_str(), O_RDONLY, &status));
      if (opened.fd() < 0) return Unreadable(file.path, errno);
      Put(Before(file));
      std::string piece;
      for (uint64_t done = 0; done < file.size; done += piece.size()) {
        piece.resize(std::min<uint64_t>(kPiece, file.size - done));
        if (!ReadAt(opened.fd(), done, &piece)) return Unreadable(file.path, EIO);
        Put(Base64(piece));
      }
      Put(kAfter);
    }
    return {};
  }

  static bool ReadAt(int fd, uint64_t offset, std::string* piece) {
    for (size_t done = 0; done < piece->size();) {
      const ssize_t got =
          pread(fd, piece->data() + done, piece->size() - done, static_cast<off_t>(offset + done));
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
           AttributeText(file.name) + "\" data-size=\"" + std::to_string(file.size) + "\">";
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
  uint64_t file_bytes_ = 0, bytes_ = 0;
  bool is_open_ = true;
};

}  // namespace

Error WriteReport(const Trace& trace, const ReportOptions& options, Sink sink, void* context,
                  ReportReport* report) {
  return Report(trace, options, sink, context).Write(report);
}

}  // namespace gpuprof::analysis
