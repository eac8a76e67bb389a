#include "plugins/backends/cpu/emulator/inlined_calls.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "plugins/backends/cpu/emulator/dwarf_reader.hpp"

namespace krl::emulator {
namespace {

// Numbers as in the DWARF 5 standard, sections 7.5.1, 7.5.4, 7.5.5, 7.5.6 and 7.25.
constexpr std::uint8_t kCompileUnit = 0x01;
constexpr std::uint64_t kInlinedSubroutine = 0x1d;
enum Attribute : std::uint64_t {
  kLowPc = 0x11,
  kHighPc = 0x12,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59
};
enum RangeEntry : std::uint8_t {
  kEndOfList = 0,
  kOffsetPair = 4,
  kBaseAddress = 5,
  kStartEnd = 6,
  kStartLength = 7
};

struct Field {
  std::uint64_t attribute, form;
  std::int64_t constant;  // of kImplicitConst
};
struct Abbreviation {
  std::uint64_t tag = 0;
  std::vector<Field> fields;
};

std::map<std::uint64_t, Abbreviation> read_abbreviations(std::string_view bytes) {
  std::map<std::uint64_t, Abbreviation> all;
  DwarfReader reader(bytes);
  while (reader.good()) {
    const auto code = reader.unsigned_leb();
    if (code == 0) break;
    Abbreviation& entry = all[code];
    entry.tag = reader.unsigned_leb();
    reader.fixed<std::uint8_t>();  // whether there are children: the walk is flat
    while (reader.good()) {
      Field field{reader.unsigned_leb(), reader.unsigned_leb(), 0};
      if (field.form == kImplicitConst) field.constant = reader.signed_leb();
      if (field.attribute == 0 && field.form == 0) break;
      entry.fields.push_back(field);
    }
  }
  return all;
}

// The value of an attribute, or 0 where it is a text or a block; nothing if the form is unknown.
std::optional<std::uint64_t> read_value(DwarfReader& reader, const Field& field) {
  switch (field.form) {
    case kData1:
    case kRef1:
    case kFlag:
      return reader.fixed<std::uint8_t>();
    case kData2:
    case kRef2:
      return reader.fixed<std::uint16_t>();
    case kData4:
    case kRef4:
    case kSecOffset:
    case kStrp:
    case kLineStrp:
      return reader.fixed<std::uint32_t>();
    case kAddress:
    case kData8:
    case kRef8:
      return reader.fixed<std::uint64_t>();
    case kUdata:
    case kRefUdata:
      return reader.unsigned_leb();
    case kSdata:
      return static_cast<std::uint64_t>(reader.signed_leb());
    case kImplicitConst:
      return static_cast<std::uint64_t>(field.constant);
    case kFlagPresent:
      return 1;
    case kString:
      reader.text();
      return 0;
    case kData16:
      reader.take(16);
      return 0;
    case kBlock:
    case kExprloc:
      reader.take(reader.unsigned_leb());
      return 0;
    case kBlock1:
      reader.take(reader.fixed<std::uint8_t>());
      return 0;
    case kBlock2:
      reader.take(reader.fixed<std::uint16_t>());
      return 0;
    case kBlock4:
      reader.take(reader.fixed<std::uint32_t>());
      return 0;
    default:
      return std::nullopt;
  }
}

// Whether a range of the list at `offset` holds `address`.
bool in_ranges(std::string_view lists, std::uint64_t offset, std::uint64_t address) {
  if (offset >= lists.size()) return false;
  DwarfReader reader(lists.substr(offset));
  std::uint64_t base = 0;
  while (reader.good()) {
    std::uint64_t begin = 0, end = 0;
    switch (reader.fixed<std::uint8_t>()) {
      case kOffsetPair:
        begin = base + reader.unsigned_leb();
        end = base + reader.unsigned_leb();
        break;
      case kBaseAddress:
        base = reader.fixed<std::uint64_t>();
        break;
      case kStartEnd:
        begin = reader.fixed<std::uint64_t>();
        end = reader.fixed<std::uint64_t>();
        break;
      case kStartLength:
        begin = reader.fixed<std::uint64_t>();
        end = begin + reader.unsigned_leb();
        break;
      default:  // kEndOfList, or one that g++ does not write
        return false;
    }
    if (begin <= address && address < end) return true;
  }
  return false;
}

struct Call {
  std::uint64_t low = 0, high = 0, file = 0, line = 0;
  std::optional<std::uint64_t> ranges;
};

// Reads one entry's attributes; false if the entry cannot be understood.
bool read_entry(DwarfReader& reader, const Abbreviation& abbreviation, Call& call) {
  for (const auto& field : abbreviation.fields) {
    const auto value = read_value(reader, field);
    if (!value) return false;
    if (field.attribute == kLowPc) call.low = *value;
    if (field.attribute == kHighPc) call.high = field.form == kAddress ? *value : call.low + *value;
    if (field.attribute == kRanges) call.ranges = *value;
    if (field.attribute == kCallFile) call.file = *value;
    if (field.attribute == kCallLine) call.line = *value;
  }
  return reader.good();
}

}  // namespace

std::uint32_t line_of_inlined_call(const ElfView& elf, std::uint64_t address,
                                   const std::vector<std::size_t>& files) {
  const auto lists = elf.section(".debug_rnglists");
  DwarfReader units(elf.section(".debug_info"));
  std::uint64_t line = 0;
  while (!units.at_end() && units.good()) {
    const auto size = units.fixed<std::uint32_t>();
    DwarfReader unit(units.take(size));
    const bool known =
        unit.fixed<std::uint16_t>() == 5 && unit.fixed<std::uint8_t>() == kCompileUnit;
    unit.fixed<std::uint8_t>();  // size of an address
    const auto offset = unit.fixed<std::uint32_t>();
    const auto section = elf.section(".debug_abbrev");
    if (!known || offset >= section.size()) continue;
    const auto abbreviations = read_abbreviations(section.substr(offset));
    while (!unit.at_end() && unit.good()) {
      const auto found = abbreviations.find(unit.unsigned_leb());
      if (found == abbreviations.end()) continue;  // the end of a list of children
      Call call;
      if (!read_entry(unit, found->second, call)) break;
      if (found->second.tag != kInlinedSubroutine ||
          std::find(files.begin(), files.end(), call.file) == files.end()) {
        continue;
      }
      const bool inside = call.ranges ? in_ranges(lists, *call.ranges, address)
                                      : call.low <= address && address < call.high;
      if (inside) line = call.line;  // calls inside of calls come later
    }
  }
  return static_cast<std::uint32_t>(line);
}

}  // namespace krl::emulator
