// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CPython's functions, as the program has them: of its libpython, or of its executable. Those that
// must be there are part of the stable interface of CPython 3.2 and later, and none needs a layout
// of Python's. The others some versions have.
//
// FindPython: a thread without CPython's global interpreter lock, as it may wait for the loader's.
// Whoever has the loader's lock may wait for CPython's. So all names are looked up there, once.
// What FindPython returns is called by threads that have CPython's lock.

#pragma once

#include <cstddef>

namespace gpuprof::tracer {

struct PyObject;  // CPython's; never looked into
struct PyThread;
struct PyInterpreter;

using PyProfile = int (*)(PyObject* self, PyObject* frame, int what, PyObject* argument);

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
  X(size, PyObject_Size, ptrdiff_t, (PyObject*))                                     \
  X(element, PySequence_GetItem, PyObject*, (PyObject*, ptrdiff_t))                  \
  X(next, PyDict_Next, int, (PyObject*, ptrdiff_t*, PyObject**, PyObject**))         \
  X(new_function, PyCFunction_NewEx, PyObject*, (PyMethod*, PyObject*, PyObject*))   \
  X(new_method, PyInstanceMethod_New, PyObject*, (PyObject*))                        \
  X(error, PyErr_Occurred, PyObject*, (void))                                        \
  X(clear_error, PyErr_Clear, void, (void))                                          \
  X(fetch_error, PyErr_Fetch, void, (PyObject**, PyObject**, PyObject**))            \
  X(restore_error, PyErr_Restore, void, (PyObject*, PyObject*, PyObject*))

// The same of functions that not all versions have: null where they are missing.
#define GPUPROF_PYTHON_EXTRAS(X)                                                 \
  X(is_finalizing, Py_IsFinalizing, int, (void))                                 \
  X(is_finalizing_before_3_13, _Py_IsFinalizing, int, (void))                    \
  X(globals, PyEval_GetGlobals, PyObject*, (void))                               \
  X(audit, PySys_Audit, int, (const char*, const char*, ...))                    \
  X(first_interpreter, PyInterpreterState_Head, PyInterpreter*, (void))          \
  X(next_interpreter, PyInterpreterState_Next, PyInterpreter*, (PyInterpreter*)) \
  X(main_interpreter, PyInterpreterState_Main, PyInterpreter*, (void))           \
  X(first_thread, PyInterpreterState_ThreadHead, PyThread*, (PyInterpreter*))    \
  X(next_thread, PyThreadState_Next, PyThread*, (PyThread*))                     \
  X(own_thread, PyGILState_GetThisThreadState, PyThread*, (void))                \
  X(current_thread, _PyThreadState_UncheckedGet, PyThread*, (void))              \
  X(set_profile, _PyEval_SetProfile, int, (PyThread*, PyProfile, PyObject*))     \
  X(code_of_frame, PyFrame_GetCode, PyObject*, (PyObject*))                      \
  X(new_type, PyType_FromSpec, PyObject*, (void*))                               \
  X(type_slot, PyType_GetSlot, void*, (PyObject*, int))                          \
  X(allocate, PyType_GenericAlloc, PyObject*, (PyObject*, ptrdiff_t))            \
  X(attribute_of, PyObject_GetAttr, PyObject*, (PyObject*, PyObject*))           \
  X(set_attribute_of, PyObject_SetAttr, int, (PyObject*, PyObject*, PyObject*))  \
  X(repr, PyObject_Repr, PyObject*, (PyObject*))                                 \
  X(hash, PyObject_Hash, ptrdiff_t, (PyObject*))                                 \
  X(compare, PyObject_RichCompare, PyObject*, (PyObject*, PyObject*, int))       \
  X(set_error, PyErr_SetString, void, (PyObject*, const char*))

struct Python {
#define GPUPROF_PYTHON_MEMBER(member, symbol, result, arguments) result(*member) arguments;
  GPUPROF_PYTHON_FUNCTIONS(GPUPROF_PYTHON_MEMBER)
  PyObject* none;         // Py_None
  PyObject** type_error;  // PyExc_TypeError, which is null before CPython is initialised
  GPUPROF_PYTHON_EXTRAS(GPUPROF_PYTHON_MEMBER)
#undef GPUPROF_PYTHON_MEMBER

  // Returns whether Python is coming to its end. Any thread, without the lock.
  bool IsFinalizing() const {
    const auto ask = is_finalizing != nullptr ? is_finalizing : is_finalizing_before_3_13;
    return ask != nullptr && ask() != 0;
  }
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
// once, and again only after it found nothing. One thread at a time.
const Python* FindPython();

}  // namespace gpuprof::tracer
