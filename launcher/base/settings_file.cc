// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See settings_file.h.

#include "launcher/base/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <system_error>

// Errors come back as values.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostBytes = 64 * 1024;

bool IsTrustedOwner(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == geteuid();
}

std::string CannotBeRead(const std::string& path, int error) {
  return path + " cannot be read (" + strerror(error) + "); make it readable or remove it";
}

// Returns the words of a file that is another user's, or that another user can write.
std::string WhyForeign(const std::string& path, const struct stat& info) {
  if (!IsTrustedOwner(info)) {
    return path + " is not obeyed: it belongs to user " + std::to_string(info.st_uid) +
           "; copy it to a directory of your own, or give the options on the command line";
  }
  return "";
}

// Returns the words of a file of this user's that cannot be obeyed.
std::string FaultOf(const std::string& path, const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return CannotBeRead(path, EISDIR);
  if (!S_ISREG(info.st_mode)) return path + " is not a regular file; replace or remove it";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%o", info.st_mode & 07777);
    return path + " can be written by other users (mode " + mode + "); run: chmod go-w " + path;
  }
  if (info.st_size > static_cast<off_t>(kMostBytes))
    return path + " is larger than 64 KiB; shorten or remove it";
  return "";
}

// Returns the errno, or 0. The file may grow meanwhile.
int ReadSome(int fd, std::string* text) {
  char buffer[4096];
  while (text->size() <= kMostBytes) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    text->append(buffer, static_cast<size_t>(got));
  }
  return EFBIG;
}

bool HasParentPart(const std::string& path) {
  for (const std::string& part : Split(path, '/')) {
    if (part == "..") return true;
  }
  return false;
}

// Links in the folder may lead out of it.
bool IsBelowHere(const std::string& path) {
  if (path.empty() || HasParentPart(path)) return false;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return false;
  const std::filesystem::path real = std::filesystem::weakly_canonical(here / path, error);
  if (error) return false;
  const auto [end, unused] = std::mismatch(here.begin(), here.end(), real.begin(), real.end());
  return end == here.end();
}

// What a folder that somebody else has filled must not decide: what runs as this user, and who
// reaches the user's processes and files.
struct CommandLineKey {
  const char* key;
  const char* what;  // behind "this file may not"
};
constexpr CommandLineKey kCommandLineKeys[] = {
    {"allow-control", "let an assistant control processes"},
    {"allow-host", "name hosts that a server answers to"},
    {"allow-peers", "let clients in without a token"},
    {"folders", "name folders that all users may write"},
    {"gpu-log", "name files to write"},
    {"image", "name an image to run"},
    {"library", "name a library to load"},
    {"open-to-network", "open a server to the network"},
    {"set", "set variables of a command"},
    {"token-file", "name the token of a server"},
    {"upload", "name a command to run"},
};
// Folders that are written to, or whose files are given out.
constexpr const char* kKeysBelowHere[] = {"baseline-dir", "logdir", "output", "root"};

struct SettingsText {
  std::string text;         // empty: there is no file, or it was passed over
  std::string passed_over;  // why a file that another user wrote is not obeyed, with the fix
  std::string fault;        // cause and fix: the user's own file cannot be obeyed
};

SettingsText ReadTrustedSettings(const std::string& path) {
  SettingsText read;
  struct stat info;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT) return read;
    if (lstat(path.c_str(), &info) == 0) read.passed_over = WhyForeign(path, info);
    if (!read.passed_over.empty()) return read;
    read.fault = error == ELOOP ? path + " is a link; replace it by the file, or remove it"
                                : CannotBeRead(path, error);
    return read;
  }
  if (fstat(fd, &info) != 0) {
    read.fault = CannotBeRead(path, errno);
  } else {
    read.passed_over = WhyForeign(path, info);
    if (read.passed_over.empty()) read.fault = FaultOf(path, info);
  }
  if (read.fault.empty() && read.passed_over.empty()) {
    const int error = ReadSome(fd, &read.text);
    if (error != 0) read.fault = CannotBeRead(path, error);
  }
  close(fd);
  return read;
}

// Returns a value as the command line would have it.
std::string TextOf(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* number = value.as_integer()) return std::to_string(number->get());
  if (const auto* truth = value.as_boolean()) return truth->get() ? "true" : "false";
  std::string words;
  if (const auto* number = value.as_floating_point()) {
    char digits[32];
    words.assign(digits, std::to_chars(digits, std::end(digits), number->get()).ptr);
  } else if (const toml::array* array = value.as_array()) {
    for (const toml::node& element : *array) words += (words.empty() ? "" : ",") + TextOf(element);
  }
  return words;
}

}  // namespace

std::string ReadSettingsFile(const std::string& path, FileSections* sections,
                             std::string* passed_over) {
  const SettingsText read = ReadTrustedSettings(path);
  *passed_over = read.passed_over;
  if (!read.fault.empty()) return read.fault;
  const toml::parse_result parsed = toml::parse(read.text);
  if (!parsed) {
    return path + ": line " + std::to_string(parsed.error().source().begin.line) + ": " +
           std::string(parsed.error().description()) + "; texts need quotation marks";
  }
  const auto add = [&](const std::string& section, const std::string& key,
                       const toml::node& value) {
    if (value.is_table()) {
      return path + ": '" + section + "." + key +
             "': sections are verbs ([run], [stats]) and cannot hold other sections";
    }
    std::string& text = (*sections)[section][key];
    if (!text.empty()) return path + ": '" + section + "." + key + "' is given twice";
    text = TextOf(value);
    return std::string();
  };
  std::string fault;
  for (const auto& [name, node] : parsed.table()) {
    const std::string section(name.str());
    if (!node.is_table() && fault.empty()) fault = add("run", section, node);
    if (!node.is_table()) continue;
    for (const auto& [key, value] : *node.as_table()) {
      // A rule of the advice has thresholds.
      const toml::table* const rule = section == kAdviceSection ? value.as_table() : nullptr;
      if (rule == nullptr && fault.empty()) fault = add(section, std::string(key.str()), value);
      if (rule == nullptr) continue;
      for (const auto& [limit, number] : *rule) {
        const std::string both = std::string(key.str()) + "." + std::string(limit.str());
        if (fault.empty()) fault = add(section, both, number);
      }
    }
  }
  return fault;
}

std::string FaultOfFileValue(const std::string& key, const std::string& value) {
  for (const CommandLineKey& each : kCommandLineKeys) {
    if (key != each.key) continue;
    return "this file may not " + std::string(each.what) + "; remove the line, and give --" + key +
           " on the command line";
  }
  for (const char* each : kKeysBelowHere) {
    if (key == each && !IsBelowHere(value))
      return "'" + value + "' is not below the working directory; give " +
             (key == "output" ? "-o" : "--" + key) + " on the command line";
  }
  int number = 0;
  if (key == "signal" && ParseSignal(value, &number).empty() && number != 0 && number != SIGUSR1 &&
      number != SIGUSR2 && number < SIGRTMIN) {
    return "from this file the signal is USR1, USR2, a real-time signal or none; give --signal on "
           "the command line";
  }
  return "";
}

}  // namespace gpuprof::launcher
