// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// libunwind steps one frame of an imagined thread: its registers hold marks instead of values, its
// memory is answered here. Where the step looked for the return address and the saved frame
// pointer, in terms of the marks, is the rule.
//
// Its local mode is not used: that one opens a pipe and writes a byte to it to try addresses (into
// whatever file the program has put on that number since), asks the loader under its lock, and
// keeps 256 KiB a thread that dlclose makes wrong.

#include "tracer/stack/unwind_tables.h"

#if defined(__x86_64__)

#include <libunwind.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern "C" {
// Of the library's inside: what its own start does, without the pipe. A version that names them
// otherwise does not link.
extern int _Ux86_64_dwarf_init(void);
extern void _UIx86_64_mi_init(void);
extern int _Ux86_64_init_done;
extern sigset_t _UIx86_64_full_mask;
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t*,
                                       unw_proc_info_t*, int, void*);
void _Ux86_64_dwarf_put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*);
}

namespace gpuprof::tracer {
namespace {

// Register marks: no address that memory can have, 16 TiB apart.
constexpr uint64_t kMarkSp = 0x5a10'0000'0000'0000u;
constexpr uint64_t kMarkFp = 0x5a20'0000'0000'0000u;
constexpr uint64_t kMarkWord = 0x5a30'0000'0000'0000u;   // what any imagined word holds
constexpr uint64_t kMarkOther = 0x5a40'0000'0000'0000u;  // every other register
constexpr uint64_t kReach = uint64_t{1} << 32;

bool IsNear(uint64_t value, uint64_t mark) { return value - mark + kReach < 2 * kReach; }
bool IsMarked(uint64_t value) { return value >> 56 == 0x5a; }

struct Query {
  uint64_t address;
  const CodeObject* object;
  bool found;                  // the address has a table entry
  uint64_t last_word_from_fp;  // imagined word near the frame pointer read last; 0: none
};

unw_addr_space_t space;

int AccessMemory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  Query* query = static_cast<Query*>(arg);
  if (write) return -UNW_EINVAL;
  if (IsMarked(address)) {
    if (IsNear(address, kMarkFp)) query->last_word_from_fp = address;
    *value = kMarkWord;
    return 0;
  }
  const CodeObject& object = *query->object;
  if (address < object.lo || address >= object.hi || object.hi - address < 8) return -UNW_EINVAL;
  std::memcpy(value, reinterpret_cast<const void*>(address), 8);
  return 0;
}

int AccessRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* arg) {
  if (write) return -UNW_EINVAL;
  switch (number) {
    case UNW_X86_64_RIP:
      *value = static_cast<Query*>(arg)->address;
      break;
    case UNW_X86_64_RSP:
      *value = kMarkSp;
      break;
    case UNW_X86_64_RBP:
      *value = kMarkFp;
      break;
    default:
      *value = kMarkOther + 0x100000u * static_cast<uint64_t>(number);
      break;
  }
  return 0;
}

// The search table of PT_GNU_EH_FRAME in the one form that linkers write.
int FindProcedure(unw_addr_space_t as, unw_word_t address, unw_proc_info_t* info, int need,
                  void* arg) {
  const CodeObject& object = *static_cast<Query*>(arg)->object;
  const uint8_t* header = reinterpret_cast<const uint8_t*>(object.eh_frame_hdr);
  constexpr uint8_t kUsual[4] = {1, 0x1b, 0x03, 0x3b};
  if (header == nullptr || std::memcmp(header, kUsual, sizeof(kUsual)) != 0) return -UNW_ENOINFO;
  uint32_t entries;
  std::memcpy(&entries, header + 8, sizeof(entries));
  unw_dyn_info_t table = {};
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.start_ip = object.lo;
  table.end_ip = object.hi;
  table.u.rti.segbase = object.eh_frame_hdr;
  table.u.rti.table_data = object.eh_frame_hdr + 12;
  table.u.rti.table_len = entries;  // in words of 8, as large as an entry
  const int result = _Ux86_64_dwarf_search_unwind_table(as, address, &table, info, need, arg);
  static_cast<Query*>(arg)->found = result >= 0;
  return result;
}

void PutProcedure(unw_addr_space_t as, unw_proc_info_t* info, void* arg) {
  _Ux86_64_dwarf_put_unwind_info(as, info, arg);
}

int NoDynamicList(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }
int NoFloat(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EINVAL; }
int NoResume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int NoName(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) { return -UNW_EINVAL; }

