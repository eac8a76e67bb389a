#include "plugins/backends/cpu/machine/memory/device_calls.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"

namespace krl::machine {
namespace {

constexpr std::size_t kMostText =
    4096;                     // bytes of a format, of a text among the values, of a value
constexpr int kWidest = 512;  // columns of a value, as hardware pads it no further

// Reads a lane's memory byte by byte, whatever space it is in.
class LaneReader {
 public:
  LaneReader(const Instruction& instruction, Warp& warp, std::byte* frame, unsigned lane)
      : instruction_(instruction), warp_(warp), frame_(frame), lane_(lane) {}

  std::uint64_t slot(std::uint32_t row) const {
    std::uint64_t value;
    std::memcpy(&value, frame_ + row + lane_ * sizeof value, sizeof value);
    return value;
  }

  std::byte byte(std::uint64_t address) const {
    BlockMemory& memory = warp_.memory();
    switch (space_of(address)) {
      case ptx::Space::kLocal: {
        const Activation& call = activation(frame_);
        const std::uint64_t offset = address - kLocalWindow;
        const std::uint32_t usable = call.local_base + call.function->local_bytes;
        if (offset >= usable || usable > kLocalBytes) break;
        LocalMemory& local = memory.local(warp_.index());
        local.use(usable, memory.launch().garbage());
        std::byte value;
        local.read(lane_, static_cast<std::uint32_t>(offset), 1, &value);
        return value;
      }
      case ptx::Space::kShared: {
        const std::uint64_t offset = address - kSharedWindow;
        if (offset >= memory.launch().shared_bytes()) break;
        return memory.shared().data()[offset];
      }
      case ptx::Space::kParameter: {
        const std::uint64_t offset = address - kParameterWindow;
        if (offset >= memory.launch().parameters().size()) break;
        return memory.launch().parameters()[offset];
      }
      default: {
        const Region* const region = memory.launch().find(address, address + 1);
        if (region == nullptr) break;
        return region->host[address - region->begin];
      }
    }
    throw Fault{FaultKind::kIllegalAddress, "a text or value for printf is out of bounds",
                instruction_.line, static_cast<int>(lane_)};
  }

  std::string text(std::uint64_t address) const {
    std::string text;
    for (; text.size() < kMostText; ++address) {
      const auto next = static_cast<char>(byte(address));
      if (next == '\0') break;
      text += next;
    }
    return text;
  }

 private:
  const Instruction& instruction_;
  Warp& warp_;
  std::byte* frame_;
  unsigned lane_;
};

// The values behind a format, each aligned to its size.
class Values {
 public:
  Values(const LaneReader& reader, std::uint64_t address) : reader_(reader), next_(address) {}

  template <class T>
  T take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    std::byte bytes[sizeof(T)];
    for (std::byte& byte : bytes) byte = reader_.byte(next_++);
    ++taken_;
    return std::bit_cast<T>(bytes);
  }
  std::string text() { return reader_.text(take<std::uint64_t>()); }
  std::uint32_t taken() const { return taken_; }

 private:
  const LaneReader& reader_;
  std::uint64_t next_;
  std::uint32_t taken_ = 0;
};

// A conversion of a format: "%-8.3lld" has the flags "-", a width, a precision and the length "ll".
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  std::string length;
  char type = '\0';

  bool is_wide() const {
    return length == "l" || length == "ll" || length == "z" || length == "j" || length == "t";
  }
  // Gives the conversion as the host's printf takes it, with another length.
  std::string spelled(std::string_view host_length) const {
    std::string text = "%" + flags;
    if (width) text += std::to_string(*width);
    if (precision) text += "." + std::to_string(*precision);
    return text.append(host_length) + type;
  }
};

template <class T>
std::string formatted(const std::string& format, T value) {
  char text[kMostText];
  const int size = std::snprintf(text, sizeof text, format.c_str(), value);
  return {text, size < 0 ? 0 : std::min(sizeof text - 1, static_cast<std::size_t>(size))};
}

// Reads a format from left to right.
class Formatter {
 public:
  Formatter(std::string_view format, Values& values) : format_(format), values_(values) {}

  std::string run() {
    std::string text;
    while (at_ < format_.size() && text.size() < kMostPrinted) {
      if (format_[at_] != '%') {
        text += format_[at_++];
        continue;
      }
      const std::size_t begin = at_++;
      if (take('%')) {
        text += '%';
        continue;
      }
      const Conversion conversion = read_conversion();
      const auto value = converted(conversion);
      text += value ? *value : std::string(format_.substr(begin, at_ - begin));
    }
    return text;
  }

 private:
  bool take(char c) {
    if (at_ == format_.size() || format_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string take_any(std::string_view characters) {
    const std::size_t end = std::min(format_.find_first_not_of(characters, at_), format_.size());
    std::string found(format_.substr(at_, end - at_));
    at_ = end;
    return found;
  }

  std::optional<int> take_number() {
    if (take('*')) return std::clamp(values_.take<std::int32_t>(), -kWidest, kWidest);
    const std::string digits = take_any("0123456789");
    if (digits.empty()) return std::nullopt;
    return digits.size() > 3 ? kWidest : std::min(std::stoi(digits), kWidest);
  }

  Conversion read_conversion() {
    Conversion conversion;
    conversion.flags = take_any("-+ #0").substr(0, 8);
    conversion.width = take_number();
    if (take('.')) conversion.precision = take_number().value_or(0);
    if (conversion.precision && *conversion.precision < 0) conversion.precision.reset();
    conversion.length = take_any("hlzjt");
    if (at_ < format_.size()) conversion.type = format_[at_++];
    return conversion;
  }

  // Nothing for a conversion that does not exist: its text is printed as it is.
  std::optional<std::string> converted(const Conversion& conversion) {
    switch (conversion.type) {
      case 'd':
      case 'i':
        return formatted(conversion.spelled("ll"), conversion.is_wide()
                                                       ? values_.take<long long>()
                                                       : values_.take<std::int32_t>());
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return formatted(conversion.spelled("ll"), conversion.is_wide()
                                                       ? values_.take<unsigned long long>()
                                                       : values_.take<std::uint32_t>());
      case 'c':
        return formatted(conversion.spelled(""), values_.take<std::int32_t>());
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return formatted(conversion.spelled(""), values_.take<double>());
      case 'p':
        return formatted("0x%llx", values_.take<unsigned long long>());
      case 's':
        return formatted(conversion.spelled(""), values_.text().c_str());
      default:
        return std::nullopt;
    }
  }

  std::string_view format_;
  Values& values_;
  std::size_t at_ = 0;
};

}  // namespace

void print(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const LaneReader reader(instruction, warp, frame, lane);
    const std::string format = reader.text(reader.slot(instruction.a));
    Values values(reader, reader.slot(instruction.b));
    warp.memory().launch().print(Formatter(format, values).run());
    const std::uint32_t taken = values.taken();
    if (instruction.d != 0)
      std::memcpy(frame + instruction.d + lane * sizeof taken, &taken, sizeof taken);
  }
}

void fail_assertion(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const LaneReader reader(instruction, warp, frame, lane);
  throw Fault{FaultKind::kTrap,
              "the assertion `" + reader.text(reader.slot(instruction.a)) + "` failed",
              instruction.line, static_cast<int>(lane)};
}

}  // namespace krl::machine
