// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cxx_names.h. libstdc++'s demangler is GCC's cp-demangle.c, which refuses names of more than
// 1024 characters and returns as much text as there is; GNU libiberty is the same file with a
// switch for that limit, and hands the text over as it comes. Its licence lets the object be linked
// into any program, and it needs no other object of libiberty. (LLVM's demangler comes with
// packages of 270 MB, and has no limit on its recursion.)

#include "analysis/symbols/cxx_names.h"

#include <pthread.h>

#include <csetjmp>
#include <string>
#include <utility>

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

// By the same figures 220 KiB, which a thread has.
constexpr size_t kShortCharacters = 256;
// The longest of CUTLASS's has 5,123 characters.
constexpr size_t kMostText = size_t{1} << 20;

struct Call {
  const char* mangled;
  int options;
  std::string text;
  bool is_whole = false;
  std::jmp_buf enough;
};

// Nothing in the demangler's frames below has to be released.
void TakeText(const char* text, size_t bytes, void* argument) {
  Call* call = static_cast<Call*>(argument);
  if (call->text.size() + bytes > kMostText) std::longjmp(call->enough, 1);
  call->text.append(text, bytes);
}

void* RunCall(void* argument) {
  Call* call = static_cast<Call*>(argument);
  if (setjmp(call->enough) == 0)
    call->is_whole = cplus_demangle_v3_callback(call->mangled, call->options, TakeText, call) != 0;
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

std::string DemangleCxx(const std::string& mangled) {
  if (mangled.size() > kMostCharacters) return "";
  Call call;
  call.mangled = mangled.c_str();
  call.options = DMGL_PARAMS | DMGL_NO_RECURSE_LIMIT;
  if (mangled.size() <= kShortCharacters) {
    RunCall(&call);
  } else if (!RunOnLargeStack(&call)) {
    return "";
  }
  return call.is_whole ? std::move(call.text) : "";
}

}  // namespace gpuprof::analysis
