// Reads the encodings of DWARF from bytes in memory: fixed numbers, LEB128, texts. Never reads
// outside of its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace krl::emulator {

// How a value is encoded: DWARF 5, table 7.6.
enum Form : std::uint64_t {
  kAddress = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kImplicitConst = 0x21,
};

// Reads forward; past the end every value is 0 and `good` stays false.
class DwarfReader {
 public:
  explicit DwarfReader(std::string_view bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  bool at_end() const { return position_ >= bytes_.size(); }

  template <class T>
  T fixed() {
    T value{};
    if (sizeof(T) > bytes_.size() - position_) {
      good_ = false;
      position_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) == 0) {
        if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        break;
      }
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view text() {
    const auto rest = bytes_.substr(position_);
    const auto end = rest.find('\0');
    position_ = end == std::string_view::npos ? bytes_.size() : position_ + end + 1;
    return rest.substr(0, end);
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - position_) {
      good_ = false;
      size = bytes_.size() - position_;
    }
    const auto result = bytes_.substr(position_, size);
    position_ += size;
    return result;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
};

}  // namespace krl::emulator
