#include "plugins/backends/nvrtc/huge_pages.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace krl::nvrtc {
namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
constexpr int kHeapBytes = 64 << 20;      // more than the compiles of most kernels take
constexpr int kLargestOfHeap = 32 << 20;  // malloc's maximum; larger blocks are mapped

std::uintptr_t down(std::uintptr_t address) { return address / kHugePage * kHugePage; }
std::uintptr_t up(std::uintptr_t address) { return down(address + kHugePage - 1); }
void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// A mapping begins anywhere; huge pages do not.
std::uintptr_t new_huge_pages(std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped), place = up(begin);
  if (place > begin) ::munmap(mapped, place - begin);
  if (begin + kHugePage > place) ::munmap(pointer(place + bytes), begin + kHugePage - place);
  if (::madvise(pointer(place), bytes, MADV_HUGEPAGE) == 0) return place;
  ::munmap(pointer(place), bytes);
  return 0;
}

// Moves the bytes to other pages at the same addresses. The running code must not be among them.
void move(std::uintptr_t begin, std::uintptr_t end, int protection) {
  const std::size_t bytes = end - begin;
  const std::uintptr_t copy = new_huge_pages(bytes);
  if (copy == 0) return;
  std::memcpy(pointer(copy), pointer(begin), bytes);
  const bool moved = ::mprotect(pointer(copy), bytes, protection) == 0 &&
                     ::mremap(pointer(copy), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                              pointer(begin)) != MAP_FAILED;
  if (!moved) ::munmap(pointer(copy), bytes);
}

// Moves the huge pages that lie entirely within read-only segments.
int move_segments(dl_phdr_info* library, std::size_t, void* folder) {
  const auto& wanted = *static_cast<const std::filesystem::path*>(folder);
  if (std::filesystem::path(library->dlpi_name).parent_path() != wanted) return 0;
  for (int s = 0; s < library->dlpi_phnum; ++s) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[s];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t address = library->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t begin = up(address), end = down(address + segment.p_filesz);
    const int executable = (segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0;
    if (begin < end) move(begin, end, PROT_READ | executable);
  }
  return 0;
}

}  // namespace

void move_code_to_huge_pages(const std::filesystem::path& folder) {
  std::filesystem::path wanted = folder;
  ::dl_iterate_phdr(move_segments, &wanted);
}

void grow_heap_by_huge_pages() {
  ::mallopt(M_TRIM_THRESHOLD, 2 * kHeapBytes);
  ::mallopt(M_MMAP_THRESHOLD, kLargestOfHeap);
  ::mallopt(M_TOP_PAD, kHeapBytes);
  const std::uintptr_t begin = up(reinterpret_cast<std::uintptr_t>(::sbrk(0)));
  void* volatile block = std::malloc(kLargestOfHeap / 2);  // the heap grows; not left out
  const std::uintptr_t end = down(reinterpret_cast<std::uintptr_t>(::sbrk(0)));
  if (begin < end) ::madvise(pointer(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}

}  // namespace krl::nvrtc
