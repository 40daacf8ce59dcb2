// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/stack_walk.h"

// The library's part for other processes: all names get a suffix of their own.
#undef UNW_LOCAL_ONLY
#include <libunwind.h>
#include <string.h>

#include <unordered_map>

// Part of the library, and of no header: what its own support for ptrace uses.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* table, unw_proc_info_t* info,
                                                  int needs_info, void* argument);

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kMostFrames = 4096;

// .eh_frame_hdr with a table of signed 32-bit numbers that are relative to it, as linkers write it.
struct UnwindHeader {
  uint8_t version;
  uint8_t frame_encoding;
  uint8_t count_encoding;
  uint8_t table_encoding;
  int32_t frames;
  uint32_t count;
};
constexpr uint8_t kUnsigned4 = 0x03;
constexpr uint8_t kRelativeSigned4 = 0x3b;

}  // namespace

struct StackWalker::Space {
  unw_addr_space_t unwinder = nullptr;
  TargetMemory* memory = nullptr;
  const TargetObjects* objects = nullptr;

  user_regs_struct registers = {};
  std::unordered_map<uint64_t, std::vector<uint8_t>> stack;  // pages, for one walk
  bool has_gap = false;                                      // there was no table

  // What no object holds is the stack's, and may change as soon as the thread runs.
  bool ReadWord(uint64_t address, uint64_t* word) {
    if (objects->At(address) != nullptr) return memory->ReadKept(address, word, sizeof *word);
    if (address % kPage > kPage - sizeof *word) return memory->Read(address, word);
    std::vector<uint8_t>& page = stack[address / kPage];
    if (page.empty()) {
      page.resize(kPage);
      if (!memory->Read(address / kPage * kPage, page.data(), kPage)) page.assign(1, 0);
    }
    if (page.size() < kPage) return false;
    memcpy(word, page.data() + address % kPage, sizeof *word);
    return true;
  }
};

namespace {

using Space = StackWalker::Space;

int FindTable(unw_addr_space_t unwinder, unw_word_t ip, unw_proc_info_t* info, int needs_info,
              void* argument) {
  auto* space = static_cast<Space*>(argument);
  const TargetObject* object = space->objects->At(ip);
  UnwindHeader header = {};
  if (object == nullptr || object->unwind_header == 0 ||
      !space->memory->ReadKept(object->unwind_header, &header, sizeof header) ||
      header.version != 1 || header.count_encoding != kUnsigned4 ||
      header.table_encoding != kRelativeSigned4) {
    space->has_gap = true;
    return -UNW_ENOINFO;
  }
  unw_dyn_info_t table = {};
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.start_ip = object->begin;
  table.end_ip = object->end;
  table.u.rti.segbase = object->unwind_header;
  table.u.rti.table_data = object->unwind_header + sizeof header;
  table.u.rti.table_len = uint64_t{header.count} * 8 / sizeof(unw_word_t);
  const int result =
      UNW_OBJ(dwarf_search_unwind_table)(unwinder, ip, &table, info, needs_info, argument);
  if (result < 0) space->has_gap = true;
  return result;
}

void PutInfo(unw_addr_space_t, unw_proc_info_t*, void*) {}

int FindList(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

int AccessMemory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int is_write,
                 void* argument) {
  if (is_write != 0) return -UNW_EINVAL;
  return static_cast<Space*>(argument)->ReadWord(address, value) ? 0 : -UNW_EINVAL;
}

int AccessRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int is_write,
                   void* argument) {
  const user_regs_struct& r = static_cast<Space*>(argument)->registers;
  const unsigned long long values[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                       r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  if (is_write != 0 || number < 0 || number > UNW_X86_64_RIP) return -UNW_EBADREG;
  *value = values[number];
  return 0;
}

int AccessFloat(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EINVAL; }
int Resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int NameOf(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

}  // namespace

StackWalker::StackWalker(TargetMemory* memory, const TargetObjects* objects)
    : space_(std::make_unique<Space>()) {
  unw_accessors_t accessors = {};
  accessors.find_proc_info = FindTable;
  accessors.put_unwind_info = PutInfo;
  accessors.get_dyn_info_list_addr = FindList;
  accessors.access_mem = AccessMemory;
  accessors.access_reg = AccessRegister;
  accessors.access_fpreg = AccessFloat;
  accessors.resume = Resume;
  accessors.get_proc_name = NameOf;
  space_->memory = memory;
  space_->objects = objects;
  space_->unwinder = unw_create_addr_space(&accessors, 0);
  // Objects may come and go between two stops.
  if (space_->unwinder != nullptr) unw_set_caching_policy(space_->unwinder, UNW_CACHE_NONE);
}

StackWalker::~StackWalker() {
  if (space_->unwinder != nullptr) unw_destroy_addr_space(space_->unwinder);
}

TargetStack StackWalker::Walk(const user_regs_struct& registers) {
  TargetStack stack;
  space_->registers = registers;
  space_->stack.clear();
  space_->has_gap = false;
  unw_cursor_t cursor;
  if (space_->unwinder == nullptr || unw_init_remote(&cursor, space_->unwinder, space_.get()) != 0)
    return stack;
  bool is_callers = false;
  while (stack.pcs.size() < kMostFrames) {
    unw_word_t pc = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0) return stack;
    stack.pcs.push_back(is_callers ? pc - 1 : pc);
    is_callers = unw_is_signal_frame(&cursor) <= 0;
    stack.has_handler |= !is_callers;
    const int step = unw_step(&cursor);
    if (step == 0) stack.is_whole = !space_->has_gap;
    if (step <= 0 || space_->has_gap) return stack;
  }
  return stack;
}

}  // namespace gpuprof::launcher
