// The host side of the boundary: what the core lends to every plugin.
#pragma once

#include <kernelrl/abi.h>

namespace krl {

// The one host of this process, given to entry points and to create().
const krl_host* host();

}  // namespace krl
