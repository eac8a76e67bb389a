// The attributes of kernels are in the sections .nv.info (for all kernels, each entry naming its
// symbol) and .nv.info.KERNEL. An entry is a format, an attribute and a 16-bit value; in the format
// kSized the value counts the bytes that follow. NVIDIA does not document the layout; the numbers
// are those that `readelf` and ptxas' report agree on, and the tests compare the two.
#include "plugins/backends/compiled/cubin.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "plugins/backends/elf/elf_view.hpp"

namespace krl::compiled {
using namespace elf;
namespace {

constexpr std::uint8_t kSized = 4;
constexpr std::uint8_t kMaxThreads = 0x05, kRequiredThreads = 0x10, kFrameSize = 0x11,
                       kMinStackSize = 0x12, kParameter = 0x17, kRegisterCount = 0x2f,
                       kBlocksPerCluster = 0x3d;
constexpr std::uint32_t kUnknownStack = 1024;  // CUDA's default of CU_LIMIT_STACK_SIZE
constexpr std::string_view kInfo = ".nv.info", kInfoOfKernel = ".nv.info.", kCode = ".text.",
                           kShared = ".nv.shared.";

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  if (offset + sizeof word <= bytes.size()) {
    std::memcpy(&word, bytes.data() + offset, sizeof word);
  }
  return word;
}

// Calls visit(attribute, content) for every sized entry.
template <class Visit>
void for_each_entry(std::string_view info, const Visit& visit) {
  while (info.size() >= 4) {
    const auto format = static_cast<std::uint8_t>(info[0]);
    const auto attribute = static_cast<std::uint8_t>(info[1]);
    const std::size_t size = format == kSized ? word_at(info, 0) >> 16 : 0;
    info.remove_prefix(4);
    if (size > info.size()) return;
    if (format == kSized) visit(attribute, info.substr(0, size));
    info.remove_prefix(size);
  }
}

CubinParameter parameter_of(std::string_view content) {
  const std::uint32_t place = word_at(content, 4);  // 16 bits of index, 16 of offset
  return {place & 0xffff, place >> 16, word_at(content, 8) >> 18};
}

void read_own(std::string_view info, CubinKernel& kernel) {
  for_each_entry(info, [&](std::uint8_t attribute, std::string_view content) {
    if (attribute == kMaxThreads) {
      kernel.max_threads = static_cast<std::int32_t>(word_at(content, 0) * word_at(content, 4) *
                                                     word_at(content, 8));
    } else if (attribute == kRequiredThreads) {
      kernel.block = {word_at(content, 0), word_at(content, 4), word_at(content, 8)};
    } else if (attribute == kBlocksPerCluster) {
      kernel.cluster = {word_at(content, 0), word_at(content, 4), word_at(content, 8)};
    } else if (attribute == kParameter) {
      kernel.parameters.push_back(parameter_of(content));
    }
  });
  std::sort(kernel.parameters.begin(), kernel.parameters.end(),
            [](const CubinParameter& a, const CubinParameter& b) { return a.index < b.index; });
}

}  // namespace

std::optional<std::vector<CubinKernel>> read_cubin(std::string_view bytes, std::string& why) {
  const auto elf = ElfView::open_cubin(bytes, why);
  if (!elf) return std::nullopt;
  const auto sections = elf->sections();
  std::set<std::string_view> with_code;
  for (const auto& section : sections) {
    if (section.name.starts_with(kCode)) with_code.insert(section.name.substr(kCode.size()));
  }
  std::vector<CubinKernel> kernels;
  std::map<std::string_view, std::size_t> places;  // indices of the kernels by name
  for (const auto& section : sections) {
    if (!section.name.starts_with(kInfoOfKernel)) continue;
    const std::string_view name = section.name.substr(kInfoOfKernel.size());
    if (with_code.count(name) == 0 || !places.emplace(name, kernels.size()).second) continue;
    kernels.emplace_back().name = name;
    read_own(section.content, kernels.back());
  }
  const auto symbols = elf->symbol_names();
  for_each_entry(elf->section(kInfo), [&](std::uint8_t attribute, std::string_view content) {
    const std::uint32_t symbol = word_at(content, 0);
    if (symbol >= symbols.size()) return;
    const auto place = places.find(symbols[symbol]);
    if (place == places.end()) return;
    const auto value = static_cast<std::int32_t>(word_at(content, 4));
    if (attribute == kRegisterCount) kernels[place->second].registers = value;
    if (attribute == kFrameSize) kernels[place->second].stack_bytes = value;
  });
  return kernels;
}

std::uint32_t most_stack(std::string_view bytes, std::string_view ptx) {
  const auto has = [&](std::string_view word) { return ptx.find(word) != std::string_view::npos; };
  std::uint32_t most = 0;
  std::string ignored;
  if (const auto elf = ElfView::open_cubin(bytes, ignored)) {
    for_each_entry(elf->section(kInfo), [&](std::uint8_t attribute, std::string_view content) {
      if (attribute != kFrameSize && attribute != kMinStackSize) return;
      most = std::max(most, word_at(content, 4));
    });
  }
  return most + (has("call") || has("alloca") ? kUnknownStack : 0);
}

bool has_variables(std::string_view bytes) {
  std::string ignored;
  const auto elf = ElfView::open_cubin(bytes, ignored);
  if (!elf) return true;
  const auto sections = elf->sections();
  return std::any_of(sections.begin(), sections.end(), [](const ElfView::Section& section) {
    return section.writable && !section.name.starts_with(kShared);
  });
}

}  // namespace krl::compiled
