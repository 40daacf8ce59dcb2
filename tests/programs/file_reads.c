// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads files by every call that gpuprof hooks, in a known number, and other things that are no
// files: file_reads MODE FILE OTHER. FILE has 100000 bytes at least. OTHER is another such file.
//
//   calls    each call once, also on a second thread, and reads of pipe, socket and device
//   reuse    descriptors whose number stands for one file after the other
//   forks    a child reads its parent's descriptor and one of its own
//   fails    reads that fail; prints the errors
//   element  a read of one large element, of which the file has only a part
//   handler  a signal handler reads while the program reads; prints how often both did

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char g_buffer[100000];

static void Check(int is_right) {
  if (is_right) return;
  perror("file_reads");
  _exit(1);
}

static int Open(const char* path) {
  const int fd = open(path, O_RDONLY);
  Check(fd >= 0);
  return fd;
}

static void* OnThread(void* path) {
  const int fd = Open(path);
  char part[256];
  for (int i = 0; i < 4; ++i) Check(pread64(fd, part, sizeof part, 1000 * i) == 256);
  Check(close(fd) == 0);
  return NULL;
}

static void NoFiles(void) {
  int ends[2];
  char byte;
  Check(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1);
  int both[2];
  Check(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0 && write(both[1], "x", 1) == 1 &&
        read(both[0], &byte, 1) == 1);
  const int zero = Open("/dev/zero");
  Check(read(zero, g_buffer, 4096) == 4096);
}

static int Calls(const char* path, const char* other) {
  pthread_t thread;
  Check(pthread_create(&thread, NULL, OnThread, (void*)path) == 0);
  const int fd = Open(path);
  for (int i = 0; i < 3; ++i) Check(read(fd, g_buffer, 1000) == 1000);
  Check(pread(fd, g_buffer, 500, 0) == 500);
  struct iovec parts[2] = {{g_buffer, 100}, {g_buffer + 100, 200}};
  Check(readv(fd, parts, 2) == 300);
  Check(preadv(fd, parts, 2, 0) == 300);
  Check(preadv64(fd, parts, 1, 0) == 100);
  Check(preadv2(fd, parts, 1, 50, 0) == 100);
  Check(preadv64v2(fd, parts, 1, 50, 0) == 100);
  Check(close(fd) == 0);
  FILE* stream = fopen(other, "r");
  Check(setvbuf(stream, NULL, _IOFBF, 4096) == 0);
  Check(fread(g_buffer, 1, 10, stream) == 10);  // the kernel gives 4096 bytes
  for (int i = 0; i < 100; ++i) Check(fread(g_buffer, 1, 1, stream) == 1);  // it gives none
  Check(fread(g_buffer, 1, 3986, stream) == 3986);        // nor here, to the buffer's end
  Check(fread_unlocked(g_buffer, 4096, 2, stream) == 2);  // 8192, past the buffer
  Check(fclose(stream) == 0);
  NoFiles();
  Check(pthread_join(thread, NULL) == 0);
  return 0;
}

static int Reuse(const char* path, const char* other) {
  int fd = Open(path);
  const int number = fd;
  Check(read(fd, g_buffer, 10) == 10 && close(fd) == 0);
  fd = Open(other);
  Check(fd == number && read(fd, g_buffer, 20) == 20);
  const int source = Open(path);
  Check(dup2(source, fd) == fd && read(fd, g_buffer, 30) == 30);
  Check(close(source) == 0);
  const int second = Open(other);
  Check(dup3(second, fd, O_CLOEXEC) == fd && read(fd, g_buffer, 40) == 40);
  Check(close(second) == 0 && close(fd) == 0);
  FILE* stream = fopen(path, "r");
  Check(fileno(stream) == number && read(number, g_buffer, 50) == 50 && fclose(stream) == 0);
  fd = Open(other);
  Check(fd == number && read(fd, g_buffer, 60) == 60);
  Check(close_range(fd, fd, 0) == 0 || close(fd) == 0);
  fd = Open(path);
  Check(fd == number && read(fd, g_buffer, 70) == 70);
  const int high = fcntl(fd, F_DUPFD, 5000);
  if (high >= 0) {
    Check(read(high, g_buffer, 80) == 80 && close(high) == 0);
    printf("high\n");
  }
  return 0;
}

static int Forks(const char* path, const char* other) {
  const int fd = Open(path);
  Check(read(fd, g_buffer, 10) == 10);
  const pid_t child = fork();
  if (child == 0) {
    Check(read(fd, g_buffer, 20) == 20 && close(fd) == 0);
    const int own = Open(other);
    Check(own == fd && read(own, g_buffer, 30) == 30);
    exit(0);
  }
  int status;
  Check(waitpid(child, &status, 0) == child && status == 0);
  Check(read(fd, g_buffer, 40) == 40);
  return 0;
}

static int Fails(const char* path) {
  const int fd = Open(path);
  const int folder = Open("/");
  const int closed = dup(fd);
  Check(close(closed) == 0);
  errno = 0;
  Check(read(fd, (void*)8, 100) == -1);
  printf("%d ", errno);
  Check(read(folder, g_buffer, 100) == -1);
  printf("%d ", errno);
  Check(pread(closed, g_buffer, 100, 0) == -1);
  printf("%d ", errno);
  errno = 77;
  Check(read(fd, g_buffer, 100) == 100);
  printf("%d\n", errno);
  return 0;
}

static int Element(const char* path) {
  static char element[200000];
  FILE* stream = fopen(path, "r");
  printf("%zu\n", fread(element, sizeof element, 1, stream));
  Check(feof(stream) && fclose(stream) == 0);
  return 0;
}

static int g_shared;
static atomic_long g_in_handler;

static void OnAlarm(int signal) {
  char part[64];
  const int saved = errno;
  if (pread(g_shared, part, sizeof part, 0) == sizeof part) atomic_fetch_add(&g_in_handler, 1);
  errno = saved;
}

static int Handler(const char* path) {
  g_shared = Open(path);
  struct sigaction action = {.sa_handler = OnAlarm, .sa_flags = SA_RESTART};
  Check(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 100}, {0, 100}};
  Check(setitimer(ITIMER_REAL, &often, NULL) == 0);
  long reads = 0;
  for (; reads < 100000; ++reads) {
    Check(pread(g_shared, g_buffer, 32, 0) == 32);
    // Lets the recorder's thread empty the ring.
    if (reads % 1000 == 0) usleep(500);
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  Check(setitimer(ITIMER_REAL, &never, NULL) == 0);
  printf("%ld %ld\n", reads, atomic_load(&g_in_handler));
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* mode = argv[1];
  if (strcmp(mode, "calls") == 0) return Calls(argv[2], argv[3]);
  if (strcmp(mode, "reuse") == 0) return Reuse(argv[2], argv[3]);
  if (strcmp(mode, "forks") == 0) return Forks(argv[2], argv[3]);
  if (strcmp(mode, "fails") == 0) return Fails(argv[2]);
  if (strcmp(mode, "element") == 0) return Element(argv[2]);
  if (strcmp(mode, "handler") == 0) return Handler(argv[2]);
  return 2;
}
