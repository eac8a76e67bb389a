// Memory that copies of this process have at once. A fork does not copy the page tables of files,
// so that each compile would fault in the compiler's code anew, 64 KiB at a time, and its heap by
// pages of 4 KiB: a quarter of the time that a small kernel takes. Huge anonymous pages are copied
// with the process. Where the system has none, everything is as before. For a process of one
// thread.
#pragma once

#include <filesystem>

namespace krl::nvrtc {

// Moves the code and constants of the loaded libraries that lie in `folder`, 90 MB of NVRTC's, into
// huge pages; takes some 50 ms.
void move_code_to_huge_pages(const std::filesystem::path& folder);

// Makes malloc take huge pages from now on, and keep what it has.
void grow_heap_by_huge_pages();

}  // namespace krl::nvrtc
