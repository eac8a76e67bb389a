// The part of torch that the engine uses; precompiled (CMakeLists.txt). Including it takes seconds,
// so only the files that compute with tensors do.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
