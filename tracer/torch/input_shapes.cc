// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_shapes.h. What is relied on: the layout of libstdc++'s std::vector, and of its
// std::string since GCC 5. The name of inputTypes has the tag of this string.

#include "tracer/torch/input_shapes.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <new>

#include "tracer/torch/protected_call.h"
#include "tracer/torch/shape_window.h"

namespace gpuprof::tracer {
namespace {

// A std::vector, which a function returns in memory of its caller.
struct Vector {
  char* begin = nullptr;
  char* end = nullptr;
  char* room_end = nullptr;
  ~Vector() {}
};
static_assert(sizeof(Vector) == 24);

struct String {
  char* chars;
  uint64_t bytes;
  union {
    char own[16];
    uint64_t room;
  };
};
static_assert(sizeof(String) == 32);

// An operation with more is not read.
constexpr uint32_t kMostInputs = 64;
constexpr uint64_t kMostTypeBytes = 48;

using SizesFunction = Vector (*)(const void* op, bool flattens_lists);
using TypesFunction = Vector (*)(const void* op);
using DeleteFunction = void (*)(void* memory);
constinit SizesFunction input_sizes = nullptr;
constinit TypesFunction input_types = nullptr;
constinit DeleteFunction operator_delete = nullptr;
constinit std::atomic<uint32_t> failures = 0;

struct Inputs {
  const void* op;
  Vector types, sizes;
  bool flattens_lists;
};

void CallTypes(void* argument) {
  Inputs* inputs = static_cast<Inputs*>(argument);
  new (&inputs->types) Vector(input_types(inputs->op));
}
void CallSizes(void* argument) {
  Inputs* inputs = static_cast<Inputs*>(argument);
  new (&inputs->sizes) Vector(input_sizes(inputs->op, inputs->flattens_lists));
}

uint64_t CountOf(const Vector& vector, uint64_t element_bytes) {
  return static_cast<uint64_t>(vector.end - vector.begin) / element_bytes;
}

void Release(void* memory) {
  if (memory != nullptr) operator_delete(memory);
}

void ReleaseSizes(Vector* sizes) {
  for (char* at = sizes->begin; at != sizes->end; at += sizeof(Vector))
    Release(reinterpret_cast<Vector*>(at)->begin);
  Release(sizes->begin);
  *sizes = Vector();
}

void ReleaseTypes(Vector* types) {
  for (char* at = types->begin; at != types->end; at += sizeof(String)) {
    const String* string = reinterpret_cast<const String*>(at);
    if (string->chars != string->own) Release(string->chars);
  }
  Release(types->begin);
  *types = Vector();
}

// A text that never ends behind its room.
class InputText {
 public:
  InputText(char* text, uint32_t room) : at_(text), begin_(text), end_(text + room) {}

  void Add(char letter) {
    if (at_ < end_) {
      *at_++ = letter;
    } else {
      is_cut_ = true;
    }
  }
  void Add(const char* words) {
    for (; *words != 0; ++words) Add(*words);
  }
  void Add(const char* chars, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) Add(chars[i]);
  }
  void AddNumber(int64_t number) {
    char digits[20];
    uint32_t count = 0;
    uint64_t rest = static_cast<uint64_t>(number);
    if (number < 0) {
      Add('-');
      rest = 0 - rest;
    }
    do digits[count++] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count != 0) Add(digits[--count]);
  }
  bool is_cut() const { return is_cut_; }
  uint32_t bytes() const { return static_cast<uint32_t>(at_ - begin_); }

 private:
  char* at_;
  char* const begin_;
  char* const end_;
  bool is_cut_ = false;
};

bool Is(const String& type, const char* word) {
  return type.bytes == std::strlen(word) && std::memcmp(type.chars, word, type.bytes) == 0;
}

bool IsList(const String& type) { return Is(type, "GenericList"); }

// Types of tensors are names of C++, and others the kinds of PyTorch's values.
bool IsScalar(const String& type) {
  return type.bytes != 0 && *type.chars >= 'A' && *type.chars <= 'Z' && !IsList(type);
}

// Returns whether a type can stand in JSON as it is.
bool IsPlain(const String& type) {
  if (type.bytes > kMostTypeBytes) return false;
  for (uint64_t i = 0; i < type.bytes; ++i) {
    const char letter = type.chars[i];
    if (letter < ' ' || letter == '"' || letter == '\\' || letter == '=') return false;
  }
  return true;
}

void AddDims(const Vector& dims, InputText* text) {
  text->Add('[');
  const uint64_t count = CountOf(dims, sizeof(int64_t));
  for (uint64_t i = 0; i < count; ++i) {
    if (i != 0) text->Add(',');
    text->AddNumber(reinterpret_cast<const int64_t*>(dims.begin)[i]);
  }
  text->Add(']');
}

// Where lists of tensors are flattened, `of_list` sizes stand for each list.
struct Layout {
  uint64_t inputs;
  uint64_t lists;
  uint64_t of_list;
};

