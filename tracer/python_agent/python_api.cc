// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See python_api.h.

#include "tracer/python_agent/python_api.h"

#include <dlfcn.h>

#include "tracer/base/loaded_library.h"

namespace gpuprof::tracer {
namespace {

constinit Python found = {};
constinit bool is_found = false;

// A program that embeds CPython may have loaded it for itself alone.
void* LibraryOfPython() {
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) return RTLD_DEFAULT;
  static LoadedLibrary library;
  return FindLibrary("libpython3", &library) ? library.handle : nullptr;
}

bool Resolve(void* handle, Python* python) {
  bool is_whole = true;
#define GPUPROF_PYTHON_RESOLVE(member, symbol, result, arguments)                      \
  python->member = reinterpret_cast<decltype(python->member)>(dlsym(handle, #symbol)); \
  is_whole &= python->member != nullptr;
  GPUPROF_PYTHON_FUNCTIONS(GPUPROF_PYTHON_RESOLVE)
#undef GPUPROF_PYTHON_RESOLVE
  python->none = static_cast<PyObject*>(dlsym(handle, "_Py_NoneStruct"));
  return is_whole && python->none != nullptr;
}

}  // namespace

PyObject* Python::CallWith(PyObject* callable, PyObject* argument) const {
  PyObject* const arguments = new_tuple(argument != nullptr ? 1 : 0);
  if (arguments == nullptr) return nullptr;
  if (argument != nullptr) set_tuple(arguments, 0, Kept(argument));
  PyObject* const result = call(callable, arguments, nullptr);
  decrement(arguments);
  return result;
}

PyObject* Python::CallMethod(PyObject* object, const char* name) const {
  PyObject* const method = attribute(object, name);
  if (method == nullptr) return nullptr;
  PyObject* const result = CallWith(method, nullptr);
  decrement(method);
  return result;
}

const Python* FindPython() {
  if (!is_found) is_found = Resolve(LibraryOfPython(), &found);
  return is_found ? &found : nullptr;
}

}  // namespace gpuprof::tracer
