// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One frame, written by hand, whose personality routine accepts every exception and goes on behind
// the call. A catch clause would need the C++ runtime, of which the tracer has none of its own and
// of which the program may have any.

#include "tracer/torch/protected_call.h"

#include <unwind.h>

#include <cstdint>

#if defined(__x86_64__)

extern "C" {
bool gpuprof_protected_call(void (*function)(void*), void* argument);
extern const char gpuprof_protected_landing[];
void gpuprof_protected_catch(void* exception);
_Unwind_Reason_Code gpuprof_protected_personality(int version, _Unwind_Action actions,
                                                  _Unwind_Exception_Class kind,
                                                  _Unwind_Exception* exception,
                                                  _Unwind_Context* context);
}

namespace {
using SetIpFunction = void (*)(_Unwind_Context* context, _Unwind_Ptr address);
using SetGrFunction = void (*)(_Unwind_Context* context, int number, _Unwind_Word value);
using BeginCatchFunction = void* (*)(void* exception);
using EndCatchFunction = void (*)();
SetIpFunction set_ip = nullptr;
SetGrFunction set_gr = nullptr;
BeginCatchFunction begin_catch = nullptr;
EndCatchFunction end_catch = nullptr;
constexpr int kRax = 0;  // by the numbers of DWARF
}  // namespace

extern "C" [[gnu::used]] _Unwind_Reason_Code gpuprof_protected_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* exception,
    _Unwind_Context* context) {
  // Cancellation and the like are not ours to stop.
  if ((actions & _UA_FORCE_UNWIND) != 0) return _URC_CONTINUE_UNWIND;
  if ((actions & _UA_SEARCH_PHASE) != 0) return _URC_HANDLER_FOUND;
  if ((actions & _UA_HANDLER_FRAME) == 0) return _URC_CONTINUE_UNWIND;
  set_gr(context, kRax, reinterpret_cast<_Unwind_Word>(exception));
  set_ip(context, reinterpret_cast<_Unwind_Ptr>(gpuprof_protected_landing));
  return _URC_INSTALL_CONTEXT;
}

// Without it the thread would count as one that throws, for the rest of its life.
extern "C" [[gnu::used]] void gpuprof_protected_catch(void* exception) {
  begin_catch(exception);
  end_catch();
}

// 0x1b: the personality's address relative to the place, in 4 bytes; it is in this object. No
// call-site table: the routine needs none.
asm(R"(
  .text
  .p2align 4
  .globl gpuprof_protected_call
  .hidden gpuprof_protected_call
  .type gpuprof_protected_call, @function
gpuprof_protected_call:
  .cfi_startproc
  .cfi_personality 0x1b, gpuprof_protected_personality
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  movl $1, %eax
  jmp 1f
  .globl gpuprof_protected_landing
  .hidden gpuprof_protected_landing
gpuprof_protected_landing:
  movq %rax, %rdi
  call gpuprof_protected_catch
  xorl %eax, %eax
1:
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size gpuprof_protected_call, . - gpuprof_protected_call
)");

namespace gpuprof::tracer {
namespace {

bool IsReady() {
  return set_ip != nullptr && set_gr != nullptr && begin_catch != nullptr && end_catch != nullptr;
}

}  // namespace

bool ProtectedCallInit(void* (*symbol_of)(void* context, const char* name), void* context) {
  set_ip = reinterpret_cast<SetIpFunction>(symbol_of(context, "_Unwind_SetIP"));
  set_gr = reinterpret_cast<SetGrFunction>(symbol_of(context, "_Unwind_SetGR"));
  begin_catch = reinterpret_cast<BeginCatchFunction>(symbol_of(context, "__cxa_begin_catch"));
  end_catch = reinterpret_cast<EndCatchFunction>(symbol_of(context, "__cxa_end_catch"));
  return IsReady();
}

bool ProtectedCall(void (*function)(void* argument), void* argument) {
  return IsReady() && gpuprof_protected_call(function, argument);
}

}  // namespace gpuprof::tracer

#else

namespace gpuprof::tracer {

bool ProtectedCallInit(void* (*)(void*, const char*), void*) { return false; }
bool ProtectedCall(void (*)(void*), void*) { return false; }

}  // namespace gpuprof::tracer

#endif
