// The call of a torch extension, appended to its source.
#pragma once

#include "kernelrl/guarded_call.hpp"
#include "kernelrl/torch/module.hpp"

extern "C" void kernelrl_host_call(const kernelrl_host::Call* call) {
  kernelrl_host::current_call = call;
  kernelrl_host::guarded(*call, [call] {
    kernelrl_host::Module module(*call);
    kernelrl_host::bind_functions(module);
    TORCH_CHECK(module.found(), "PYBIND11_MODULE defines no function 'forward'");
  });
  kernelrl_host::current_call = nullptr;
}
