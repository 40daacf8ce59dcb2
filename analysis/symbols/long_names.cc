// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See long_names.h. libstdc++'s demangler is GCC's cp-demangle.c, which refuses names of more than
// 1024 characters; GNU libiberty is the same file with a switch for that limit, so that long names
// read as short ones do. Its licence lets the object be linked into any program, and it needs no
// other object of libiberty. (LLVM's demangler comes with packages of 270 MB, and has no limit on
// its recursion.)

#include "analysis/symbols/long_names.h"

#include <pthread.h>

#include <cstdlib>
#include <memory>

// Else its header declares `basename` again, and in another way than glibc.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

namespace gpuprof::analysis {
namespace {

// Names are whatever a file holds. All that the demangler keeps is on the stack: for a name of n
// characters up to 216 n bytes (measured) where it parses, and where it prints 16 for each pair of
// a reference (of 3 characters or more) and a template (2 or more), each of which it counts twice
// at most. That is 8/3 n^2, 171 MiB here. Only what is used of it becomes memory.
constexpr size_t kMostCharacters = 8 * 1024;
constexpr size_t kStackBytes = size_t{256} << 20;

struct Call {
  const char* mangled;
  std::unique_ptr<char, void (*)(void*)> text;
};

void* RunCall(void* argument) {
  Call* call = static_cast<Call*>(argument);
  call->text.reset(cplus_demangle_v3(call->mangled, DMGL_PARAMS | DMGL_NO_RECURSE_LIMIT));
  return nullptr;
}

// On a thread of its own: how much of a stack the caller has left is not known.
bool RunOnLargeStack(Call* call) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool is_started = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                          pthread_create(&thread, &attributes, RunCall, call) == 0;
  pthread_attr_destroy(&attributes);
  return is_started && pthread_join(thread, nullptr) == 0;
}

}  // namespace

std::string DemangleLong(const std::string& mangled) {
  if (mangled.size() > kMostCharacters) return "";
  Call call = {mangled.c_str(), {nullptr, std::free}};
  return RunOnLargeStack(&call) && call.text != nullptr ? call.text.get() : "";
}

}  // namespace gpuprof::analysis
