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
#define GPUPROF_PYTHON_RESOLVE(member, symbol, result, arguments) \
  python->member = reinterpret_cast<decltype(python->member)>(dlsym(handle, #symbol));
  GPUPROF_PYTHON_EXTRAS(GPUPROF_PYTHON_RESOLVE)
#undef GPUPROF_PYTHON_RESOLVE
  python->none = static_cast<PyObject*>(dlsym(handle, "_Py_NoneStruct"));
  python->type_error = static_cast<PyObject**>(dlsym(handle, "PyExc_TypeError"));
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

bool Python::Does(PyObject* object, const char* name, PyObject* first, PyObject* second,
                  PyObject* third) const {
  PyObject* const method = attribute(object, name);
  PyObject* const given[] = {first, second, third};
  ptrdiff_t count = 0;
  while (count < 3 && given[count] != nullptr) ++count;
  PyObject* const arguments = new_tuple(count);
  PyObject* result = nullptr;
  if (arguments == nullptr) {
    for (PyObject* each : given) Drop(each);
  } else {
    for (ptrdiff_t i = 0; i < count; ++i) set_tuple(arguments, i, given[i]);
    if (method != nullptr && count != 0) result = call(method, arguments, nullptr);
  }
  Drop(arguments);
  Drop(method);
  const bool is_done = result != nullptr;
  Drop(result);
  clear_error();
  return is_done;
}

PyObject* Python::Member(const char* module_name, const char* name) const {
  PyObject* const module = import(module_name);
  PyObject* const value = module != nullptr ? attribute(module, name) : nullptr;
  Drop(module);
  if (value == nullptr) clear_error();
  return value;
}

const Python* FindPython() {
  if (!is_found) is_found = Resolve(LibraryOfPython(), &found);
  return is_found ? &found : nullptr;
}

}  // namespace gpuprof::tracer
