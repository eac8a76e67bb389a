// An instruction has 16 bytes since sm_70. The low 9 bits of the first word encode the operation;
// the 3 above, the form of its operands. NVIDIA does not document the layout; the numbers are those
// that nvdisasm prints, and the tests compare the counts with its output.
#include "plugins/backends/compiled/machine_code.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "plugins/backends/elf/elf_view.hpp"

namespace krl::compiled {
using namespace elf;
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr std::uint64_t kOperation = 0x1ff;

using MachineCount = std::int64_t MachineCounts::*;

// NVIDIA's name follows each.
constexpr std::pair<std::uint64_t, MachineCount> kOperations[] = {
    {0x189, &MachineCounts::shuffles},             // SHFL
    {0x006, &MachineCounts::votes},                // VOTE
    {0x086, &MachineCounts::votes},                // VOTEU
    {0x1a1, &MachineCounts::votes},                // MATCH
    {0x1c4, &MachineCounts::votes},                // REDUX
    {0x0cc, &MachineCounts::votes},                // CREDUX
    {0x11d, &MachineCounts::barriers},             // BAR
    {0x1c7, &MachineCounts::barriers},             // UCGABAR
    {0x037, &MachineCounts::tensor_instructions},  // IMMA
    {0x03c, &MachineCounts::tensor_instructions},  // HMMA
    {0x03f, &MachineCounts::tensor_instructions},  // DMMA
    {0x1f0, &MachineCounts::tensor_instructions},  // HGMMA
    {0x1f3, &MachineCounts::tensor_instructions},  // QGMMA
    {0x18a, &MachineCounts::atomics},              // ATOM
    {0x18b, &MachineCounts::atomics},              // ATOM.CAS
    {0x1a2, &MachineCounts::atomics},              // ATOM of floating types
    {0x1a3, &MachineCounts::atomics},              // ATOMG of floating types
    {0x1a8, &MachineCounts::atomics},              // ATOMG
    {0x1a9, &MachineCounts::atomics},              // ATOMG.CAS
    {0x18c, &MachineCounts::atomics},              // ATOMS
    {0x18d, &MachineCounts::atomics},              // ATOMS.CAS
    {0x18e, &MachineCounts::atomics},              // RED, REDG
    {0x1a6, &MachineCounts::atomics},              // REDG of floating types
    {0x183, &MachineCounts::local_accesses},       // LDL
    {0x187, &MachineCounts::local_accesses},       // STL
    {0x1ae, &MachineCounts::asynchronous_copies},  // LDGSTS
    {0x1ba, &MachineCounts::asynchronous_copies},  // UBLKCP
    {0x1b4, &MachineCounts::asynchronous_copies},  // UTMALDG
    {0x1b5, &MachineCounts::asynchronous_copies},  // UTMASTG
};

constexpr std::uint64_t kLoadGlobal = 0x181, kStoreGlobal = 0x186;  // LDG, STG
// Fields of the second word: the width of an access, where 5 = 8 bytes and 6 = 16 bytes.
constexpr unsigned kWidthShift = 9, kWidthMask = 7, kEightBytes = 5, kSixteenBytes = 6;

constexpr std::pair<const char*, MachineCount> kMachineValueNames[] = {
    {"sass_shuffles", &MachineCounts::shuffles},
    {"sass_votes", &MachineCounts::votes},
    {"sass_barriers", &MachineCounts::barriers},
    {"sass_wide_accesses", &MachineCounts::wide_accesses},
    {"sass_tensor_instructions", &MachineCounts::tensor_instructions},
    {"sass_atomics", &MachineCounts::atomics},
    {"sass_local_accesses", &MachineCounts::local_accesses},
    {"sass_asynchronous_copies", &MachineCounts::asynchronous_copies}};

void add(std::string_view code, MachineCounts* counts) {
  for (; code.size() >= kInstructionBytes; code.remove_prefix(kInstructionBytes)) {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), code.data(), kInstructionBytes);
    const std::uint64_t operation = words[0] & kOperation;
    const std::uint64_t width = words[1] >> kWidthShift & kWidthMask;
    const bool global = operation == kLoadGlobal || operation == kStoreGlobal;
    if (global && (width == kEightBytes || width == kSixteenBytes)) ++counts->wide_accesses;
    for (const auto& [known, count] : kOperations) {
      if (operation == known) ++(counts->*count);
    }
  }
}

}  // namespace

MachineCounts count_machine_instructions(std::string_view cubin,
                                         const std::vector<std::string>& names) {
  MachineCounts counts;
  std::string why;
  const auto elf = ElfView::open_cubin(cubin, why);
  if (!elf) return counts;
  for (const std::string& name : names) add(elf->section(".text." + name), &counts);
  return counts;
}

void add_machine_values(const MachineCounts& counts, std::vector<Value>* values) {
  for (const auto& [name, count] : kMachineValueNames) {
    values->push_back({-1, name, "", static_cast<double>(counts.*count)});
  }
}

}  // namespace krl::compiled
