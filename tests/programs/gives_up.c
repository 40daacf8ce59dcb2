// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gives rights up by a call that holds for the calling thread alone, as a program with one thread
// may: gives_up capset|setresuid|prctl|securebits. Then prints what each thread of the process has
// left.

#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static int GiveUp(const char* how) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  if (strcmp(how, "capset") == 0) return (int)syscall(SYS_capset, &header, none);
  if (strcmp(how, "setresuid") == 0) return (int)syscall(SYS_setresuid, 65534, 65534, 65534);
  if (strcmp(how, "securebits") == 0) return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void Print(int tid) {
  char path[300], line[256];
  snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
  FILE* file = fopen(path, "r");
  if (file == NULL) return;
  while (fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, "Uid:", 4) == 0 || strncmp(line, "CapEff:", 7) == 0 ||
        strncmp(line, "NoNewPrivs:", 11) == 0)
      fputs(line, stdout);
  }
  fclose(file);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  AwaitRecorder();
  if (GiveUp(argv[1]) != 0) return 1;
  int tids[64];
  const int count = AllThreads(tids, 64);
  if (count < 0 || count > 64) return 1;
  for (int i = 0; i < count; ++i) Print(tids[i]);
  return 0;
}
