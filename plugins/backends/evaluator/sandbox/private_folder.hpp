// The folder that a compiler may write to. Other processes cannot find it, and it does not outlive
// the processes for which it is made, however they end. A function makes a new folder the working
// directory; it is called before any other restriction and returns why it failed, empty if not.
#pragma once

#include <cstdint>
#include <string>

namespace krl::sandbox {

// Enters a folder in memory of at most `bytes`, which has no place in the file system and is gone
// with the last process that works in it. Needs the right to mount, or user namespaces.
std::string enter_folder_in_memory(std::uint64_t bytes);

// Below `parent`, on the disk, for machines without those. Starts a process that removes the folder
// as soon as this one and all that it starts have ended.
std::string enter_folder_on_disk(const std::string& parent);

}  // namespace krl::sandbox
