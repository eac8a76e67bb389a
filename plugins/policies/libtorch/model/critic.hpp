// A critic: the value of a state as a linear function of the last hidden state, trained together
// with the policy. Its weights and arithmetic are float32 whatever the model's type.
#pragma once

namespace krl::libtorch {

struct CriticOptions {
  bool detach = true;  // its loss teaches the critic alone, not the model below it
  double lr = 1e-4;    // constant, whatever the policy's is
};

}  // namespace krl::libtorch
