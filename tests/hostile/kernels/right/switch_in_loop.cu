// task: vector_mul expect: ok
// A state machine: each turn of the loop is one step of load, load, multiply, store.
// @launch kern<<<ceil_div(len, 64), 64>>>(u, v, res, len)
enum State { kFirst, kSecond, kMultiply, kStore, kDone };
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  State state = i < len ? kFirst : kDone;
  float p = 0, q = 0;
  while (state != kDone) {
    switch (state) {
      case kFirst: p = u[i]; state = kSecond; break;
      case kSecond: q = v[i]; state = kMultiply; break;
      case kMultiply: p *= q; state = kStore; break;
      case kStore: res[i] = p; state = kDone; break;
      case kDone: break;
    }
  }
}
