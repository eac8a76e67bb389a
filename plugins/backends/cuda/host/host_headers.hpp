// The headers that host code of candidates is compiled against: those of its call, and the shim of
// torch. They are installed with the plugins.
#pragma once

#include <filesystem>
#include <string>

namespace krl {

inline constexpr char kHostHeaders[] = "host";  // a shared folder, see InstalledFiles

// Of all names and contents in the folder.
std::string digest_of_headers(const std::filesystem::path& folder);

}  // namespace krl
