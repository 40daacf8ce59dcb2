// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See doctor_checks.h.

#include "launcher/doctor/doctor_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/doctor/container.h"
#include "launcher/doctor/doctor_cuda.h"
#include "launcher/doctor/installation.h"
#include "launcher/record/child.h"
#include "launcher/record/objects.h"
#include "launcher/record/plain_path.h"
#include "launcher/record/program.h"
#include "proto/codec/open_regular.h"
#include "proto/contract.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

using Level = Check::Level;

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string LineStarting(const std::string& path, const std::string& start) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, start.size(), start) == 0) return line.substr(start.size());
  }
  return "";
}

// Runs a program with `changes` and its output in `text`. The wait status, or -1. The program
// stands in /: interpreters and the loader look for code in their working directory, and the user's
// may be another user's.
int RunProbe(const std::vector<std::string>& command, const Variables& changes, std::string* text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  std::vector<std::string> entries = ChangedEnvironment(environ, changes);
  std::vector<char*> arguments, variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (std::string& entry : entries) variables.push_back(entry.data());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  // doctor has one thread, so nobody else sees the change. Old C libraries cannot do it in the
  // child.
  const codec::OwnedFile here(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  pid_t child = -1;
  int error = chdir("/") == 0 ? 0 : errno;
  if (error == 0)
    error =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  // A folder that was removed meanwhile is not needed any more.
  if (here.fd() >= 0 && fchdir(here.fd()) != 0) errno = 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got; error == 0 && ((got = read(ends[0], buffer, sizeof buffer)) > 0 ||
                                   (got < 0 && errno == EINTR));) {
    if (got > 0) text->append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = -1;
  if (error != 0 || waitpid(child, &status, 0) != child) return -1;
  return status;
}

// Loads one object into a program that does nothing, with recording off: the loader's own words say
// what is wrong with it.
Check CheckObject(const char* name, const std::string& path) {
  std::string output;
  std::string loadable = path;
  if (!IsPlain(path)) {
    const size_t slash = path.rfind('/');
    const std::string folder = PlainPathTo(path.substr(0, slash), &output);
    if (folder.empty()) return {name, Level::kFail, output, "install gpuprof at another path"};
    loadable = folder + path.substr(slash);
  }
  const int status =
      RunProbe({"/bin/true"},
               {{"LD_PRELOAD", loadable}, {"LD_BIND_NOW", "1"}, {proto::kEnvBundle, ""}}, &output);
  if (status == 0 && output.empty()) return {name, Level::kOk, path, ""};
  const std::string words = output.empty()
                                ? "the probe ended with wait status " + std::to_string(status)
                                : output.substr(0, output.find('\n'));
  return {name, Level::kFail, path + " does not load: " + words,
          "install the gpuprof that was built for this system"};
}

void CheckObjects(const std::vector<Setting>& settings, std::vector<Check>* checks) {
  const Objects objects = FindObjects(settings);
  if (!objects.error.empty()) {
    checks->push_back(
        {"objects", Level::kFail, objects.error,
         "install gpuprof as a whole (cmake --install), or set GPUPROF_INJECT and GPUPROF_TRACER"});
    return;
  }
  if (const std::string why = WhyUnloadable(objects); !why.empty()) {
    const size_t fix = why.find("; ");
    checks->push_back({"objects", Level::kFail, why.substr(0, fix),
                       fix == std::string::npos ? "check its permissions" : why.substr(fix + 2)});
    return;
  }
  checks->push_back(CheckObject("inject object", objects.inject));
  checks->push_back(CheckObject("tracer object", objects.tracer));
}

Check CheckSystem() {
  utsname system = {};
  uname(&system);
  const std::string libc = gnu_get_libc_version();
  Check check{"system", Level::kOk,
              std::string(system.sysname) + " " + system.release + ", " + system.machine +
                  ", glibc " + libc,
              ""};
  const std::vector<std::string> parts = Split(libc, '.');
  const bool old = parts.size() > 1 && parts[0] == "2" && std::atoi(parts[1].c_str()) < 28;
  const std::vector<std::string> kernel = Split(system.release, '.');
  const bool old_kernel =
      kernel.size() > 1 &&
      (std::atoi(kernel[0].c_str()) < 4 || (kernel[0] == "4" && std::atoi(kernel[1].c_str()) < 14));
  if (old || old_kernel) {
    check.level = Level::kFail;
    check.fix = "recording needs glibc 2.28 and Linux 4.14, or newer";
  }
  return check;
}

Check CheckRuntimeFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string tried;
  for (const std::string& folder :
       {std::string(runtime == nullptr ? "" : runtime), std::string("/tmp")}) {
    if (folder.empty()) continue;
    if (access(folder.c_str(), W_OK | X_OK) == 0) {
      return {"control sockets", Level::kOk,
              folder + "/" + proto::kSocketFolder + std::to_string(geteuid()), ""};
    }
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  return {"control sockets", Level::kWarn,
          "not writable: " + tried + "; abstract socket names are used",
          "set XDG_RUNTIME_DIR to a directory you own, so that 'gpuprof ctl' works across network "
          "namespaces"};
}

Check CheckDisk() {
  struct statvfs info;
  char here[4096];
  const std::string folder = getcwd(here, sizeof here) == nullptr ? "." : here;
  if (access(".", W_OK) != 0) {
    return {"working directory", Level::kWarn, folder + " is not writable",
            "name bundles elsewhere with -o DIR"};
  }
  if (statvfs(".", &info) != 0) {
    return {"working directory", Level::kWarn, folder + ": " + strerror(errno),
            "name bundles elsewhere with -o DIR"};
  }
  const uint64_t bytes = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  const std::string found = folder + ", " + FormatBytes(bytes) + " free";
  if (bytes < (uint64_t{256} << 20)) {
    return {"working directory", Level::kWarn, found,
            "free some space, or name bundles elsewhere with -o DIR"};
  }
  return {"working directory", Level::kOk, found, ""};
}

std::string FindBelow(const std::string& folder, const std::string& file) {
  return access((folder + "/" + file).c_str(), R_OK) == 0 ? folder + "/" + file : "";
}

// Where the python on PATH keeps torch, asked of the interpreter without importing torch.
Check CheckTorch() {
  constexpr char kQuestion[] =
      "import importlib.util as u; s = u.find_spec('torch'); "
      "print(list(s.submodule_search_locations)[0] if s and s.submodule_search_locations else '')";
  for (const char* python : {"python3", "python"}) {
    std::string output;
    if (RunProbe({python, "-c", kQuestion}, {{"LD_PRELOAD", ""}}, &output) != 0) continue;
    const std::string folder = output.substr(0, output.find('\n'));
    if (folder.empty()) {
      return {"PyTorch", Level::kInfo,
              std::string("none in the ") + python +
                  " on PATH; programs that have PyTorch have its ops recorded",
              ""};
    }
    const std::string version = LineStarting(folder + "/version.py", "__version__ = ");
    if (FindBelow(folder, "lib/libtorch_cpu.so").empty()) {
      return {"PyTorch", Level::kWarn, folder + " has no lib/libtorch_cpu.so",
              "install PyTorch from its public wheels to have its ops recorded"};
    }
    return {"PyTorch", Level::kOk, (version.empty() ? "" : version + " in ") + folder, ""};
  }
  return {"PyTorch", Level::kInfo, "no python on PATH", ""};
}

Check CheckPreload(const Variables& environment) {
  const auto found = environment.find("LD_PRELOAD");
  if (found == environment.end() || found->second.empty())
    return {"LD_PRELOAD", Level::kOk, "empty", ""};
  return {"LD_PRELOAD", Level::kInfo,
          found->second + "; 'gpuprof run' puts its object in front of these", ""};
}

}  // namespace

