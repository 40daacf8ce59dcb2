// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Two threads compute in two functions. Prints to stderr the seconds of processor time that all
// threads spent in each.

#include <time.h>

#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

std::mutex sums_mutex;
double alpha_seconds = 0, beta_seconds = 0;
volatile double sink = 0;

double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

[[gnu::noinline]] double alpha(double from, int rounds) {
  double sum = 0;
  for (int i = 0; i < rounds; ++i) sum += std::sqrt(from + i);
  return sum;
}

[[gnu::noinline]] double beta(double from, int rounds) {
  double sum = 0;
  for (int i = 0; i < rounds; ++i) sum += std::cbrt(from + i);
  return sum;
}

[[gnu::noinline]] void Work(double seconds) {
  double alphas = 0, betas = 0;
  while (alphas + betas < seconds) {
    const double begin = ThreadSeconds();
    sink = sink + alpha(begin, 300'000);
    const double middle = ThreadSeconds();
    sink = sink + beta(middle, 30'000);
    alphas += middle - begin;
    betas += ThreadSeconds() - middle;
  }
  const std::lock_guard<std::mutex> lock(sums_mutex);
  alpha_seconds += alphas;
  beta_seconds += betas;
}

int main() {
  std::thread other(Work, 1.5);
  Work(1.0);
  other.join();
  std::fprintf(stderr, "%.3f %.3f\n", alpha_seconds, beta_seconds);
}
