// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See program.h.

#include "launcher/record/program.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "launcher/base/values.h"
#include "launcher/record/elf_file.h"
#include "proto/contract.h"
#include "proto/job_launchers.h"

namespace gpuprof::launcher {
namespace {

constexpr int kMostInterpreters = 5;  // the kernel follows as many `#!` lines
constexpr char kDefaultPath[] = "/bin:/usr/bin";

std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

bool IsRunnable(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string Resolve(const std::string& command, const char* search_path, bool* found) {
  *found = false;
  if (command.empty()) return "";
  if (command.find('/') != std::string::npos) {
    *found = access(command.c_str(), F_OK) == 0;
    return command;
  }
  std::string first_found;
  for (const std::string& folder :
       Split(search_path == nullptr ? kDefaultPath : search_path, ':')) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + command;
    struct stat info;
    if (IsRunnable(path)) {
      *found = true;
      return path;
    }
    if (first_found.empty() && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      first_found = path;
  }
  *found = !first_found.empty();
  return first_found;
}

// The words of a `#!` line: the interpreter and at most one argument, as the kernel splits them.
std::vector<std::string> ScriptLine(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[256] = {};
  file.read(start, sizeof start - 1);
  if (file.gcount() < 3 || start[0] != '#' || start[1] != '!') return {};
  std::string line(start + 2, static_cast<size_t>(file.gcount()) - 2);
  line = line.substr(0, line.find('\n'));
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  const size_t end = line.find_first_of(" \t\r", begin);
  std::vector<std::string> words = {
      line.substr(begin, end == std::string::npos ? end : end - begin)};
  const size_t rest = end == std::string::npos ? end : line.find_first_not_of(" \t\r", end);
  if (rest != std::string::npos)
    words.push_back(line.substr(rest, line.find_last_not_of(" \t\r") + 1 - rest));
  return words;
}

// The program that `env [-S] [NAME=value...] PROGRAM` starts.
std::string ProgramOfEnv(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    for (const std::string& word : Split(argument, ' ')) {
      if (word.empty() || word[0] == '-' || word.find('=') != std::string::npos) continue;
      return word;
    }
  }
  return "";
}

// Follows scripts and `env` to the file that the dynamic loader will load.
std::string FindBinary(std::string path, std::vector<std::string> arguments,
                       const char* search_path) {
  for (int i = 0; i < kMostInterpreters; ++i) {
    const std::vector<std::string> script = ScriptLine(path);
    if (!script.empty()) {
      path = script[0];
      arguments.assign(script.begin() + 1, script.end());
    }
    if (BaseName(path) == "env") {
      bool found = false;
      const std::string next = Resolve(ProgramOfEnv(arguments), search_path, &found);
      if (!found) return path;
      path = next;
      arguments.clear();
      continue;
    }
    if (script.empty()) return path;
  }
  return path;
}

// A loader run as a program: a library that needs no loader itself.
bool IsLoader(const ElfFile& elf) { return elf.interpreter.empty() && !elf.library_name.empty(); }

// The program that `ld.so [OPTION...] PROGRAM` loads. It is what needs a sanitizer's runtime.
std::string ProgramOfLoader(const std::vector<std::string>& arguments) {
  // glibc's options whose value is the next word.
  const std::vector<std::string> with_value = {
      "--argv0",         "--audit",   "--glibc-hwcaps-mask", "--glibc-hwcaps-prepend",
      "--inhibit-rpath", "--preload", "--library-path"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].compare(0, 2, "--") != 0) return arguments[i];
    if (std::find(with_value.begin(), with_value.end(), arguments[i]) != with_value.end()) ++i;
  }
  return "";
}

