// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pieces of text that several results share. See text.h.

#include <algorithm>

#include "analysis/base/figures.h"
#include "analysis/render/text.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

int Shown(int rows, const TextOptions& options) {
  if (options.limit == 0) return rows;
  return static_cast<int>(std::min<int64_t>(rows, options.limit));
}

std::string MoreLine(int rows, const TextOptions& options) {
  const int hidden = rows - Shown(rows, options);
  if (hidden <= 0) return "";
  return "  ... and " + FormatNumber(static_cast<uint64_t>(hidden)) +
         " more (--limit 0 shows all)\n";
}

std::string Section(const std::string& heading, const TextTable& table, const TextOptions& options,
                    int rows) {
  if (table.empty()) return "";
  std::string head;
  for (size_t at = 0; at <= heading.size();) {
    const size_t end = std::min(heading.find('\n', at), heading.size());
    head += WrapText(std::string_view(heading).substr(at, end - at), "", "", options.width);
    at = end + 1;
  }
  return head + table.Render(options.table_width) + MoreLine(rows, options) + "\n";
}

std::string LevelWord(results::Level level) {
  switch (level) {
    case results::LEVEL_HIGH:
      return "high";
    case results::LEVEL_MEDIUM:
      return "medium";
    case results::LEVEL_LOW:
      return "low";
    default:
      return "none";
  }
}

std::string MetaText(const results::Meta& meta, const TextOptions& options) {
  std::string out;
  for (const results::Loss& loss : meta.losses()) {
    out += WrapText("Lost: " + FormatNumber(loss.count()) + " (" + loss.name() + "). " + loss.fix(),
                    "", "  ", options.width);
  }
  for (const results::Input& input : meta.inputs()) {
    if (input.fault().empty()) continue;
    out += WrapText(
        "Damaged: " + input.name() + ": " + input.fault() + ". The readable part was read.", "",
        "  ", options.width);
  }
  if (meta.confidence().level() < results::LEVEL_HIGH) {
    out += WrapText("Confidence: " + LevelWord(meta.confidence().level()) + ": " +
                        meta.confidence().reason() + ".",
                    "", "  ", options.width);
  }
  for (const std::string& note : meta.notes())
    out += WrapText("Note: " + note, "", "  ", options.width);
  return out;
}

std::string StackText(const std::vector<const results::Frame*>& frames, size_t most,
                      const std::string& indent, const TextOptions& options) {
  std::string out;
  size_t shown = 0;
  for (const results::Frame* each : frames) {
    const results::Frame& frame = *each;
    if (shown++ == most) {
      out += indent + "... " + std::to_string(frames.size() - most) + " more frames\n";
      break;
    }
    std::string line = ShownName(frame, options);
    // A name that was not found holds the module already.
    if (!frame.module().empty() && frame.name().find(frame.module()) == std::string::npos) {
      line += "  [" + frame.module() + "]";
    }
    if (!frame.file().empty()) {
      line += "  " + frame.file().substr(frame.file().rfind('/') + 1) + ":" +
              std::to_string(frame.line());
    }
    line = indent + OneLine(line);
    out += (options.width > 0 ? CutTo(line, static_cast<size_t>(options.width)) : line) + "\n";
  }
  return out;
}

std::string Unfinished(uint64_t count) {
  return count == 0 ? "" : " (" + FormatNumber(count) + " unfinished)";
}

}  // namespace gpuprof::analysis
