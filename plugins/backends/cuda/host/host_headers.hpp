// The headers against which the host code of candidates is compiled: those of its call, and the
// torch shim. They are installed with the plugins.
#pragma once

#include <filesystem>
#include <string>

namespace krl::cuda {

inline constexpr char kHostHeaders[] = "host";  // a shared folder, see InstalledFiles

// Computes a digest over all names and contents in the folder.
std::string digest_of_headers(const std::filesystem::path& folder);

}  // namespace krl::cuda
