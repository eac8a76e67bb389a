#include "plugins/backends/ptx/declarations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "plugins/backends/ptx/constants.hpp"

namespace krl::ptx {
namespace {

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {".pred", Type::kPredicate}, {".b8", Type::kB8},     {".b16", Type::kB16},
    {".b32", Type::kB32},        {".b64", Type::kB64},   {".b128", Type::kB128},
    {".u8", Type::kU8},          {".u16", Type::kU16},   {".u32", Type::kU32},
    {".u64", Type::kU64},        {".s8", Type::kS8},     {".s16", Type::kS16},
    {".s32", Type::kS32},        {".s64", Type::kS64},   {".f16", Type::kF16},
    {".f16x2", Type::kF16x2},    {".bf16", Type::kBF16}, {".bf16x2", Type::kBF16x2},
    {".f32", Type::kF32},        {".f64", Type::kF64},
};

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {".global", Space::kGlobal}, {".const", Space::kConstant},  {".shared", Space::kShared},
    {".local", Space::kLocal},   {".param", Space::kParameter},
};

template <class Table, class Value = decltype(std::declval<Table>()[0].second)>
auto found_in(const Table& table, std::string_view name) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& row) { return row.first == name; });
  using Found = std::remove_cv_t<std::remove_reference_t<Value>>;
  return found == std::end(table) ? std::nullopt : std::optional<Found>(found->second);
}

std::uint32_t read_alignment(Tokens& tokens) {
  constexpr std::uint64_t kMostBytes = 1u << 16;
  const std::uint64_t align = read_count(tokens, kMostBytes, "an alignment");
  if (!std::has_single_bit(align)) tokens.malformed("an alignment is a power of two");
  return static_cast<std::uint32_t>(align);
}

// The braces of an initial value, element by element, into a Variable.
class InitialValue {
 public:
  InitialValue(Tokens& tokens, std::vector<std::uint64_t> dimensions, Variable& variable)
      : tokens_(tokens), dimensions_(std::move(dimensions)), variable_(variable) {
    variable_.initial.resize(variable_.bytes);
  }

  void read() { read_dimension(0, 0, variable_.bytes); }

 private:
  // `bytes` from `at` on. As deep as there are dimensions.
  void read_dimension(std::size_t depth, std::uint64_t at, std::uint64_t bytes) {
    if (depth == dimensions_.size()) return read_element(at);
    const std::uint64_t count = dimensions_[depth];
    const std::uint64_t step = count == 0 ? 0 : bytes / count;
    tokens_.expect("{");
    if (tokens_.accept("}")) return;
    std::uint64_t index = 0;
    do {
      if (index == count) tokens_.malformed("an initial value has too many elements");
      read_dimension(depth + 1, at + index++ * step, step);
    } while (tokens_.accept(","));
    tokens_.expect("}");
  }

  void read_element(std::uint64_t at) {
    const bool word = tokens_.next().kind == Token::kWord && !tokens_.next().is("WARP_SZ");
    if (word) return read_address(at);
    const Constant value = read_constant(tokens_);
    const std::size_t bytes = size_of(variable_.type);
    const bool float32 = variable_.type == Type::kF32, float64 = variable_.type == Type::kF64;
    std::uint64_t bits = value.bits;
    if (float32 && value.kind == Constant::kFloat64) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    } else if (float32   ? value.kind != Constant::kFloat32
               : float64 ? value.kind != Constant::kFloat64
                         : !value.integer() || !fits(value, bytes)) {
      tokens_.malformed("an initial value does not fit the type of its variable");
    }
    std::memcpy(variable_.initial.data() + at, &bits, std::min(bytes, sizeof bits));
  }

  // True if the value fits as a signed or as an unsigned number.
  static bool fits(const Constant& value, std::size_t bytes) {
    if (bytes >= sizeof value.bits) return true;
    const std::uint64_t above = value.bits >> (8 * bytes);
    const auto high = static_cast<std::int64_t>(value.bits) >> (8 * bytes - 1);
    return above == 0 || (value.kind == Constant::kSigned && high == -1);
  }

  // "symbol", "symbol+8", "generic(symbol)+8"
  void read_address(std::uint64_t at) {
    if (size_of(variable_.type) != 8) tokens_.unsupported("an address of less than 8 bytes");
    Variable::Address address;
    address.at = at;
    address.generic = tokens_.accept("generic");
    if (address.generic) tokens_.expect("(");
    address.symbol = tokens_.expect(Token::kWord, "the name of a variable or function").text;
    if (address.generic) tokens_.expect(")");
    if (tokens_.next().is("+") || tokens_.next().is("-")) {
      const Constant offset = read_constant(tokens_);
      if (!offset.integer()) tokens_.malformed("the offset of an address is not an integer");
      address.offset = static_cast<std::int64_t>(offset.bits);
    }
    variable_.addresses.push_back(std::move(address));
  }

  Tokens& tokens_;
  std::vector<std::uint64_t> dimensions_;
  Variable& variable_;
};

