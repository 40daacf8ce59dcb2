// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Trains a two-layer perceptron on synthetic data with kernels of its own: forward, backward and update on one stream, the next
// batch's copy on another, the loss copied back now and then. `--graph` makes each step one CUDA graph. See README.md.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "kernels.cuh"

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t check_result = (call);                                                       \
    if (check_result != cudaSuccess) {                                                             \
      fprintf(stderr, "cuda_train: %s: %s\n", #call, cudaGetErrorString(check_result));            \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

namespace {

constexpr int kInputs = 256;
constexpr int kClasses = 10;
constexpr int kSlots = 2;  // batches that are on the device at once

struct Options {
  int steps = 200;
  int batch = 512;
  int hidden = 1024;
  int report = 20;  // steps from one printed loss to the next
  bool graph = false;
};

int NumberOf(const char* name, const char* text) {
  char* end = nullptr;
  const long value = text != nullptr ? strtol(text, &end, 10) : 0;
  if (text == nullptr || *end != 0 || value < 1 || value > 1 << 20) {
    fprintf(stderr, "cuda_train: %s wants a number from 1 to 1048576\n", name);
    exit(2);
  }
  return static_cast<int>(value);
}

Options Read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (strcmp(name, "--graph") == 0) {
      options.graph = true;
    } else if (strcmp(name, "--steps") == 0) {
      options.steps = NumberOf(name, argv[++i]);
    } else if (strcmp(name, "--batch") == 0) {
      options.batch = NumberOf(name, argv[++i]);
    } else if (strcmp(name, "--hidden") == 0) {
      options.hidden = NumberOf(name, argv[++i]);
    } else if (strcmp(name, "--report") == 0) {
      options.report = NumberOf(name, argv[++i]);
    } else {
      fprintf(stderr, "usage: cuda_train [--steps N] [--batch N] [--hidden N] [--report N] [--graph]\n");
      exit(strcmp(name, "--help") == 0 ? 0 : 2);
    }
  }
  return options;
}

template <typename T>
T* OnDevice(size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

template <typename T>
T* Pinned(size_t count) {
  T* memory = nullptr;
  CHECK(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocDefault));
  return memory;
}

// Points whose class is the direction, of ten random ones, that they lie in furthest.
class Data {
 public:
  explicit Data(int batch) : batch_(batch) {
    std::normal_distribution<float> normal;
    for (float& value : directions_) value = normal(random_);
  }
  void Fill(float* inputs, int* labels) {
    std::normal_distribution<float> normal;
    for (int row = 0; row < batch_; ++row, inputs += kInputs) {
      for (int i = 0; i < kInputs; ++i) inputs[i] = normal(random_);
      float best = -INFINITY;
      for (int c = 0; c < kClasses; ++c) {
        float sum = 0;
        for (int i = 0; i < kInputs; ++i) sum += inputs[i] * directions_[c * kInputs + i];
        if (sum <= best) continue;
        best = sum;
        labels[row] = c;
      }
    }
  }

 private:
  int batch_;
  std::mt19937 random_{1};
  float directions_[kClasses * kInputs];
};

struct Batch {
  float* host_inputs;
  int* host_labels;
  float* inputs;
  int* labels;
  cudaEvent_t copied, used;
  cudaGraphExec_t step = nullptr;
};

class Training {
 public:
  explicit Training(const Options& options) : options_(options), data_(options.batch) {
    CHECK(cudaStreamCreateWithFlags(&compute_, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking));
    const size_t batch = options.batch, hidden = options.hidden;
    first_ = Weights(kInputs * hidden, kInputs);
    second_ = Weights(hidden * kClasses, options.hidden);
    first_bias_ = Zeros(hidden);
    second_bias_ = Zeros(kClasses);
    first_gradient_ = OnDevice<float>(kInputs * hidden);
    second_gradient_ = OnDevice<float>(hidden * kClasses);
    activations_ = OnDevice<float>(batch * hidden);
    activation_gradient_ = OnDevice<float>(batch * hidden);
    logits_ = OnDevice<float>(batch * kClasses);
    loss_ = OnDevice<float>(1);
    host_loss_ = Pinned<float>(1);
    for (Batch& slot : slots_) {
      slot.host_inputs = Pinned<float>(batch * kInputs);
      slot.host_labels = Pinned<int>(batch);
      slot.inputs = OnDevice<float>(batch * kInputs);
      slot.labels = OnDevice<int>(batch);
      CHECK(cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming));
      CHECK(cudaEventCreateWithFlags(&slot.used, cudaEventDisableTiming));
      if (options.graph) slot.step = Capture(slot);
    }
    CHECK(cudaStreamSynchronize(compute_));
  }

  void Run() {
    Upload(slots_[0]);
    for (int step = 0; step < options_.steps; ++step) {
      Batch& now = slots_[step % kSlots];
      // While this step computes, the next one's batch is made and copied.
      CHECK(cudaStreamWaitEvent(compute_, now.copied, 0));
      if (now.step != nullptr) {
        CHECK(cudaGraphLaunch(now.step, compute_));
      } else {
        Step(now);
      }
      CHECK(cudaEventRecord(now.used, compute_));
      const bool is_last = step + 1 == options_.steps;
      if (!is_last) Upload(slots_[(step + 1) % kSlots]);
      if (step % options_.report == 0 || is_last) printf("step %4d  loss %.4f\n", step, Loss());
    }
  }

 private:
  float* Zeros(size_t count) {
    float* memory = OnDevice<float>(count);
    CHECK(cudaMemsetAsync(memory, 0, count * sizeof(float), compute_));
    return memory;
  }

  float* Weights(size_t count, int inputs) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / static_cast<float>(inputs)));
    std::vector<float> values(count);
    for (float& value : values) value = normal(random_);
    float* memory = OnDevice<float>(count);
    CHECK(cudaMemcpy(memory, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return memory;
  }

  void Upload(Batch& slot) {
    // The host's buffer is free once its copy is through, the device's once its step is.
    CHECK(cudaEventSynchronize(slot.copied));
    data_.Fill(slot.host_inputs, slot.host_labels);
    CHECK(cudaStreamWaitEvent(copies_, slot.used, 0));
    const size_t rows = options_.batch;
    CHECK(cudaMemcpyAsync(slot.inputs, slot.host_inputs, rows * kInputs * sizeof(float), cudaMemcpyHostToDevice, copies_));
    CHECK(cudaMemcpyAsync(slot.labels, slot.host_labels, rows * sizeof(int), cudaMemcpyHostToDevice, copies_));
    CHECK(cudaEventRecord(slot.copied, copies_));
  }

  void Step(const Batch& slot) {
    const int batch = options_.batch, hidden = options_.hidden;
    constexpr float kRate = 0.05f;
    CHECK(cudaMemsetAsync(loss_, 0, sizeof(float), compute_));
    // Forward.
    Multiply<false, false>(slot.inputs, first_, activations_, batch, hidden, kInputs, compute_);
    AddBias<true><<<Blocks(batch * hidden), kThreads, 0, compute_>>>(activations_, first_bias_, batch, hidden);
    Multiply<false, false>(activations_, second_, logits_, batch, kClasses, hidden, compute_);
    AddBias<false><<<Blocks(batch * kClasses), kThreads, 0, compute_>>>(logits_, second_bias_, batch, kClasses);
    SoftmaxCrossEntropy<<<Blocks(batch), kThreads, 0, compute_>>>(logits_, slot.labels, loss_, batch, kClasses);
    // Backward: logits_ holds the gradient now.
    Multiply<true, false>(activations_, logits_, second_gradient_, hidden, kClasses, batch, compute_);
    Multiply<false, true>(logits_, second_, activation_gradient_, batch, hidden, kClasses, compute_);
    ReluBackward<<<Blocks(batch * hidden), kThreads, 0, compute_>>>(activation_gradient_, activations_, batch * hidden);
    Multiply<true, false>(slot.inputs, activation_gradient_, first_gradient_, kInputs, hidden, batch, compute_);
    // Update.
    UpdateBias<<<Blocks(kClasses), kThreads, 0, compute_>>>(second_bias_, logits_, batch, kClasses, kRate);
    UpdateBias<<<Blocks(hidden), kThreads, 0, compute_>>>(first_bias_, activation_gradient_, batch, hidden, kRate);
    Update<<<Blocks(hidden * kClasses), kThreads, 0, compute_>>>(second_, second_gradient_, hidden * kClasses, kRate);
    Update<<<Blocks(kInputs * hidden), kThreads, 0, compute_>>>(first_, first_gradient_, kInputs * hidden, kRate);
    CHECK(cudaGetLastError());
  }

  cudaGraphExec_t Capture(const Batch& slot) {
    cudaGraph_t graph;
    cudaGraphExec_t step;
    CHECK(cudaStreamBeginCapture(compute_, cudaStreamCaptureModeThreadLocal));
    Step(slot);
    CHECK(cudaStreamEndCapture(compute_, &graph));
    CHECK(cudaGraphInstantiate(&step, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return step;
  }

  float Loss() {
    CHECK(cudaMemcpyAsync(host_loss_, loss_, sizeof(float), cudaMemcpyDeviceToHost, compute_));
    CHECK(cudaStreamSynchronize(compute_));
    return *host_loss_ / static_cast<float>(options_.batch);
  }

  Options options_;
  Data data_;
  std::mt19937 random_{2};
  cudaStream_t compute_, copies_;
  float *first_, *second_, *first_bias_, *second_bias_;
  float *first_gradient_, *second_gradient_, *activations_, *activation_gradient_, *logits_;
  float *loss_, *host_loss_;
  Batch slots_[kSlots];
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = Read(argc, argv);
  Training training(options);
  training.Run();
  return 0;
}
