// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a command under a system call filter: sandboxed container|old|shared|strict COMMAND...
// `container` refuses with EPERM what container runtimes refuse by default (clone3 with ENOSYS, as
// they do); `old` knows no close_range, as kernels before 5.9; `shared` refuses that and unshare,
// as containers on such kernels do; `strict` kills the process at the first use of anything that a
// profiler has no business with. Ends with 77 where no filter can be installed.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kCloseRange = 436 };  // younger than some headers

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const int kRefused[] = {SYS_acct,
                               SYS_add_key,
                               SYS_bpf,
                               SYS_clock_adjtime,
                               SYS_clock_settime,
                               SYS_delete_module,
                               SYS_fanotify_init,
                               SYS_finit_module,
                               SYS_fsconfig,
                               SYS_fsmount,
                               SYS_fsopen,
                               SYS_fspick,
                               SYS_get_mempolicy,
                               SYS_init_module,
                               SYS_io_uring_enter,
                               SYS_io_uring_register,
                               SYS_io_uring_setup,
                               SYS_kcmp,
                               SYS_kexec_load,
                               SYS_keyctl,
                               SYS_lookup_dcookie,
                               SYS_mbind,
                               SYS_mount,
                               SYS_mount_setattr,
                               SYS_move_mount,
                               SYS_move_pages,
                               SYS_name_to_handle_at,
                               SYS_open_by_handle_at,
                               SYS_open_tree,
                               SYS_perf_event_open,
                               SYS_pidfd_getfd,
                               SYS_pivot_root,
                               SYS_process_vm_readv,
                               SYS_process_vm_writev,
                               SYS_ptrace,
                               SYS_quotactl,
                               SYS_quotactl_fd,
                               SYS_reboot,
                               SYS_request_key,
                               SYS_set_mempolicy,
                               SYS_setns,
                               SYS_settimeofday,
                               SYS_swapoff,
                               SYS_swapon,
                               SYS_syslog,
                               SYS_umount2,
                               SYS_unshare,
                               SYS_userfaultfd,
                               SYS_vhangup};

static const int kDeadly[] = {SYS_bpf,
                              SYS_io_uring_enter,
                              SYS_io_uring_register,
                              SYS_io_uring_setup,
                              SYS_keyctl,
                              SYS_memfd_create,
                              SYS_memfd_secret,
                              SYS_mount,
                              SYS_perf_event_open,
                              SYS_personality,
                              SYS_pidfd_getfd,
                              SYS_pidfd_open,
                              SYS_pidfd_send_signal,
                              SYS_process_madvise,
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_ptrace,
                              SYS_setns,
                              SYS_unshare,
                              SYS_userfaultfd};

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static struct sock_filter g_code[512];
static size_t g_length;

static void Emit(uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
  g_code[g_length++] = (struct sock_filter){code, yes, no, k};
}

static void For(int number, uint32_t action) {
  Emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
  Emit(BPF_RET | BPF_K, action, 0, 0);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
  Emit(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
  Emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  Emit(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
  if (strcmp(argv[1], "old") == 0) {
    For(kCloseRange, SECCOMP_RET_ERRNO | ENOSYS);
  } else if (strcmp(argv[1], "shared") == 0) {
    For(kCloseRange, SECCOMP_RET_ERRNO | ENOSYS);
    For(SYS_unshare, SECCOMP_RET_ERRNO | EPERM);
  } else if (strcmp(argv[1], "strict") == 0) {
    for (size_t i = 0; i < COUNT(kDeadly); ++i) For(kDeadly[i], SECCOMP_RET_KILL_PROCESS);
  } else {
    for (size_t i = 0; i < COUNT(kRefused); ++i) For(kRefused[i], SECCOMP_RET_ERRNO | EPERM);
    For(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  }
  Emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  const struct sock_fprog program = {(unsigned short)g_length, g_code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    return 77;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
