// Folders where CUDA may be installed: the toolkit, and the PyPI wheels. Pure, except for the
// environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace krl::evaluator {

// `wanted` alone if it is not empty; else $CUDA_HOME, the folder of the wheels in `wheels`, and
// /usr/local/cuda. In the order in which to look; they need not exist.
std::vector<std::filesystem::path> cuda_folders(const std::filesystem::path& wanted,
                                                const std::filesystem::path& wheels);

// Throws Failure(KRL_FAILED_PRECONDITION): `what` is in none of `folders`, and how to get it.
// `setup`: the call that installs it.
[[noreturn]] void not_in_cuda_folders(const std::string& what, const std::string& setup,
                                      const std::vector<std::filesystem::path>& folders);

}  // namespace krl::evaluator