std::string WhyNoPreload(const std::string& binary, const ElfFile& elf, bool* harmless) {
  struct stat info;
  const std::string name = "'" + binary + "' ";
  if (!elf.is_elf) return "";
  // These loaders would complain about the object, or refuse to start the program.
  const std::string loader = IsLoader(elf) ? BaseName(binary) : elf.interpreter;
  const bool is_musl = loader.find("ld-musl") != std::string::npos ||
                       elf.library_name.find("libc.musl") != std::string::npos;
  *harmless = elf.is_64_bit && elf.machine == OwnMachine() && !is_musl;
  if (!elf.is_64_bit || elf.machine != OwnMachine()) {
    return name +
           "is built for another kind of machine than gpuprof's objects. It runs unrecorded; use a "
           "gpuprof built for that machine";
  }
  if (loader.empty()) {
    return name +
           "is linked statically and cannot be recorded. The programs it starts can be; link it "
           "dynamically (without -static)";
  }
  if (is_musl) {
    return name + "uses musl (" + loader +
           "), but gpuprof's objects need glibc. It runs unrecorded; build it for a glibc system";
  }
  if (elf.has_intolerant_sanitizer) {
    *harmless = false;
    return name +
           "is built with a sanitizer that fails if a library comes before it. It runs unrecorded; "
           "build it without -fsanitize=memory, leak or hwaddress";
  }
  const bool stat_known = stat(binary.c_str(), &info) == 0;
  const bool changes_user = stat_known && (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool changes_group = stat_known && (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  const bool gains =
      getuid() != 0 && getxattr(binary.c_str(), "security.capability", nullptr, 0) > 0;
  if (changes_user || changes_group || gains) {
    const char* what = changes_user    ? "setuid"
                       : changes_group ? "setgid"
                                       : "marked with file capabilities";
    return name + "is " + what +
           ", so the system ignores LD_PRELOAD for it. It runs unrecorded; run the programs it "
           "starts under gpuprof instead";
  }
  return "";
}

std::string SanitizerOf(const ElfFile& elf) {
  for (const std::string& needed : elf.needed) {
    const bool asan = needed.compare(0, 10, "libasan.so") == 0 ||
                      needed.compare(0, 19, "libclang_rt.asan-x8") == 0 ||
                      needed.compare(0, 20, "libclang_rt.asan-aar") == 0 ||
                      needed == "libclang_rt.asan.so";
    if (!asan) continue;
    for (const std::string& folder : elf.search_path) {
      const std::string path = folder + "/" + needed;
      if (access(path.c_str(), R_OK) == 0) return path;
    }
    return needed;  // the loader knows where
  }
  return "";
}

// gcc-12 and x86_64-linux-gnu-g++-12 are gcc and g++; as the injected object reduces names.
std::string ReducedName(std::string name) {
  const size_t cut = name.find_last_not_of("0123456789.");
  const bool number =
      cut != std::string::npos && cut > 0 && cut + 1 < name.size() && name[cut] == '-';
  if (number) name.resize(cut);
  size_t triplet = 0;
  for (int dashes = 0; dashes < 3; ++dashes) {
    const size_t dash = name.find('-', triplet);
    if (dash == std::string::npos || dash + 1 >= name.size()) return name;
    triplet = dash + 1;
  }
  return name.substr(triplet);
}

bool Contains(const std::vector<std::string>& names, const std::string& name,
              const std::string& reduced) {
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(names.begin(), names.end(), reduced) != names.end();
}

}  // namespace

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

namespace {

std::string ScriptOf(const Program& program, const std::vector<std::string>& arguments) {
  if (!proto::RunsScripts(BaseName(program.binary).c_str())) return "";
  if (!ScriptLine(program.path).empty()) return BaseName(program.path);
  std::string words(1, '\0');
  for (const std::string& argument : arguments) words.append(argument.c_str(), argument.size() + 1);
  const char* script = proto::ScriptOf(words.data(), words.size());
  return script == nullptr ? "" : script;
}

}  // namespace

Program FindProgram(const std::string& command, const std::vector<std::string>& arguments,
                    const char* search_path) {
  Program program;
  program.path = Resolve(command, search_path, &program.found);
  if (!program.found) return program;
  program.executable = IsRunnable(program.path);
  if (!program.executable) return program;
  // Behind links, as the kernel names it: the injected object goes by that name.
  program.binary = RealPath(FindBinary(program.path, arguments, search_path));
  program.script = ScriptOf(program, arguments);
  ElfFile elf;
  if (!ReadElf(program.binary, &elf).empty())
    return program;  // execute-only: nothing is known against it
  program.cannot_preload = WhyNoPreload(program.binary, elf, &program.preload_is_harmless);
  ElfFile behind;
  const bool is_loader = IsLoader(elf) && ReadElf(ProgramOfLoader(arguments), &behind).empty();
  program.sanitizer = SanitizerOf(is_loader ? behind : elf);
  return program;
}

bool IsExcludedByName(const std::string& base_name, const std::vector<std::string>& include,
                      const std::vector<std::string>& exclude) {
  const std::string reduced = ReducedName(base_name);
  if (Contains(include, base_name, reduced)) return false;
  if (Contains(exclude, base_name, reduced)) return true;
  for (const char* name = proto::kExcludedPrograms; *name != 0; name += std::strlen(name) + 1) {
    if (base_name == name || reduced == name) return true;
  }
  return proto::IsJobLauncher(base_name.c_str());
}

}  // namespace gpuprof::launcher