Check CheckClocksource(const std::string& current, const std::string& cpu_flags) {
  const std::string flags = " " + cpu_flags + " ";
  const bool steady = flags.find(" constant_tsc ") != std::string::npos &&
                      flags.find(" nonstop_tsc ") != std::string::npos;
  if (current == "tsc" && steady)
    return {"clock", Level::kOk, "the time-stamp counter is steady and the kernel uses it", ""};
  if (current == "arch_sys_counter") return {"clock", Level::kOk, "the architecture's counter", ""};
  const std::string why =
      steady ? "the kernel's clock source is " + (current.empty() ? "unknown" : current)
             : "the time-stamp counter is not steady";
  return {"clock", Level::kWarn,
          why +
              ": --clock=auto checks the counter itself and may use CLOCK_MONOTONIC (about 20 ns "
              "more per event)",
          "no action is needed; on bare metal, boot with tsc=reliable if the counter is known to "
          "be good"};
}

Check CheckSignal(const Variables& environment, const std::string& signal) {
  int number = 0;
  ParseSignal(signal, &number);
  if (number == 0)
    return {"signal", Level::kOk, "none; captures are toggled with 'gpuprof ctl'", ""};
  const std::string name =
      "SIG" +
      std::string(sigabbrev_np(number) == nullptr ? std::to_string(number) : sigabbrev_np(number));
  const bool slurm = environment.count("SLURM_JOB_ID") != 0;
  if (slurm && (number == SIGUSR1 || number == SIGUSR2)) {
    return {"signal", Level::kWarn,
            name +
                " toggles captures, and this is a Slurm job: 'sbatch --signal' and requeueing "
                "trainers send it too",
            "choose --signal=none and use 'gpuprof ctl', or another number"};
  }
  struct sigaction here = {};
  if (sigaction(number, nullptr, &here) == 0 && here.sa_handler == SIG_IGN) {
    return {"signal", Level::kWarn,
            name +
                " is ignored here, and programs started from here inherit this; the signal toggles "
                "no capture in a program that keeps ignoring it",
            "use 'gpuprof ctl', or choose another with --signal"};
  }
  return {"signal", Level::kOk,
          name +
              " toggles captures; a program's own handler still runs, and a program that ignores "
              "the signal keeps ignoring it",
          ""};
}

Check CheckVariables(const Variables& environment) {
  const std::vector<std::string> unknown = UnknownVariables(environment);
  if (unknown.empty()) return {"GPUPROF_* variables", Level::kOk, "all known", ""};
  return {"GPUPROF_* variables", Level::kFail, unknown.front(), "correct or unset it"};
}

std::vector<Check> RunChecks(const std::vector<Setting>& settings, const Variables& environment) {
  const char* path = std::getenv("PATH");
  std::vector<Check> checks = {CheckInstallation(OwnPath(), path == nullptr ? "" : path)};
  checks.push_back(CheckSystem());
  CheckObjects(settings, &checks);
  checks.push_back(CheckVariables(environment));
  checks.push_back(CheckPreload(environment));
  checks.push_back(
      CheckClocksource(ReadLine("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
                       LineStarting("/proc/cpuinfo", "flags\t\t: ")));
  checks.push_back(CheckSignal(environment, FindSetting(settings, proto::kEnvSignal).value));
  checks.push_back(CheckRuntimeFolder());
  checks.push_back(CheckDisk());
  for (Check& check : ContainerChecks(ReadContainerFacts())) checks.push_back(std::move(check));
  checks.push_back(CheckTorch());
  for (Check& check : CudaChecks(environment)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace gpuprof::launcher
