// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a spawner's child does with SIGUSR1 is the child's alone, though a vfork child works in its
// parent's memory; and what the parent ignores, a child made in any way ignores. spawned_signals
// handler|ignore. Prints what each side sees.

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static volatile sig_atomic_t g_runs;
static char* g_command[] = {"/bin/sh", "-c", "kill -USR1 $$; echo alive", NULL};

static void Count(int number) { g_runs += number == SIGUSR1; }

static const char* Name(const struct sigaction* action) {
  if (action->sa_handler == SIG_DFL) return "default";
  if (action->sa_handler == SIG_IGN) return "ignored";
  return action->sa_handler == Count ? "mine" : "a stranger's";
}

static void Query(const char* where) {
  struct sigaction now;
  const int result = sigaction(SIGUSR1, NULL, &now);
  printf("%s: %d %s\n", where, result, Name(&now));
  fflush(stdout);
}

static void Ended(const char* how, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: %s %d\n", how, WIFSIGNALED(status) ? "signal" : "exit",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  fflush(stdout);
}

// As Python's subprocess does: every handler back to the default, then exec.
static void VforkWithReset(int use_signal) {
  static struct sigaction seen_before, seen_after;
  struct sigaction fallback = {0};
  fallback.sa_handler = SIG_DFL;
  const pid_t child = vfork();
  if (child == 0) {
    sigaction(SIGUSR1, NULL, &seen_before);
    if (use_signal) {
      signal(SIGUSR1, SIG_DFL);
    } else {
      sigaction(SIGUSR1, &fallback, NULL);
    }
    sigaction(SIGUSR1, NULL, &seen_after);
    execv(g_command[0], g_command);
    _exit(99);
  }
  Ended("vfork with reset", child);
  printf("the child saw %s, then %s\n", Name(&seen_before), Name(&seen_after));
}

static void PlainVfork(void) {
  const pid_t child = vfork();
  if (child == 0) {
    execv("/no/such/program", g_command);
    execv(g_command[0], g_command);
    _exit(99);
  }
  Ended("vfork", child);
}

static void PlainFork(void) {
  const pid_t child = fork();
  if (child == 0) {
    execv(g_command[0], g_command);
    _exit(99);
  }
  Ended("fork", child);
}

static void Spawn(void) {
  pid_t child = 0;
  if (posix_spawn(&child, g_command[0], NULL, NULL, g_command, environ) != 0) return;
  Ended("posix_spawn", child);
}

int main(int argc, char** argv) {
  const int ignore = argc > 1 && strcmp(argv[1], "ignore") == 0;
  struct sigaction action = {0};
  action.sa_handler = ignore ? SIG_IGN : Count;
  sigaction(SIGUSR1, &action, NULL);
  for (int round = 0; round < 2; ++round) {
    if (!ignore) VforkWithReset(round);
    Query("after vfork with reset");
    PlainVfork();
    PlainFork();
    Spawn();
    Query("at the end");
    raise(SIGUSR1);
    printf("handler ran %d times\n", (int)g_runs);
  }
  return 0;
}