// One list of sizes is that of the only list of the operation, or each list has one. With more
// lists nothing tells where one ends.
bool FindLayout(const Inputs& inputs, Layout* layout) {
  const String* types = reinterpret_cast<const String*>(inputs.types.begin);
  layout->inputs = CountOf(inputs.types, sizeof(String));
  layout->lists = 0;
  for (uint64_t i = 0; i < layout->inputs; ++i) layout->lists += IsList(types[i]) ? 1 : 0;
  const uint64_t sizes = CountOf(inputs.sizes, sizeof(Vector));
  if (!inputs.flattens_lists || layout->lists == 0 || sizes == layout->inputs) {
    layout->of_list = 1;
    return sizes == layout->inputs;
  }
  layout->of_list = sizes - layout->inputs + 1;
  return layout->lists == 1 && sizes > layout->inputs;
}

// Returns whether these sizes are of a list of tensors. One without dimensions is a list of
// something else, or of a tensor without dimensions.
bool IsOfTensors(const Vector* sizes, uint64_t count) {
  return count > 1 || sizes->begin != sizes->end;
}

uint32_t Write(const Inputs& inputs, const Layout& layout, char* to, uint32_t room) {
  const String* types = reinterpret_cast<const String*>(inputs.types.begin);
  const Vector* const sizes = reinterpret_cast<const Vector*>(inputs.sizes.begin);
  bool is_of_tensors[kMostInputs] = {};
  InputText text(to, room);
  text.Add(kInputsKey);
  text.Add("={\"Input Dims\":[");
  const Vector* next = sizes;
  for (uint64_t i = 0; i < layout.inputs; ++i) {
    if (i != 0) text.Add(',');
    if (!IsList(types[i])) {
      AddDims(*next++, &text);
      continue;
    }
    is_of_tensors[i] = IsOfTensors(next, layout.of_list);
    text.Add('[');
    for (uint64_t element = 0; element < layout.of_list; ++element, ++next) {
      if (!is_of_tensors[i]) continue;
      if (element != 0) text.Add(',');
      AddDims(*next, &text);
    }
    text.Add(']');
  }
  text.Add("],\"Input type\":[");
  for (uint64_t i = 0; i < layout.inputs; ++i) {
    if (!IsPlain(types[i])) return 0;
    if (i != 0) text.Add(',');
    text.Add('"');
    if (is_of_tensors[i]) {
      text.Add("TensorList");
    } else if (IsScalar(types[i])) {
      text.Add("Scalar");
    } else {
      text.Add(types[i].chars, types[i].bytes);
    }
    text.Add('"');
  }
  text.Add("]}");
  return text.is_cut() ? 0 : text.bytes();
}

// False: the call threw.
bool Call(void (*function)(void* argument), Inputs* inputs) {
  if (ProtectedCall(function, inputs)) return true;
  failures.fetch_add(1, std::memory_order_relaxed);
  NoteInputsFailed();
  return false;
}

uint32_t WriteSizes(Inputs* inputs, char* text, uint32_t room) {
  Layout layout;
  const uint32_t bytes = FindLayout(*inputs, &layout) ? Write(*inputs, layout, text, room) : 0;
  ReleaseSizes(&inputs->sizes);
  return bytes;
}

uint32_t ReadSizes(Inputs* inputs, char* text, uint32_t room) {
  if (!Call(CallSizes, inputs)) return 0;
  const uint32_t bytes = WriteSizes(inputs, text, room);
  if (bytes != 0) return bytes;
  // Lists as one: where they end is not known, or they are too long.
  inputs->flattens_lists = false;
  return Call(CallSizes, inputs) ? WriteSizes(inputs, text, room) : 0;
}

}  // namespace

bool InputShapesInit(void* (*symbol_of)(void* context, const char* name), void* context) {
  input_sizes = reinterpret_cast<SizesFunction>(
      symbol_of(context, "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb"));
  input_types = reinterpret_cast<TypesFunction>(
      symbol_of(context, "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE"));
  // That of the whole program comes first, as in libtorch's own calls.
  constexpr const char* kDelete = "_ZdlPv";
  void* found = dlsym(RTLD_DEFAULT, kDelete);
  if (found == nullptr) found = symbol_of(context, kDelete);
  operator_delete = reinterpret_cast<DeleteFunction>(found);
  return input_sizes != nullptr && input_types != nullptr && operator_delete != nullptr;
}

uint32_t ReadInputs(const void* op, char* text, uint32_t room) {
  Inputs inputs = {op, {}, {}, true};
  if (!Call(CallTypes, &inputs)) return 0;
  const uint64_t count = CountOf(inputs.types, sizeof(String));
  const uint32_t bytes = count != 0 && count <= kMostInputs ? ReadSizes(&inputs, text, room) : 0;
  ReleaseTypes(&inputs.types);
  return bytes;
}

uint32_t InputsNotRead() { return failures.load(std::memory_order_relaxed); }

}  // namespace gpuprof::tracer
