// A step of AdamW over flat float32 arrays in one pass, as torch's; the gradient is zero afterwards.

extern "C" __global__ void __launch_bounds__(kAdamWThreads)
    adamw_step(float* weights, float* gradient, float* first_moment, float* second_moment,
               long long count, AdamWNumbers n) {
  const long long i = static_cast<long long>(blockIdx.x) * kAdamWThreads + threadIdx.x;
  if (i >= count) return;
  const float g = gradient[i] * n.gradient_scale;
  const float weight = weights[i] * (1 - n.lr * n.weight_decay);
  const float first = first_moment[i] + (1 - n.beta1) * (g - first_moment[i]);
  const float second = n.beta2 * second_moment[i] + (1 - n.beta2) * g * g;
  weights[i] = weight - n.step_size * first / (sqrtf(second) * n.second_scale + n.epsilon);
  first_moment[i] = first;
  second_moment[i] = second;
  gradient[i] = 0;
}
