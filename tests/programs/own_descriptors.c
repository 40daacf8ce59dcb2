// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Looks again and again which descriptors it has, and counts on getting the lowest free number, as
// daemons do. Prints every number that it ever saw and how often it got another than the lowest.

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kLooks = 1500, kMost = 4096 };

static char g_seen[kMost];

static void Look(void) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == NULL) exit(1);
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    const int number = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && number < kMost) g_seen[number] = 1;
  }
  closedir(folder);
}

int main(void) {
  int others = 0;
  for (int i = 0; i < kLooks; ++i) {
    Look();
    close(0);
    free(malloc(74001));
    usleep(200);
    others += open("/dev/null", O_RDONLY) != 0;
    if (others != 0) break;
  }
  printf("others %d, seen", others);
  for (int i = 0; i < kMost; ++i) {
    if (g_seen[i] != 0) printf(" %d", i);
  }
  printf("\n");
  return 0;
}
