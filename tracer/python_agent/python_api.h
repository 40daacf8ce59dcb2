// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CPython's functions, as the program has them: of its libpython, or of its executable. All of them
// are part of the stable interface of CPython 3.2 and later, and none needs a layout of Python's.
//
// FindPython: control thread, which may wait for the loader's lock. What it returns is called by
// threads that have CPython's global interpreter lock.

#pragma once

#include <cstddef>

namespace gpuprof::tracer {

struct PyObject;  // CPython's; never looked into

using PyFunction = PyObject* (*)(PyObject* self, PyObject* arguments);
using PyKeywordFunction = PyObject* (*)(PyObject* self, PyObject* arguments, PyObject* keywords);

// CPython's PyMethodDef.
struct PyMethod {
  const char* name;
  void* function;
  int flags;
  const char* doc;
};
using PyFastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, ptrdiff_t count);
// METH_VARARGS, METH_KEYWORDS, METH_FASTCALL
inline constexpr int kPyArguments = 1, kPyKeywords = 2, kPyFast = 0x80;

// X(member, symbol, type of the result, types of the arguments)
#define GPUPROF_PYTHON_FUNCTIONS(X)                                                  \
  X(is_initialized, Py_IsInitialized, int, (void))                                   \
  X(ensure, PyGILState_Ensure, int, (void))                                          \
  X(release, PyGILState_Release, void, (int))                                        \
  X(save_thread, PyEval_SaveThread, void*, (void))                                   \
  X(restore_thread, PyEval_RestoreThread, void, (void*))                             \
  X(increment, Py_IncRef, void, (PyObject*))                                         \
  X(decrement, Py_DecRef, void, (PyObject*))                                         \
  X(modules, PyImport_GetModuleDict, PyObject*, (void))                              \
  X(import, PyImport_ImportModule, PyObject*, (const char*))                         \
  X(item, PyDict_GetItemString, PyObject*, (PyObject*, const char*))                 \
  X(new_dict, PyDict_New, PyObject*, (void))                                         \
  X(set_item, PyDict_SetItemString, int, (PyObject*, const char*, PyObject*))        \
  X(attribute, PyObject_GetAttrString, PyObject*, (PyObject*, const char*))          \
  X(set_attribute, PyObject_SetAttrString, int, (PyObject*, const char*, PyObject*)) \
  X(call, PyObject_Call, PyObject*, (PyObject*, PyObject*, PyObject*))               \
  X(type_of, PyObject_Type, PyObject*, (PyObject*))                                  \
  X(new_tuple, PyTuple_New, PyObject*, (ptrdiff_t))                                  \
  X(set_tuple, PyTuple_SetItem, int, (PyObject*, ptrdiff_t, PyObject*))              \
  X(get_tuple, PyTuple_GetItem, PyObject*, (PyObject*, ptrdiff_t))                   \
  X(new_long, PyLong_FromLong, PyObject*, (long))                                    \
  X(new_bool, PyBool_FromLong, PyObject*, (long))                                    \
  X(as_long, PyLong_AsLong, long, (PyObject*))                                       \
  X(new_text, PyUnicode_FromString, PyObject*, (const char*))                        \
  X(text, PyUnicode_AsUTF8, const char*, (PyObject*))                                \
  X(bytes, PyBytes_AsStringAndSize, int, (PyObject*, char**, ptrdiff_t*))            \
  X(new_function, PyCFunction_NewEx, PyObject*, (PyMethod*, PyObject*, PyObject*))   \
  X(new_method, PyInstanceMethod_New, PyObject*, (PyObject*))                        \
  X(error, PyErr_Occurred, PyObject*, (void))                                        \
  X(clear_error, PyErr_Clear, void, (void))                                          \
  X(fetch_error, PyErr_Fetch, void, (PyObject**, PyObject**, PyObject**))            \
  X(restore_error, PyErr_Restore, void, (PyObject*, PyObject*, PyObject*))

struct Python {
#define GPUPROF_PYTHON_MEMBER(member, symbol, result, arguments) result(*member) arguments;
  GPUPROF_PYTHON_FUNCTIONS(GPUPROF_PYTHON_MEMBER)
#undef GPUPROF_PYTHON_MEMBER
  PyObject* none;  // Py_None
  void* handle;    // of the library, for dlsym

  // Returns a function that some versions have; null: this one has not.
  void* Symbol(const char* name) const;
  // Returns a new reference.
  PyObject* Kept(PyObject* object) const {
    increment(object);
    return object;
  }
  // Gives a reference back, which may be null.
  void Drop(PyObject* object) const {
    if (object != nullptr) decrement(object);
  }
  // Calls with one argument, or with none if it is null. Null: it raised.
  PyObject* CallWith(PyObject* callable, PyObject* argument) const;
  // Calls a method without arguments. Null: it raised, or there is no such method.
  PyObject* CallMethod(PyObject* object, const char* name) const;
  // Calls a method with arguments, whose references it takes; one of them may be null, which is
  // what raised before. False: it raised, and the error is cleared.
  bool Does(PyObject* object, const char* name, PyObject* first, PyObject* second = nullptr,
            PyObject* third = nullptr) const;
  // Returns a new reference to an attribute of a module. Null: it has none; the error is cleared.
  PyObject* Member(const char* module, const char* name) const;
};

// Returns CPython's functions; null: the process has no CPython that this object can use. Looks
// once, and again only after it found nothing.
const Python* FindPython();

}  // namespace gpuprof::tracer
