// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Embeds the CPython that was preloaded, with an allocator of its own, which aborts if it is given
// memory that is not its own. "main ...": runs the words behind it as python does. "text CODE":
// runs the code, and ends CPython.

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct allocator {
  void* context;
  void* (*allocate)(void*, size_t);
  void* (*allocate_zeroed)(void*, size_t, size_t);
  void* (*resize)(void*, void*, size_t);
  void (*release)(void*, void*);
};

// Ahead of each piece of memory.
struct mark {
  uint64_t word;
  uint64_t bytes;
};
static const uint64_t kWord = 0x656d626564646572;

static void* allocate(void* context, size_t bytes) {
  struct mark* mark = malloc(sizeof(*mark) + bytes);
  if (mark == NULL) return NULL;
  mark->word = kWord;
  mark->bytes = bytes;
  return mark + 1;
}

static void* allocate_zeroed(void* context, size_t count, size_t bytes) {
  void* memory = allocate(context, count * bytes);
  if (memory != NULL) memset(memory, 0, count * bytes);
  return memory;
}

static struct mark* mark_of(void* memory) {
  struct mark* mark = (struct mark*)memory - 1;
  if (mark->word != kWord) abort();
  return mark;
}

static void release(void* context, void* memory) {
  if (memory == NULL) return;
  struct mark* mark = mark_of(memory);
  mark->word = 0;
  free(mark);
}

static void* resize(void* context, void* memory, size_t bytes) {
  void* moved = allocate(context, bytes);
  if (memory == NULL || moved == NULL) return moved;
  const size_t before = mark_of(memory)->bytes;
  memcpy(moved, memory, before < bytes ? before : bytes);
  release(context, memory);
  return moved;
}

#define PYTHON(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, name))

int main(int count, char** words) {
  struct allocator own = {NULL, allocate, allocate_zeroed, resize, release};
  PYTHON(void, "PyMem_SetAllocator", int, struct allocator*)(0, &own);
  if (strcmp(words[1], "main") == 0)
    return PYTHON(int, "Py_BytesMain", int, char**)(count - 1, words + 1);
  PYTHON(void, "Py_InitializeEx", int)(0);
  int status = PYTHON(int, "PyRun_SimpleStringFlags", const char*, void*)(words[2], NULL);
  if (PYTHON(int, "Py_FinalizeEx", void)() != 0) status = 1;
  return status == 0 ? 0 : 1;
}
