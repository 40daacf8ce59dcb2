// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A forked child that has made no call that is recorded gets the signal which starts and ends
// recording, early in its life. It has a handler of its own. silent_signalled [hold]: with `hold`
// the program sends no signal, and ends with the end of its input.

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static int g_answers[2];

static void Answer(int number) {
  (void)number;
  (void)!write(1, "answered\n", 9);
  (void)!write(g_answers[1], "a", 1);
}

int main(int argc, char** argv) {
  (void)argv;
  char c;
  AwaitRecorder();
  if (pipe(g_answers) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(g_answers[0]);
    signal(SIGUSR1, Answer);
    (void)!write(g_answers[1], "r", 1);
    for (;;) pause();
  }
  close(g_answers[1]);
  if (read(g_answers[0], &c, 1) != 1) return 3;
  if (argc > 1) {
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF) {}
  } else {
    kill(child, SIGUSR1);
  }
  // A child that the signal ends closes its end of the pipe.
  int status = 0, ended = 0;
  if (argc == 1 && read(g_answers[0], &c, 1) != 1) ended = waitpid(child, &status, 0);
  if (argc > 1) ended = waitpid(child, &status, WNOHANG);
  printf("child %s\n", ended == 0 ? "lives" : strsignal(WTERMSIG(status)));
  kill(child, SIGKILL);
  if (ended == 0) waitpid(child, &status, 0);
  return 0;
}
