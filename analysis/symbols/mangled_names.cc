// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See mangled_names.h. libstdc++'s demangler is GCC's cp-demangle.c, which refuses names of more
// than 1024 characters and returns as much text as there is; GNU libiberty is the same file with a
// switch for that limit, and hands the text over as it comes. Its licence lets the object be linked
// into any program, and it needs no other object of libiberty. (LLVM's demangler comes with
// packages of 270 MB, and has no limit on its recursion.)

#include "analysis/symbols/mangled_names.h"

#include <pthread.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <string_view>
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

// cplus_demangle_v3_callback or rust_demangle_callback.
using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

struct Call {
  Demangler demangle;
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
    call->is_whole = call->demangle(call->mangled, call->options, TakeText, call) != 0;
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

std::string Run(Demangler demangle, const std::string& mangled, int options) {
  Call call;
  call.demangle = demangle;
  call.mangled = mangled.c_str();
  call.options = options;
  if (mangled.size() <= kShortCharacters) {
    RunCall(&call);
  } else if (!RunOnLargeStack(&call)) {
    return "";
  }
  return call.is_whole ? std::move(call.text) : "";
}

std::string WithoutLlvmSuffix(const std::string& mangled) {
  constexpr std::string_view kSuffix = ".llvm.";
  const size_t at = mangled.rfind(kSuffix);
  if (at == std::string::npos) return mangled;
  const size_t digits = at + kSuffix.size();
  const bool is_suffix = digits < mangled.size() &&
                         mangled.find_first_not_of("0123456789", digits) == std::string::npos;
  return is_suffix ? mangled.substr(0, at) : mangled;
}

}  // namespace

std::string DemangleName(const std::string& mangled) {
  if (mangled.size() > kMostCharacters) return "";
  const std::string name = WithoutLlvmSuffix(mangled);
  // The legacy names of Rust are valid names of C++ too, with a hash for their last part.
  std::string found = Run(rust_demangle_callback, name, 0);
  if (found.empty() && name.compare(0, 2, "_Z") == 0)
    found = Run(cplus_demangle_v3_callback, name, DMGL_PARAMS | DMGL_NO_RECURSE_LIMIT);
  return found;
}

std::string Demangle(const char* name) {
  // A symbol's version, as some tables carry it behind the name: "main@@VERSION".
  const std::string plain(name, std::strcspn(name, "@"));
  if (plain.compare(0, 2, "_Z") != 0 && plain.compare(0, 2, "_R") != 0) return plain;
  const std::string found = DemangleName(plain);
  return found.empty() ? plain : found;
}

}  // namespace gpuprof::analysis
