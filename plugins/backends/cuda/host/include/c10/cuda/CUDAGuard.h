// Replaces the header of torch: see kernelrl/torch/all.hpp.
#pragma once

#include "kernelrl/torch/all.hpp"
