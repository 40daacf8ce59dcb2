// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/late_load.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

#include "proto/attach.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kStackBytes = 256 * 1024;
constexpr int kLoadMs = 5'000;
// dlopen's flag for callers inside glibc.
constexpr uint32_t kInsideFlag = 0x80000000;

// What the code leaves behind, at the beginning of the data.
struct Results {
  uint64_t handle;
  uint64_t function;
  uint64_t attach_result;
  uint64_t error_text;
};

// The kernel's rt_sigframe from `ucontext` on, for a frame with vector registers (Linux:
// arch/x86/include/uapi/asm/sigcontext.h).
struct KernelContext {
  uint64_t flags;
  uint64_t link;
  stack_t stack;
  uint64_t registers[18];  // r8..r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags
  uint16_t cs, gs, fs, ss;
  uint64_t error, trap, old_mask, fault_address;
  uint64_t vectors;
  uint64_t reserved[8];
  uint64_t mask;
};
static_assert(offsetof(KernelContext, registers) == 40);
static_assert(offsetof(KernelContext, mask) == 40 + 256);
constexpr uint64_t kHasVectors = 1, kHasStackSegment = 2, kStrictStackSegment = 4;

// Where the vector registers' image tells its size, and what the kernel looks for there.
struct VectorSize {
  uint32_t first_mark;
  uint32_t extended_bytes;
  uint64_t features;
  uint32_t bytes;
  uint32_t padding[7];
};
constexpr size_t kVectorSizeAt = 464;
constexpr uint32_t kFirstMark = 0x46505853, kLastMark = 0x46505845;

constexpr long kRestartFirst = -512, kRestartNoInterrupt = -513, kRestartNoHandler = -514,
               kRestartBlock = -516;

uint64_t Up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The data of the call, with addresses as the process will see them.
class Data {
 public:
  explicit Data(uint64_t base) : base_(base) { bytes_.resize(sizeof(Results)); }

