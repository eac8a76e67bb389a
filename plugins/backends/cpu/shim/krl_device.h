// CUDA C++ for g++: what a kernel may use without an #include, as under nvcc and NVRTC.
// Compiled in front of every candidate; see compile_flags() in runner_protocol.cpp.
#pragma once

#include "krl/hooks.h"
// in this order
#include "krl/types.h"
#include "krl/warp.h"
#include "krl/atomic.h"
#include "krl/integer.h"
#include "krl/math.h"
#include "krl/float_limits.h"
#include "krl/integer_limits.h"
#include "krl/memory.h"
#include "krl/kernel.h"
#include "krl/forbidden.h"
