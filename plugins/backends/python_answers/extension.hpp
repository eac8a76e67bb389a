// A call of torch.utils.cpp_extension.load_inline in an answer in Python: its sources, and which of
// their functions Python may call. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace krl::python {

struct Extension {
  struct Source {
    std::string text;
    std::uint32_t line = 0;  // line of the answer on which the text begins
  };
  std::vector<Source> cuda, cpp;
  std::vector<std::string> functions;  // empty: PYBIND11_MODULE of the sources names them
};

// Maps the Python names of functions to those in C++: "forward" -> "::forward". Contains the
// functions that PYBIND11_MODULE names, such as m.def("forward", &ns::forward, "…"); lambdas are
// left out.
std::map<std::string, std::string> functions_of(const Extension& extension);

// One translation unit, with the lines of the answer. Declarations alone are left out.
std::string joined(const std::vector<Extension>& extensions);

// True if the unit contains "function(" for a function "::ns::function".
bool defines(const std::string& unit, const std::string& function);

}  // namespace krl::python