// Where the caller's frame pointer is, from the cfa; 0: still in its register.
bool SavedFp(unw_cursor_t* cursor, uint64_t* where) {
  unw_save_loc_t saved;
  if (unw_get_save_loc(cursor, UNW_X86_64_RBP, &saved) < 0) return false;
  *where = saved.type == UNW_SLT_MEMORY ? saved.u.addr : 0;
  return true;
}

// Says what the step did, in terms of the marks.
UnwindRule Interpret(unw_cursor_t* cursor, const Query& query) {
  constexpr UnwindRule kOddRule = {RuleKind::kOdd, false, 0, 0};
  unw_word_t cfa;
  unw_save_loc_t ip_saved;
  uint64_t fp_saved;
  if (unw_get_reg(cursor, UNW_X86_64_RSP, &cfa) < 0 ||
      unw_get_save_loc(cursor, UNW_X86_64_RIP, &ip_saved) < 0 || !SavedFp(cursor, &fp_saved) ||
      ip_saved.type != UNW_SLT_MEMORY) {
    return kOddRule;
  }
  constexpr uint64_t kInterruptedIp = 0xa8;  // uc_mcontext.gregs[REG_RIP] in ucontext_t
  if (unw_is_signal_frame(cursor) > 0) {
    return ip_saved.u.addr == kMarkSp + kInterruptedIp ? UnwindRule{RuleKind::kSignal, false, 0, 0}
                                                       : kOddRule;
  }
  if (ip_saved.u.addr != cfa - 8) return kOddRule;
  UnwindRule rule;
  if (IsNear(cfa, kMarkSp)) {
    rule = {RuleKind::kFromSp, false, static_cast<int32_t>(cfa - kMarkSp), 0};
  } else if (IsNear(cfa, kMarkFp)) {
    rule = {RuleKind::kFromFp, false, static_cast<int32_t>(cfa - kMarkFp), 0};
  } else if (cfa == kMarkWord && query.last_word_from_fp != 0 && fp_saved == kMarkFp) {
    return {RuleKind::kRealigned, false, static_cast<int32_t>(query.last_word_from_fp - kMarkFp),
            0};
  } else {
    return kOddRule;
  }
  if (fp_saved != 0) {
    if (!IsNear(fp_saved, cfa)) return kOddRule;
    rule.fp_offset = static_cast<int32_t>(fp_saved - cfa);
  }
  return rule;
}

}  // namespace

bool UnwindTablesInit() {
  if (space != nullptr) return true;
  // What the library blocks while it holds a lock. Whatever is not in it, it would let in on a
  // thread of the program or of libc that has blocked it: all, then, and those too that sigfillset
  // leaves out for libc's own use.
  std::memset(&_UIx86_64_full_mask, 0xff, sizeof(_UIx86_64_full_mask));
  _UIx86_64_mi_init();
  _Ux86_64_dwarf_init();
  // An atomic_bool of C in the library's own words.
  __atomic_store_n(reinterpret_cast<bool*>(&_Ux86_64_init_done), true, __ATOMIC_SEQ_CST);
  unw_accessors_t accessors = {};
  accessors.find_proc_info = FindProcedure;
  accessors.put_unwind_info = PutProcedure;
  accessors.get_dyn_info_list_addr = NoDynamicList;
  accessors.access_mem = AccessMemory;
  accessors.access_reg = AccessRegister;
  accessors.access_fpreg = NoFloat;
  accessors.resume = NoResume;
  accessors.get_proc_name = NoName;
  space = unw_create_addr_space(&accessors, 0);
  if (space == nullptr) return false;
  unw_set_caching_policy(space, UNW_CACHE_NONE);  // ours is better, and without its lock
  return true;
}

UnwindRule ReadRule(uint64_t address, const CodeObject& object) noexcept {
  if (space == nullptr) return {RuleKind::kNone, false, 0, 0};
  const int saved_errno = errno;
  Query query = {address, &object, false, 0};
  UnwindRule rule = {RuleKind::kNone, false, 0, 0};
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, &query) >= 0) {
    const int stepped = unw_step(&cursor);
    // Without a table entry the step was a guess, from marks.
    if (query.found && stepped > 0) {
      rule = Interpret(&cursor, query);
    } else if (query.found) {
      rule.kind = stepped == 0 ? RuleKind::kOutermost : RuleKind::kOdd;
    }
  }
  errno = saved_errno;
  return rule;
}

}  // namespace gpuprof::tracer

#else  // other processors: frame pointers only

namespace gpuprof::tracer {

bool UnwindTablesInit() { return false; }
UnwindRule ReadRule(uint64_t, const CodeObject&) noexcept { return {RuleKind::kNone, false, 0, 0}; }

}  // namespace gpuprof::tracer

#endif
