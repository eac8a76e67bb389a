// A library whose static constructor is the statement FAULT.
#include <kernelrl/abi.h>
#include <cstdlib>

namespace {

[[maybe_unused]] volatile int* volatile nowhere = nullptr;

struct Start {
  Start() { FAULT; }
} start;

}  // namespace

extern "C" KRL_EXPORT const krl_plugin* krl_plugin_v1(const krl_host*) { return nullptr; }
