// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See out_of_memory.h. A terminate handler, not a catch: where memory is gone there may be none for
// the exception either, and then no catch is reached. It stands behind every catch that there is.

#include "launcher/record/out_of_memory.h"

#include <cxxabi.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>

#include "launcher/base/text.h"
#include "launcher/record/bundle.h"
#include "launcher/record/child.h"

namespace gpuprof::launcher {
namespace {

std::terminate_handler g_before = nullptr;
pid_t g_owner = 0;
char** g_end = nullptr;      // behind the last argument
char** g_command = nullptr;  // its first word; null: not known yet, or the verb starts none
int g_status = kExitUnreadable;
BundleDirectory* g_bundle = nullptr;
std::atomic<int> g_times{0};

void Tell(const char* what, const char* name = "") {
  static char line[1024];
  const int length = snprintf(line, sizeof line, "gpuprof: %s%s", what, name);
  if (length <= 0) return;
  const size_t bytes = std::min<size_t>(static_cast<size_t>(length), sizeof line - 2);
  // A name can hold commands to the terminal. Telling them would take memory.
  std::replace_if(
      line, line + bytes, [](char c) { return c < ' ' || c > '~'; }, '?');
  line[bytes] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes + 1);
}

[[noreturn]] void RunUnrecorded() {
  Tell("there is not enough memory for gpuprof itself; the command runs unrecorded");
  execvp(g_command[0], g_command);
  const int error = errno;
  Tell("it cannot be run: ", strerrordesc_np(error));
  std::_Exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

// noexcept: what is thrown in here comes back to it, and the second time less is tried.
void End() noexcept {
  // An exception that there was no memory for has no type.
  const std::type_info* type = abi::__cxa_current_exception_type();
  const bool is_memory = type == nullptr || *type == typeid(std::bad_alloc);
  if (!is_memory || getpid() != g_owner) {
    // A process of our own beside the command may not become the command.
    if (g_before != nullptr) g_before();
    std::abort();
  }
  const int times = g_times.fetch_add(1);
  if (times > 2) std::_Exit(g_status);
  if (g_command == nullptr) {
    Tell(g_status == kExitOwnFailure
             ? "there is not enough memory for gpuprof itself. The command was not started"
             : "there is not enough memory; raise the limit (ulimit -v) or end other processes");
    std::_Exit(g_status);
  }
  if (WasStarted()) {
    Tell(
        "there is not enough memory to finish the recording; when more memory is free, run: "
        "gpuprof recover ",
        g_bundle->path().c_str());
    EndLikeStarted();
  }
  if (times == 0 && g_bundle != nullptr) g_bundle->RemoveIfUnused();
  RunUnrecorded();
}

}  // namespace

void PrepareForNoMemory(int argc, char** argv) {
  g_owner = getpid();
  g_end = argv + argc;
  if (argc > 1 && strcmp(argv[1], "run") == 0) {
    g_status = kExitOwnFailure;
    // Options and settings are not read yet, and there may be no memory for it.
    for (char** word = argv + 2; word + 1 < g_end && g_command == nullptr; ++word)
      if (strcmp(*word, "--") == 0) g_command = word + 1;
  }
  g_before = std::set_terminate(End);
}

void RunWithoutMemory(size_t words, BundleDirectory* bundle) {
  if (g_end == nullptr || words == 0) return;
  g_bundle = bundle;
  g_command = g_end - words;
}

}  // namespace gpuprof::launcher
