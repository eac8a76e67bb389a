// Arrays in NumPy's file format, .npy: versions 1 to 3 are read, 1 is written.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/backends/emulate/element_type.hpp"

namespace krl::emulate {

struct Array {
  const ElementType* type = nullptr;
  std::vector<std::int64_t> shape;  // row-major
  std::vector<std::byte> bytes;
};

// Throws Failure(KRL_NOT_FOUND), or Failure(KRL_INVALID_ARGUMENT) with the file and what is wrong with
// it: not such a file, another type, byte order or order of the elements, cut.
Array read_npy(const std::string& path);

// Throws Failure as files::write_file does.
void write_npy(const std::string& path, const Array& array);

}  // namespace krl::emulate
