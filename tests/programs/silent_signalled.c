// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A forked child that has made no call that is recorded gets the signal which starts and ends
// recording, early in its life. It has a handler of its own.

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void Answer(int number) {
  (void)number;
  (void)!write(1, "answered\n", 9);
}

int main(void) {
  usleep(200000);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGUSR1, Answer);
    for (;;) pause();
  }
  usleep(200000);
  kill(child, SIGUSR1);
  usleep(400000);
  int status = 0;
  const int ended = waitpid(child, &status, WNOHANG);
  printf("child %s\n", ended == 0 ? "lives" : strsignal(WTERMSIG(status)));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return 0;
}
