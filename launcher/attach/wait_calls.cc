// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/wait_calls.h"

#include <sys/syscall.h>

namespace gpuprof::launcher {

bool IsWaitCall(long number) {
  switch (number) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_restart_syscall:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case 441:  // epoll_pwait2
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_futex:
    case 449:  // futex_waitv
    case SYS_read:
    case SYS_readv:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_io_getevents:
      return true;
    default:
      return false;
  }
}

}  // namespace gpuprof::launcher
