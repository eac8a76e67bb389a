// Memory that forked copies of this process have immediately. A fork does not copy the page tables
// of files, so each compile would page in the compiler's code again, 64 KiB at a time, and its heap
// in pages of 4 KiB: a quarter of the time of a small kernel. Huge anonymous pages are copied with
// the process. On systems without them, nothing changes. For single-threaded processes.
#pragma once

#include <filesystem>

namespace krl::nvrtc {

// Moves the code and constants of the loaded libraries that are in `folder`, 90 MB of NVRTC's, into
// huge pages; takes some 50 ms.
void move_code_to_huge_pages(const std::filesystem::path& folder);

// Makes malloc take huge pages from now on, and keep freed memory.
void grow_heap_by_huge_pages();

}  // namespace krl::nvrtc
