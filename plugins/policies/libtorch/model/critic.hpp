// A critic: the value of a state as a linear function of the last hidden state, trained together
// with the policy. Its weights and arithmetic are float32 for any type of the model.
#pragma once

namespace krl::libtorch {

struct CriticOptions {
  bool detach = true;  // its loss teaches the critic alone, not the model below it
  double lr = 1e-4;    // constant, independent of the policy's
};

}  // namespace krl::libtorch