  uint64_t Add(const void* content, size_t bytes, uint64_t alignment = 8) {
    const size_t at = Up(bytes_.size(), alignment);
    bytes_.resize(at + bytes);
    memcpy(bytes_.data() + at, content, bytes);
    return base_ + at;
  }
  uint64_t Add(const std::string& text) { return Add(text.c_str(), text.size() + 1); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  uint64_t base_;
  std::vector<uint8_t> bytes_;
};

// The frame by which the kernel would bring the thread back to where it was.
uint64_t AddContext(const StoppedThread& thread, Data* data) {
  std::vector<uint8_t> vectors = thread.vectors();
  VectorSize size = {};
  memcpy(&size.features, vectors.data() + kVectorSizeAt, sizeof size.features);
  size.first_mark = kFirstMark;
  size.bytes = static_cast<uint32_t>(vectors.size());
  size.extended_bytes = size.bytes + sizeof kLastMark;
  memcpy(vectors.data() + kVectorSizeAt, &size, sizeof size);
  vectors.insert(vectors.end(), reinterpret_cast<const uint8_t*>(&kLastMark),
                 reinterpret_cast<const uint8_t*>(&kLastMark) + sizeof kLastMark);
  user_regs_struct r = thread.registers();
  // The kernel does this when it finds an interrupted wait.
  const auto result = static_cast<long>(r.rax);
  if (static_cast<long>(r.orig_rax) >= 0) {
    if (result == kRestartFirst || result == kRestartNoInterrupt || result == kRestartNoHandler) {
      r.rax = r.orig_rax;
      r.rip -= 2;
    } else if (result == kRestartBlock) {
      r.rax = SYS_restart_syscall;
      r.rip -= 2;
    }
  }
  KernelContext context = {};
  context.flags = kHasVectors | kHasStackSegment | kStrictStackSegment;
  context.stack.ss_flags = SS_DISABLE;  // the code asks for the real one
  const uint64_t registers[18] = {r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rdi,
                                  r.rsi, r.rbp, r.rbx, r.rdx, r.rax, r.rcx, r.rsp, r.rip, r.eflags};
  memcpy(context.registers, registers, sizeof registers);
  context.cs = static_cast<uint16_t>(r.cs);
  context.ss = static_cast<uint16_t>(r.ss);
  context.vectors = data->Add(vectors.data(), vectors.size(), 64);
  context.mask = thread.blocked_signals();
  const uint64_t room_before[2] = {};  // for a return address
  data->Add(room_before, sizeof room_before, 16);
  return data->Add(&context, sizeof context, 16);
}

// Machine code for x86-64.
class Code {
 public:
  Code& Bytes(std::initializer_list<uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes);
    return *this;
  }
  Code& Value(uint64_t value, size_t bytes = 8) {
    for (size_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  Code& Rax(uint64_t value) { return Bytes({0x48, 0xb8}).Value(value); }
  Code& Rbx(uint64_t value) { return Bytes({0x48, 0xbb}).Value(value); }
  Code& Rsp(uint64_t value) { return Bytes({0x48, 0xbc}).Value(value); }
  Code& Rsi(uint64_t value) { return Bytes({0x48, 0xbe}).Value(value); }
  Code& Rdi(uint64_t value) { return Bytes({0x48, 0xbf}).Value(value); }
  Code& CallRax() { return Bytes({0xff, 0xd0}); }
  Code& SystemCall(uint32_t number) { return Bytes({0xb8}).Value(number, 4).Bytes({0x0f, 0x05}); }
  // Sends the thread itself a signal. By its own numbers: it may be in another pid namespace.
  Code& SendSelf(uint32_t signal) {
    SystemCall(SYS_getpid).Bytes({0x41, 0x89, 0xc4});              // mov r12d, eax
    SystemCall(SYS_gettid).Bytes({0x89, 0xc6, 0x44, 0x89, 0xe7});  // mov esi, eax; mov edi, r12d
    return Bytes({0xba}).Value(signal, 4).SystemCall(SYS_tgkill);
  }
  // Stores rax in the result at this offset.
  Code& Keep(size_t offset) { return Bytes({0x48, 0x89, 0x43, static_cast<uint8_t>(offset)}); }
  // Loads rax from the result at this offset.
  Code& Load(size_t offset) { return Bytes({0x48, 0x8b, 0x43, static_cast<uint8_t>(offset)}); }
  Code& RdiFromRax() { return Bytes({0x48, 0x89, 0xc7}); }
  // Goes to Fail() if rax is zero.
  Code& IfZeroFail() {
    Bytes({0x48, 0x85, 0xc0, 0x0f, 0x84}).Value(0, 4);
    to_fail_.push_back(bytes_.size());
    return *this;
  }
  Code& GoToEnd() {
    Bytes({0xe9}).Value(0, 4);
    to_end_.push_back(bytes_.size());
    return *this;
  }
  Code& Fail() { return Land(to_fail_); }
  Code& End() { return Land(to_end_); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  // Jumps are relative to the byte behind them.
  Code& Land(const std::vector<size_t>& jumps) {
    for (const size_t jump : jumps) {
      const auto distance = static_cast<uint32_t>(bytes_.size() - jump);
      for (size_t i = 0; i < 4; ++i)
        bytes_[jump - 4 + i] = static_cast<uint8_t>(distance >> (8 * i));
    }
    return *this;
  }

  std::vector<uint8_t> bytes_;
  std::vector<size_t> to_fail_, to_end_;
};

// Finds code in what the library can run.
uint64_t FindCode(const TargetMemory& memory, uint64_t begin, uint64_t end,
                  const std::vector<uint8_t>& wanted) {
  constexpr uint64_t kPart = 1 << 16;
  std::vector<uint8_t> code;
  for (uint64_t at = begin; at < end; at += kPart) {
    code.resize(std::min(kPart + wanted.size(), end - at));
    if (!memory.Read(at, code.data(), code.size())) continue;
    const auto found = std::search(code.begin(), code.end(), wanted.begin(), wanted.end());
    if (found != code.end()) return at + static_cast<uint64_t>(found - code.begin());
  }
  return 0;
}

// A small function of the library makes one system call and returns.
uint64_t FindSystemCall(const TargetMemory& memory, const TargetObject& library,
                        const TargetObjects& objects) {
  for (const char* name : {"getpid", "getppid", "getuid", "sched_yield"}) {
    const uint64_t begin = objects.Find(library, name);
    if (begin == 0) continue;
    if (const uint64_t found = FindCode(memory, begin, begin + 32, {0x0f, 0x05, 0xc3}))
      return found;
  }
  return 0;
}

// Where the library's signal handlers return to: mov rax, 15; syscall.
uint64_t FindRestore(const TargetMemory& memory, const TargetObject& library) {
  return FindCode(memory, library.begin, library.end,
                  {0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0x00, 0x00, 0x00, 0x0f, 0x05});
}

// What is below the thread's own stack: should its tracer be killed during a system call, the
// call's return leads to rt_sigreturn. Returns the stack for the call; 0: it has no room.
uint64_t PutWayBack(const TargetMemory& memory, uint64_t restore, const StoppedThread& thread) {
  constexpr uint64_t kRedZone = 128;
  if (restore == 0) return 0;
  const uint64_t room = Up(thread.vectors().size() + 2 * sizeof(KernelContext) + kPage, 64);
  const uint64_t base = (thread.registers().rsp - kRedZone - room) & ~uint64_t{63};
  Data data(base + 64);
  const uint64_t context_at = AddContext(thread, &data);
  if (!memory.Write(base + 64, data.bytes().data(), data.bytes().size())) return 0;
  // The frame is where a handler's return would have left the stack.
  const uint64_t stack = context_at - sizeof restore;
  return memory.Write(stack, &restore, sizeof restore) ? stack : 0;
}

}  // namespace

std::string FindLoaderFunctions(const TargetMemory& memory, const TargetObjects& objects,
                                LoaderFunctions* functions) {
  const TargetObject* library = objects.Named("libc.so.6");
  if (library == nullptr) library = objects.Named("libc-2.");
  if (library == nullptr) return "it has no glibc";
  functions->system_call = FindSystemCall(memory, *library, objects);
  if (functions->system_call == 0) return "its C library has no system call in a known function";
  functions->restore = FindRestore(memory, *library);
  functions->flags = RTLD_NOW | RTLD_LOCAL;
  for (const char* name : {"libc.so.6", "libc-2.", "libdl.so.2", "libdl-2."}) {
    const TargetObject* object = objects.Named(name);
    if (object == nullptr) continue;
    functions->open = objects.Find(*object, "dlopen");
    functions->find = objects.Find(*object, "dlsym");
    functions->error = objects.Find(*object, "dlerror");
    if (functions->open != 0 && functions->find != 0) return "";
  }
  functions->open = objects.Find(*library, "__libc_dlopen_mode");
  functions->find = objects.Find(*library, "__libc_dlsym");
  functions->error = 0;
  functions->flags |= kInsideFlag;
  return functions->open != 0 && functions->find != 0 ? "" : "its C library has no dlopen()";
}

LateLoad LoadLate(const TargetMemory& memory, const LoaderFunctions& functions,
                  const std::string& object, const std::string& settings, StoppedThread* thread) {
  LateLoad load;
  const uint64_t data_bytes = Up(
      sizeof(Results) + object.size() + settings.size() + thread->vectors().size() + kPage, kPage);
  const uint64_t all_bytes = kPage + data_bytes + kStackBytes;
  const uint64_t way_back = PutWayBack(memory, functions.restore, *thread);
  int64_t result = -1;
  const bool called = thread->Call(functions.system_call, way_back, SYS_mmap,
                                   {0, all_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                    MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0},
                                   &result);
  if (!called || (result < 0 && result > -4096)) {
    load.has_returned = !thread->is_lost();
    load.error = "it cannot map memory that code can run in";
    if (called) load.error += std::string(": ") + strerror(static_cast<int>(-result));
    return load;
  }
  const auto code_at = static_cast<uint64_t>(result);
  const uint64_t data_at = code_at + kPage;
  Data data(data_at);
  const uint64_t path_at = data.Add(object);
  const uint64_t name_at = data.Add(std::string(proto::kAttachFunction));
  const uint64_t settings_at = data.Add(settings.data(), settings.size());
  const uint64_t context_at = AddContext(*thread, &data);
  Code code;
  code.Rdi(0).Rsi(context_at + offsetof(KernelContext, stack)).SystemCall(SYS_sigaltstack);
  code.Rbx(data_at);
  code.Rdi(path_at).Rsi(functions.flags).Rax(functions.open).CallRax();
  code.Keep(offsetof(Results, handle)).IfZeroFail();
  code.RdiFromRax().Rsi(name_at).Rax(functions.find).CallRax();
  code.Keep(offsetof(Results, function)).IfZeroFail();
  code.Rdi(settings_at).Rsi(settings.size()).Load(offsetof(Results, function)).CallRax();
  code.Keep(offsetof(Results, attach_result)).GoToEnd().Fail();
  if (functions.error != 0) code.Rax(functions.error).CallRax().Keep(offsetof(Results, error_text));
  code.End().SendSelf(StoppedThread::kMarkSignal);
  const uint64_t mark = code_at + code.bytes().size();
  code.Rsp(context_at).SystemCall(SYS_rt_sigreturn);
  const uint64_t stack = data_at + data_bytes + kStackBytes - 64;
  bool done = memory.Write(data_at, data.bytes().data(), data.bytes().size()) &&
              memory.Write(code_at, code.bytes().data(), code.bytes().size());
  if (!done) {
    load.error = "its memory cannot be written";
  } else {
    done = thread->RunToMark(code_at, stack, mark, kLoadMs);
  }
  if (thread->is_lost()) return load;
  load.has_returned = true;
  Results results = {};
  if (done && memory.Read(data_at, &results)) {
    load.is_loaded = results.handle != 0 && results.function != 0;
    load.attach_result = static_cast<int>(results.attach_result);
    if (results.error_text != 0) load.error = memory.ReadText(results.error_text, 512);
    if (!load.is_loaded && load.error.empty()) load.error = "dlopen() failed";
  }
  if (load.is_loaded && load.attach_result == 0) {
    load.memory_at = code_at;  // the object removes it
    load.memory_bytes = all_bytes;
  } else {
    thread->Call(functions.system_call, way_back, SYS_munmap, {code_at, all_bytes}, &result);
  }
  return load;
}

}  // namespace gpuprof::launcher
