#include "plugins/backends/cpu/emulator/line_table.hpp"

#include <vector>

#include "plugins/backends/cpu/emulator/dwarf_reader.hpp"
#include "plugins/backends/cpu/emulator/inlined_calls.hpp"

namespace krl::emulator {
namespace {

// Numbers as in the DWARF 5 standard, sections 6.2.4, 6.2.5 and 7.5.6.
enum StandardOpcode : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };
enum ContentType : std::uint64_t { kPath = 1 };

std::string_view string_at(std::string_view section, std::uint64_t offset) {
  return offset < section.size() ? DwarfReader(section.substr(offset)).text() : std::string_view{};
}

// One unit's line program: header, then opcodes.
class LineProgram {
 public:
  LineProgram(const ElfView& elf, std::string_view unit) : elf_(elf), reader_(unit) {}

  // What is known about the row that covers an address.
  struct Found {
    bool covered = false;    // there is such a row in this unit
    bool in_file = false;    // and it is of the wanted file
    std::uint32_t line = 0;  // its line, or that of the last row of the wanted file before it
    std::vector<std::size_t> file;  // the unit's numbers of the wanted file
  };

  Found find(std::uint64_t address, std::string_view file) {
    if (!read_header()) return {};
    address_ = address;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i] == file) wanted_.push_back(i);
    }
    while (!reader_.at_end() && reader_.good()) {
      if (step()) return {true, in_file_, found_, wanted_};
    }
    return {};
  }

 private:
  bool read_header() {
    if (reader_.fixed<std::uint16_t>() != 5) return false;  // g++ 12 writes version 5
    reader_.fixed<std::uint16_t>();                         // sizes of addresses and segments
    const auto header_bytes = reader_.fixed<std::uint32_t>();
    DwarfReader header(reader_.take(header_bytes));
    min_instruction_ = header.fixed<std::uint8_t>();
    header.fixed<std::uint8_t>();  // operations per instruction: not on this machine
    header.fixed<std::uint8_t>();  // is_stmt
    line_base_ = header.fixed<std::int8_t>();
    line_range_ = header.fixed<std::uint8_t>();
    opcode_base_ = header.fixed<std::uint8_t>();
    for (int i = 1; i < opcode_base_; ++i) operands_.push_back(header.fixed<std::uint8_t>());
    read_entries(header);           // directories
    files_ = read_entries(header);  // files
    return header.good() && line_range_ != 0;
  }

  std::vector<std::string_view> read_entries(DwarfReader& header) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(header.fixed<std::uint8_t>());
    for (auto& [content, form] : format) {
      content = header.unsigned_leb();
      form = header.unsigned_leb();
    }
    std::vector<std::string_view> paths;
    for (auto count = header.unsigned_leb(); count > 0 && header.good(); --count) {
      std::string_view path;
      for (const auto& [content, form] : format) {
        const auto text = read_form(header, form);
        if (content == kPath) path = text;
      }
      paths.push_back(path);
    }
    return paths;
  }

  std::string_view read_form(DwarfReader& header, std::uint64_t form) {
    switch (form) {
      case kString:
        return header.text();
      case kStrp:
        return string_at(elf_.section(".debug_str"), header.fixed<std::uint32_t>());
      case kLineStrp:
        return string_at(elf_.section(".debug_line_str"), header.fixed<std::uint32_t>());
      case kData1:
        return header.take(1).substr(0, 0);
      case kData2:
        return header.take(2).substr(0, 0);
      case kData4:
        return header.take(4).substr(0, 0);
      case kData8:
        return header.take(8).substr(0, 0);
      case kData16:
        return header.take(16).substr(0, 0);
      case kUdata:
        header.unsigned_leb();
        return {};
      case kBlock:
        header.take(header.unsigned_leb());
        return {};
      default:
        header.take(~std::uint64_t{0});  // unknown: the header is unreadable from here on
        return {};
    }
  }

  // Executes one opcode; true once the row behind `address_` was passed and `found_` is final.
  bool step() {
    const auto opcode = reader_.fixed<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const int adjusted = opcode - opcode_base_;
      pc_ += static_cast<std::uint64_t>(adjusted / line_range_) * min_instruction_;
      line_ += line_base_ + adjusted % line_range_;
      return row(false);
    }
    switch (opcode) {
      case kExtended:
        return step_extended();
      case kCopy:
        return row(false);
      case kAdvancePc:
        pc_ += reader_.unsigned_leb() * min_instruction_;
        return false;
      case kAdvanceLine:
        line_ += reader_.signed_leb();
        return false;
      case kSetFile:
        file_ = reader_.unsigned_leb();
        return false;
      case kConstAddPc:
        pc_ += static_cast<std::uint64_t>((255 - opcode_base_) / line_range_) * min_instruction_;
        return false;
      case kFixedAdvancePc:
        pc_ += reader_.fixed<std::uint16_t>();
        return false;
      default:
        for (int i = 0; i < operands_[opcode - 1u]; ++i) reader_.unsigned_leb();
        return false;
    }
  }

  bool step_extended() {
    const auto size = reader_.unsigned_leb();
    DwarfReader operand(reader_.take(size));
    switch (operand.fixed<std::uint8_t>()) {
      case kEndSequence:
        return row(true);
      case kSetAddress:
        pc_ = operand.fixed<std::uint64_t>();
        return false;
      default:
        return false;
    }
  }

  // A row begins at pc_: the row before it covered [previous_pc_, pc_).
  bool row(bool end_of_sequence) {
    if (in_sequence_ && previous_pc_ <= address_ && address_ < pc_) return true;
    in_sequence_ = !end_of_sequence;
    previous_pc_ = pc_;
    in_file_ = false;
    for (const auto wanted : wanted_) {
      if (wanted != file_) continue;
      found_ = static_cast<std::uint32_t>(line_);
      in_file_ = true;
    }
    if (end_of_sequence) {
      pc_ = 0;
      file_ = 1;
      line_ = 1;
      found_ = 0;
    }
    return false;
  }

  const ElfView& elf_;
  DwarfReader reader_;
  std::uint8_t min_instruction_ = 1, line_range_ = 1, opcode_base_ = 1;
  std::int8_t line_base_ = 0;
  std::vector<std::uint8_t> operands_;
  std::vector<std::string_view> files_;
  std::vector<std::size_t> wanted_;
  std::uint64_t address_ = 0, pc_ = 0, previous_pc_ = 0, file_ = 1;
  std::int64_t line_ = 1;
  std::uint32_t found_ = 0;
  bool in_sequence_ = false, in_file_ = false;
};

}  // namespace

std::uint32_t line_at(const ElfView& elf, std::uint64_t address, std::string_view file) {
  DwarfReader units(elf.section(".debug_line"));
  while (!units.at_end() && units.good()) {
    const auto size = units.fixed<std::uint32_t>();
    const auto found = LineProgram(elf, units.take(size)).find(address, file);
    if (!found.covered) continue;
    if (found.in_file) return found.line;
    const auto line = line_of_inlined_call(elf, address, found.file);
    return line != 0 ? line : found.line;
  }
  return 0;
}

}  // namespace krl::emulator
