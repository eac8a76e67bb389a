// Constants shared by the host and the training kernels. Also part of the kernels' source, hence
// without includes.
#pragma once

namespace krl::libtorch {

// Threads of a block.
inline constexpr int kNormThreads = 256, kHeadThreads = 256, kTrainingGateThreads = 256;
inline constexpr int kSoftmaxThreads = 512, kEmbeddingThreads = 128, kColumnThreads = 1024,
                     kLossThreads = 512, kAdamWThreads = 256;

struct AdamWNumbers {
  float lr, beta1, beta2, epsilon, weight_decay, gradient_scale;
  float step_size;     // lr / (1 - beta1^step)
  float second_scale;  // 1 / √(1 - beta2^step)
};

}  // namespace krl::libtorch
