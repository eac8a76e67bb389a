// Python source text without an interpreter: its tokens, in the form of CUDA's (cuda_source.hpp).
// Comments are left out, and so are texts alone on their lines, such as documentation. Accepts any
// bytes and throws nothing. Thread-safe.
#pragma once

#include <kernelrl/cuda_source.hpp>
#include <string_view>
#include <vector>

namespace krl::retrieval {

// True if a text is more likely Python than C++: one of its lines outside of braces begins with
// `import`, `from`, `def` or `class … :`, as a module does.
bool looks_like_python(std::string_view text);

// Literals have their prefix and quotes.
std::vector<SourceToken> scan_python_source(std::string_view text);

// Returns the contents of a literal, without prefix and quotes. Escapes stay as they are.
std::string_view literal_contents(std::string_view literal);

}  // namespace krl::retrieval
