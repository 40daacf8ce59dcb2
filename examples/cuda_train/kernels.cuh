// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The kernels of a perceptron's training step. Matrices are row by row; gradients are sums over the batch, not means, until
// SoftmaxCrossEntropy divides.

#pragma once

constexpr int kThreads = 256;
constexpr int kTile = 16;

inline unsigned Blocks(int items) { return static_cast<unsigned>((items + kThreads - 1) / kThreads); }

// c = op(a) op(b), op(a) of rows x inner, op(b) of inner x columns; a transposed operand is stored the other way round.
template <bool kTransposeA, bool kTransposeB>
__global__ void MatrixProduct(const float* a, const float* b, float* c, int rows, int columns, int inner) {
  __shared__ float tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < inner; start += kTile) {
    const int k_a = start + threadIdx.x, k_b = start + threadIdx.y;
    const bool in_a = row < rows && k_a < inner, in_b = column < columns && k_b < inner;
    tile_a[threadIdx.y][threadIdx.x] = in_a ? a[kTransposeA ? k_a * rows + row : row * inner + k_a] : 0;
    tile_b[threadIdx.y][threadIdx.x] = in_b ? b[kTransposeB ? column * inner + k_b : k_b * columns + column] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}

template <bool kTransposeA, bool kTransposeB>
void Multiply(const float* a, const float* b, float* c, int rows, int columns, int inner, cudaStream_t stream) {
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  MatrixProduct<kTransposeA, kTransposeB><<<grid, dim3(kTile, kTile), 0, stream>>>(a, b, c, rows, columns, inner);
}

template <bool kRelu>
__global__ void AddBias(float* values, const float* bias, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const float value = values[i] + bias[i % columns];
  values[i] = kRelu && value < 0 ? 0 : value;
}

// A thread a row: adds the row's loss to `loss`, puts the loss's gradient in the logits' place.
__global__ void SoftmaxCrossEntropy(float* logits, const int* labels, float* loss, int rows, int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* values = logits + row * classes;
  float most = values[0], sum = 0;
  for (int i = 1; i < classes; ++i) most = fmaxf(most, values[i]);
  for (int i = 0; i < classes; ++i) sum += expf(values[i] - most);
  atomicAdd(loss, logf(sum) - (values[labels[row]] - most));
  for (int i = 0; i < classes; ++i)
    values[i] = (expf(values[i] - most) / sum - (i == labels[row] ? 1.0f : 0.0f)) / static_cast<float>(rows);
}

__global__ void ReluBackward(float* gradient, const float* activations, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && activations[i] <= 0) gradient[i] = 0;
}

// A thread a column: a bias's gradient is the sum over the batch.
__global__ void UpdateBias(float* bias, const float* gradient, int rows, int columns, float rate) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += gradient[row * columns + column];
  bias[column] -= rate * sum;
}

__global__ void Update(float* weights, const float* gradient, int count, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) weights[i] -= rate * gradient[i];
}
