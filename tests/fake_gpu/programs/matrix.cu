// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels whose names say the opposite of what their code does: one with tensor cores, one with them
// in a function that it calls, one without. Its argument: repetitions (4).

#include <mma.h>

#include "check.h"

using namespace nvcuda;

__device__ __forceinline__ void Multiply(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0F);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__device__ __noinline__ void MultiplyElsewhere(const half* a, const half* b, float* c) {
  Multiply(a, b, c);
}

extern "C" __global__ void plain_name(const half* a, const half* b, float* c) {
  Multiply(a, b, c);
}

extern "C" __global__ void gemv_by_a_function(const half* a, const half* b, float* c, int times) {
  for (int i = 0; i < times; ++i) MultiplyElsewhere(a, b, c);
}

extern "C" __global__ void my_hmma_kernel(float* c) { c[threadIdx.x] = c[threadIdx.x] * 2 + 1; }

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? atoi(argv[1]) : 4;
  constexpr int kElements = 16 * 16;
  half* factors;
  float* product;
  CHECK(cudaMalloc(&factors, 2 * kElements * sizeof(half)));
  CHECK(cudaMalloc(&product, kElements * sizeof(float)));
  CHECK(cudaMemset(factors, 0, 2 * kElements * sizeof(half)));
  for (int i = 0; i < repetitions; ++i) {
    plain_name<<<1, 32>>>(factors, factors + kElements, product);
    gemv_by_a_function<<<1, 32>>>(factors, factors + kElements, product, 2);
    my_hmma_kernel<<<1, kElements>>>(product);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(factors));
  CHECK(cudaFree(product));
  return 0;
}
