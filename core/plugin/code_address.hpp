// Which file the code at an address came from, as the kernel's table of mappings has it. Unlike
// dladdr() it takes no lock, so it is signal-safe.
#pragma once

#include <climits>
#include <cstdint>
#include <string_view>

namespace krl {

// The path, in `buffer`; empty if no file is mapped there.
std::string_view file_at(std::uintptr_t address, char (&buffer)[PATH_MAX]);

}  // namespace krl
