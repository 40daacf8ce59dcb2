// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/interpreter.h"

#include <dlfcn.h>

#include <atomic>

#include "tracer/base/loaded_library.h"

namespace gpuprof::tracer {
namespace {

// The program itself exports the interpreter, or a library does that came with it, or one that was
// loaded for itself alone.
void* HandleOfPython() {
  if (dlsym(RTLD_DEFAULT, "_PyRuntime") != nullptr) return RTLD_DEFAULT;
  static LoadedLibrary library;
  if (library.handle == nullptr && !FindLibrary("libpython3", &library)) return nullptr;
  return dlsym(library.handle, "_PyRuntime") != nullptr ? library.handle : nullptr;
}

// Reads "3.11.2 (main, ...)". 0: it is something else.
uint32_t VersionOf(const char* text) {
  if (text[0] != '3' || text[1] != '.') return 0;
  uint32_t minor = 0;
  for (text += 2; *text >= '0' && *text <= '9' && minor < 256; ++text)
    minor = minor * 10 + static_cast<uint32_t>(*text - '0');
  return 0x0300 | (minor & 0xff);
}

Interpreter g_python;
bool g_is_ready = false;
std::atomic<const char*> g_refusal{nullptr};

// Fills in what lies where. Returns why it cannot.
const char* Describe(void* handle, const void* runtime, Interpreter* found) {
  if (const auto* number = static_cast<const unsigned long*>(dlsym(handle, "Py_Version"))) {
    found->version = static_cast<uint32_t>(*number >> 16);
  } else if (const auto words =
                 reinterpret_cast<const char* (*)()>(dlsym(handle, "Py_GetVersion"))) {
    found->version = VersionOf(words());
  }
  found->handle = handle;
  found->runtime = reinterpret_cast<uint64_t>(runtime);
  found->code_type = reinterpret_cast<uint64_t>(dlsym(handle, "PyCode_Type"));
  if (found->code_type == 0)
    return "no Python samples: the interpreter does not export PyCode_Type";
  return LayoutOf(found->version, static_cast<const uint8_t*>(runtime), &found->layout);
}

}  // namespace

PythonFound FindInterpreter(const Interpreter** found) {
  *found = &g_python;
  if (g_is_ready) return PythonFound::kReady;
  if (g_refusal.load() != nullptr) return PythonFound::kUnknown;
  void* const handle = HandleOfPython();
  // RTLD_DEFAULT is a null pointer.
  const void* const runtime = dlsym(handle, "_PyRuntime");
  if (runtime == nullptr) return PythonFound::kNone;
  const auto is_initialized = reinterpret_cast<int (*)()>(dlsym(handle, "Py_IsInitialized"));
  if (is_initialized == nullptr || is_initialized() == 0) return PythonFound::kBegins;
  g_refusal.store(Describe(handle, runtime, &g_python));
  g_is_ready = g_refusal.load() == nullptr;
  return g_is_ready ? PythonFound::kReady : PythonFound::kUnknown;
}

const char* InterpreterRefusal() { return g_refusal.load(); }

}  // namespace gpuprof::tracer
