// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See text.h.

#include "launcher/base/text.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analysis/analysis.h"

namespace gpuprof::launcher {
namespace {

// errno, or 0.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void Say(std::string_view text) {
  const std::string line = "gpuprof: " + analysis::OneLine(text) + "\n";
  WriteAll(STDERR_FILENO, line);
}

void PutOut(std::string_view text) {
  // CSV has lines that end in both.
  constexpr std::string_view kBoth = "\r\n";
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t end = text.find(kBoth);
    plain += analysis::PlainLines(text.substr(0, end));
    if (end == std::string_view::npos) break;
    plain += kBoth;
    text.remove_prefix(end + kBoth.size());
  }
  PutBytes(plain);
}

void PutBytes(std::string_view bytes) {
  const int error = WriteAll(STDOUT_FILENO, bytes);
  if (error == 0) return;
  // Where SIGPIPE is ignored the reader's leaving shows as EPIPE: as quiet as the signal would have
  // been.
  if (error != EPIPE) Say(std::string("cannot write to standard output: ") + std::strerror(error));
  std::_Exit(error == EPIPE ? kExitOk : kExitUnreadable);
}

std::string FormatCount(uint64_t count) { return analysis::FormatNumber(count); }

std::string Plural(uint64_t count, const char* one, const char* many) {
  return FormatCount(count) + " " + (count == 1 ? one : many);
}

std::string FormatBytes(uint64_t bytes) { return analysis::FormatBytes(bytes); }

std::string FormatSeconds(double seconds) {
  char text[32];
  if (seconds < 100) {
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  } else {
    const long whole = std::lround(seconds);
    if (whole < 3600) {
      std::snprintf(text, sizeof text, "%ld min %02ld s", whole / 60, whole % 60);
    } else {
      std::snprintf(text, sizeof text, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
    }
  }
  return text;
}

std::string AsSentence(std::string text) {
  if (text.empty() || std::strchr(".?!", text.back()) == nullptr) text += '.';
  return text;
}

std::string ShellQuote(std::string_view text) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Join(const char* separator, const std::string* begin, const std::string* end) {
  std::string joined;
  for (const std::string* item = begin; item != end; ++item)
    joined += (item == begin ? "" : separator) + *item;
  return joined;
}

int TerminalWidth() {
  winsize size = {};
  if (isatty(STDOUT_FILENO) != 1) return 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace gpuprof::launcher
