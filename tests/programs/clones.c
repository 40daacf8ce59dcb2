// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Children made behind libc's back: clones clone|clone3|vm|vm_vfork|_Fork|exec|nested TIMES. Each
// child allocates and ends by a bare exit; "exec" executes this program again as "leaf", "nested"
// forks from such a child. The parent allocates once after each.

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kParent = 61001, kChild = 61002, kLeaf = 61003, kStack = 64 * 1024 };

static char* g_self;

static int Allocate(void* unused) {
  for (int i = 0; i < 3; ++i) free(malloc(kChild));
  return unused != NULL ? 1 : 21;
}

static pid_t Clone3(void) {
  struct clone_args arguments;
  memset(&arguments, 0, sizeof(arguments));
  arguments.exit_signal = SIGCHLD;
  return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static void InChild(const char* how) {
  Allocate(NULL);
  if (strcmp(how, "exec") == 0) execl(g_self, g_self, "leaf", "0", (char*)NULL);
  if (strcmp(how, "nested") == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(5);
    int status = 0;
    waitpid(grandchild, &status, 0);
    if (WEXITSTATUS(status) != 5) _exit(1);
  }
  _exit(21);
}

static pid_t Make(const char* how, char* stack) {
  if (strcmp(how, "vm") == 0) return clone(Allocate, stack + kStack, CLONE_VM | SIGCHLD, NULL);
  if (strcmp(how, "vm_vfork") == 0)
    return clone(Allocate, stack + kStack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
  pid_t child;
  if (strcmp(how, "clone3") == 0) {
    child = Clone3();
    if (child < 0 && errno == ENOSYS) exit(77);
  } else if (strcmp(how, "_Fork") == 0) {
    child = _Fork();
  } else {
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  }
  if (child == 0) InChild(how);
  return child;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_self = argv[0];
  if (strcmp(argv[1], "leaf") == 0) {
    free(malloc(kLeaf));
    return 21;
  }
  int good = 0;
  char* stack = malloc(kStack);
  for (int i = 0; i < atoi(argv[2]); ++i) {
    const pid_t child = Make(argv[1], stack);
    int status = 0;
    if (child < 0 || waitpid(child, &status, __WALL) != child) return 3;
    good += WIFEXITED(status) && WEXITSTATUS(status) == 21;
    free(malloc(kParent));
  }
  free(stack);
  printf("%d children ended as they should\n", good);
  return 0;
}
