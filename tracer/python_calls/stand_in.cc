// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/stand_in.h"

#include <string.h>

#include "tracer/python_calls/call_recorder.h"

namespace gpuprof::tracer {
namespace {

// CPython's PyType_Slot and PyType_Spec.
struct Slot {
  int number;
  void* function;
};
struct Spec {
  const char* name;
  int bytes;
  int item_bytes;
  unsigned flags;
  Slot* slots;
};
// Py_tp_call and its like.
enum Number : int {
  kCallSlot = 50,
  kDeallocSlot = 52,
  kAttributeSlot = 58,
  kHashSlot = 59,
  kNewSlot = 65,
  kReprSlot = 66,
  kCompareSlot = 67,
  kSetAttributeSlot = 69,
  kFreeSlot = 74,
};
constexpr unsigned kHasVersionTag = 1u << 18;  // Py_TPFLAGS_DEFAULT
constexpr char kTypeName[] = "builtins.builtin_function_or_method";

struct State {
  const Python* python = nullptr;
  PyObject* type = nullptr;  // made once, and kept: the program may keep an object of it
  long place = 0;            // of the function, in an object
  void (*called)(uint64_t since) = nullptr;
};
constinit State g;

PyObject* Call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const uint64_t since = CallTicks();
  PyObject* const result = g.python->call(RealOfStandIn(self), arguments, keywords);
  if (result != nullptr) g.called(since);
  return result;
}

PyObject* Attribute(PyObject* self, PyObject* name) {
  return g.python->attribute_of(RealOfStandIn(self), name);
}

int SetAttribute(PyObject* self, PyObject* name, PyObject* value) {
  return g.python->set_attribute_of(RealOfStandIn(self), name, value);
}

PyObject* Repr(PyObject* self) { return g.python->repr(RealOfStandIn(self)); }

ptrdiff_t Hash(PyObject* self) { return g.python->hash(RealOfStandIn(self)); }

PyObject* Compare(PyObject* self, PyObject* other, int operation) {
  PyObject* const type = g.python->type_of(other);
  if (type == g.type) other = RealOfStandIn(other);
  g.python->Drop(type);
  return g.python->compare(RealOfStandIn(self), other, operation);
}

PyObject* New(PyObject*, PyObject*, PyObject*) {
  g.python->set_error(*g.python->type_error,
                      "cannot create 'builtin_function_or_method' instances");
  return nullptr;
}

void Dealloc(PyObject* self) {
  PyObject* const type = g.python->type_of(self);
  g.python->decrement(RealOfStandIn(self));
  reinterpret_cast<void (*)(void*)>(g.python->type_slot(type, kFreeSlot))(self);
  g.python->decrement(type);  // that of type_of()
  g.python->decrement(type);  // that of the object
}

template <typename Function>
void* Address(Function* function) {
  return reinterpret_cast<void*>(function);
}

bool HasAll(const Python& python) {
  return python.new_type != nullptr && python.type_slot != nullptr && python.allocate != nullptr &&
         python.attribute_of != nullptr && python.set_attribute_of != nullptr &&
         python.repr != nullptr && python.hash != nullptr && python.compare != nullptr &&
         python.set_error != nullptr && python.type_error != nullptr;
}

// Returns how many bytes CPython's part of an object has; 0: not known.
long BytesOfObject(const Python& python) {
  PyObject* const object = python.Member("builtins", "object");
  PyObject* const bytes = object != nullptr ? python.attribute(object, "__basicsize__") : nullptr;
  const long value = bytes != nullptr ? python.as_long(bytes) : 0;
  python.Drop(bytes);
  python.Drop(object);
  python.clear_error();
  return value > 0 && value % 8 == 0 ? value : 0;
}

void MakeType(const Python& python) {
  static Slot slots[] = {{kSetAttributeSlot, Address(SetAttribute)},
                         {kCallSlot, Address(Call)},
                         {kAttributeSlot, Address(Attribute)},
                         {kReprSlot, Address(Repr)},
                         {kHashSlot, Address(Hash)},
                         {kCompareSlot, Address(Compare)},
                         {kNewSlot, Address(New)},
                         {kDeallocSlot, Address(Dealloc)},
                         {0, nullptr}};
  g.place = BytesOfObject(python);
  if (g.place == 0) return;
  static Spec spec = {kTypeName, static_cast<int>(g.place) + 8, 0, kHasVersionTag, slots};
  g.type = python.new_type(&spec);
  python.clear_error();
}

}  // namespace

PyObject* NewStandIn(const Python& python, PyObject* real, void (*called)(uint64_t since)) {
  g.python = &python;
  g.called = called;
  if (g.type == nullptr && HasAll(python)) MakeType(python);
  PyObject* const made = g.type != nullptr ? python.allocate(g.type, 0) : nullptr;
  if (made == nullptr) {
    python.clear_error();
    return nullptr;
  }
  python.increment(real);
  memcpy(reinterpret_cast<char*>(made) + g.place, &real, sizeof(PyObject*));
  return made;
}

PyObject* RealOfStandIn(PyObject* stand_in) {
  PyObject* real;
  memcpy(&real, reinterpret_cast<const char*>(stand_in) + g.place, sizeof(PyObject*));
  return real;
}

}  // namespace gpuprof::tracer
