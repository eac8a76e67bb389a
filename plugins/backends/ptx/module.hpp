// A PTX module as read: names resolved, nothing interpreted. Its users decide what they support:
// the machine that executes it, the checks of what a candidate may contain, the counters of
// instructions.
//
// Plain values. Indices are valid: a Module returned by read_module contains no dangling
// references.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::ptx {

enum class Type : std::uint8_t {
  kNone,
  kPredicate,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64,
};

// Returns the size in memory, in bytes; 0 for kNone and kPredicate.
std::size_t size_of(Type type);

enum class Space : std::uint8_t {
  kGeneric,
  kGlobal,
  kConstant,
  kShared,
  kLocal,
  kParameter,
  kSharedCluster,  // only for operands: shared memory of all blocks of a cluster
};

// A place in the text.
struct Place {
  std::uint32_t line = 0;  // line of the PTX text, from 1
  // Line of the candidate's own file, from .loc; for inlined code the outermost line of that file;
  // 0: unknown. Only for messages: a candidate can write .loc itself, in inline assembly.
  std::uint32_t source = 0;
};

struct Register {
  std::string name;  // "%r12"
  Type type = Type::kNone;
};

// A variable of the module or of a function; a parameter of an entry or a function.
struct Variable {
  std::string name;
  Space space = Space::kGeneric;
  Type type = Type::kNone;         // type of an element
  std::uint64_t bytes = 0;         // total size; 0: an array without a size (dynamic shared memory)
  std::uint32_t align = 1;         // bytes, a power of two
  bool external = false;           // declared only
  bool pointer = false;            // for an entry's parameter: it has the attribute .ptr
  std::vector<std::byte> initial;  // `bytes` bytes, or none: all zeros
  // Addresses in the initial value: of a variable or function of the module, each 8 bytes.
  struct Address {
    std::uint64_t at = 0;  // offset in `initial`
    std::string symbol;
    std::int64_t offset = 0;
    bool generic = false;  // generic(symbol)
  };
  std::vector<Address> addresses;
};

struct Operand {
  enum Kind : std::uint8_t {
    kRegister,   // index: into Function::registers; `negated`: !p
    kInteger,    // bits: a literal, sign-extended to 64 bits
    kFloat32,    // bits: 0f…
    kFloat64,    // bits: 0d…, or a decimal literal
    kSpecial,    // name: "%tid.x"
    kVariable,   // a variable's address: `scope` and index say which; bits: added to it
    kFunction,   // a function's address: name, and index into Module::functions
    kLabel,      // index: into Function::body of what follows the label; or, where a name is given,
                 // into Function::targets
    kPrototype,  // name, and index into Function::prototypes
    kAddress,    // [base + offset]; elements[0]: the base (a register, variable or integer), bits:
                 // the offset
    kVector,     // {a, b, …}: elements
    kPair,       // p|q: elements[0], elements[1]
    kSink,       // _
    kList,       // (a, b, …) of a call: elements
  };
  enum Scope : std::uint8_t { kModule, kParameters, kResults, kLocals };

  Kind kind = kSink;
  bool negated = false;
  Scope scope = kModule;  // for kVariable: an index into Module::variables, Function::parameters, …
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  std::string opcode;  // "ld"
  // {"global", "nc", "v4", "f32"}; "::" stays inside: "shared::cta".
  std::vector<std::string> modifiers;
  bool guarded = false;  // @p or @!p
  Operand guard;
  std::vector<Operand> operands;
  Place place;

  bool has(std::string_view modifier) const;
  std::string full_name() const;  // "ld.global.nc.v4.f32"
};

// .branchtargets, .calltargets and .callprototype that a function declares.
struct TargetList {
  std::string name;
  std::vector<std::uint32_t> labels;   // indices into body
  std::vector<std::string> functions;  // functions of .calltargets
};
struct Prototype {
  std::string name;
  std::vector<Variable> results, parameters;
};

struct Function {
  std::string name;
  bool entry = false;
  bool external = false;  // declared, no body: "vprintf", "malloc", "__assertfail"
  bool no_return = false;
  std::vector<Variable> results, parameters;
  std::vector<Register> registers;  // registers of all scopes
  std::vector<Variable> locals;  // .local, .shared, .param, … declared in the body, of all scopes
  std::vector<Instruction> body;  // its end is never reached: the reader adds a `ret` if need be
  std::vector<TargetList> targets;
  std::vector<Prototype> prototypes;
  std::array<std::uint32_t, 3> max_threads{}, required_threads{},
      required_cluster{};         // .maxntid, .reqntid, …; 0: not given
  bool explicit_cluster = false;  // .explicitcluster
  std::uint32_t min_blocks = 0;   // .minnctapersm
  Place place;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;               // "sm_90a"
  std::vector<Variable> variables;  // in the order of their declaration
  std::vector<Function> functions;  // …; a declaration and the definition that follows are one
  std::vector<std::string> files;   // .file, by number; [0] unused
  const Function* find(std::string_view name) const;  // null if there is none
};

}  // namespace krl::ptx
