// A critic: the value of a state as a linear function of the last hidden state, which learns beside
// the policy. Its numbers are float32 whatever the model computes in, as is its arithmetic.
#pragma once

namespace krl::libtorch {

struct CriticOptions {
  bool detach = true;  // its loss teaches the critic alone, not the model below it
  double lr = 1e-4;    // constant, whatever the policy's is
};

}  // namespace krl::libtorch