// "[2][3]": from the outermost; 0 for "[]", which only the outermost may be.
std::vector<std::uint64_t> read_dimensions(Tokens& tokens, std::size_t bytes_left) {
  constexpr std::size_t kMostDimensions = 8;
  std::vector<std::uint64_t> dimensions;
  while (tokens.accept("[")) {
    if (dimensions.size() == kMostDimensions)
      tokens.too_large("an array with more dimensions than 8");
    const bool open = tokens.next().is("]");
    if (open && !dimensions.empty()) tokens.unexpected("the size of an array");
    dimensions.push_back(open ? 0 : read_size(tokens, ~std::uint64_t{0}, "the size of an array"));
    if (!open && dimensions.back() == 0) tokens.malformed("an array has no elements");
    if (dimensions.back() > bytes_left) tokens.too_large("the variables of the module");
    tokens.expect("]");
  }
  return dimensions;
}

}  // namespace

std::optional<Type> type_of(std::string_view directive) { return found_in(kTypes, directive); }

std::optional<Space> space_of(std::string_view directive) { return found_in(kSpaces, directive); }

Type read_type(Tokens& tokens) {
  const auto type = type_of(tokens.next().text);
  if (!type && tokens.next().kind == Token::kDirective) {
    tokens.unsupported(std::string("the type ") + quoted(tokens.next().text));
  }
  if (!type) tokens.unexpected("a type");
  tokens.take();
  return *type;
}

VariableHead read_variable_head(Tokens& tokens, Space space) {
  VariableHead head;
  head.space = space;
  if (tokens.next().is(".attribute")) tokens.unsupported("the directive .attribute (__managed__)");
  if (tokens.accept(".align")) head.align = read_alignment(tokens);
  for (const auto& [vector, elements] : {std::pair{".v2", 2u}, {".v4", 4u}}) {
    if (tokens.accept(vector)) head.elements = elements;
  }
  head.type = read_type(tokens);
  if (head.type == Type::kPredicate) tokens.malformed("a predicate is not kept in memory");
  if (space == Space::kParameter && tokens.accept(".ptr")) {
    head.pointer = true;
    if (space_of(tokens.next().text)) tokens.take();
    if (tokens.accept(".align")) read_alignment(tokens);
  }
  if (head.align == 0) head.align = static_cast<std::uint32_t>(size_of(head.type)) * head.elements;
  return head;
}

Variable read_variable(Tokens& tokens, const VariableHead& head, std::size_t* bytes_left) {
  Variable variable;
  variable.name = tokens.expect(Token::kWord, "the name of a variable").text;
  variable.space = head.space;
  variable.type = head.type;
  variable.align = head.align;
  variable.external = head.external;
  variable.pointer = head.pointer;
  std::vector<std::uint64_t> dimensions = read_dimensions(tokens, *bytes_left);
  if (head.elements > 1) dimensions.push_back(head.elements);
  variable.bytes = size_of(head.type);
  for (const std::uint64_t count : dimensions) {
    variable.bytes *= count;  // neither is above bytes_left
    if (variable.bytes > *bytes_left) tokens.too_large("the variables of the module");
  }
  if (variable.bytes > *bytes_left) tokens.too_large("the variables of the module");
  *bytes_left -= variable.bytes;
  if (!tokens.next().is("=")) return variable;
  const bool can = (head.space == Space::kGlobal || head.space == Space::kConstant) &&
                   variable.bytes != 0 && !head.external;
  if (!can) tokens.unsupported("the initial value of " + quoted(variable.name));
  tokens.expect("=");
  InitialValue(tokens, std::move(dimensions), variable).read();
  return variable;
}

std::vector<Variable> read_parameters(Tokens& tokens, std::size_t* bytes_left) {
  std::vector<Variable> parameters;
  tokens.expect("(");
  if (tokens.accept(")")) return parameters;
  do {
    if (tokens.next().is(".reg")) tokens.unsupported("a parameter in a register");
    tokens.expect(".param");
    const VariableHead head = read_variable_head(tokens, Space::kParameter);
    parameters.push_back(read_variable(tokens, head, bytes_left));
    if (parameters.back().bytes == 0) tokens.unsupported("a parameter without a size");
  } while (tokens.accept(","));
  tokens.expect(")");
  return parameters;
}

}  // namespace krl::ptx
