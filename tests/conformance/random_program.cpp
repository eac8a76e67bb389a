// A random program: computations on a handful of registers, under predicates, in branches, loops,
// switches and calls, and exchanges between threads, in shared memory and by atomics, whose results
// do not depend on any order. No division by zero, no approximate instruction, no NaN with a
// payload: whatever the ISA leaves open is kept out of registers.
#include <map>

#include "tests/conformance/program.hpp"
#include "tests/conformance/random.hpp"

namespace krl::conformance {
namespace {

constexpr std::uint32_t kThreadsOfRandom = 64;
constexpr std::size_t kPredicates = 6;

struct Pool {  // of registers
  char prefix;
  const char* type;
  std::size_t count;
};
constexpr Pool kShortPool{'h', ".b16", 6}, kWordPool{'r', ".b32", 12}, kLongPool{'d', ".b64", 8};

const Pool& pool_of(Letter letter) {
  switch (register_type(letter)[2]) {
    case '1':
      return kShortPool;
    case '6':
      return kLongPool;
    default:
      return kWordPool;
  }
}

std::string number(std::uint64_t value) { return std::to_string(value); }

// Forms by opcode, so that one with many forms is not all that programs are made of.
class FormChoice {
 public:
  explicit FormChoice(const std::vector<Form>& forms) {
    for (const Form& form : forms) {
      if (is_usable(form)) by_opcode_[form.opcode()].push_back(&form);
    }
    for (const auto& [opcode, of_opcode] : by_opcode_) {
      const std::size_t weight = of_opcode.size() > 100 ? 6 : of_opcode.size() > 20 ? 3 : 2;
      for (std::size_t i = 0; i < weight; ++i) opcodes_.push_back(&of_opcode);
    }
  }
  const Form& choose(Random& random) const { return *random.one_of(*random.one_of(opcodes_)); }

 private:
  static bool is_usable(const Form& form) {
    const std::string opcode = form.opcode();
    // Signs of NaN in halves of a register, and positions out of a register.
    const bool open =
        (opcode == "neg" || opcode == "abs") && form.operands[0] >= 'A' && form.operands[0] <= 'Z';
    return !form.approximate() && !open && opcode != "fns" && opcode != "atom";
  }
  std::map<std::string, std::vector<const Form*>> by_opcode_;
  std::vector<const std::vector<const Form*>*> opcodes_;
};

class Writer {
 public:
  Writer(const FormChoice& forms, std::uint64_t seed)
      : forms_(forms), random_(seed * 0x2545f4914f6cdd1du + 11), name_("random" + number(seed)) {}

  Program write() {
    load_registers();
    const std::size_t length = 6 + random_.below(10);
    for (std::size_t i = 0; i < length; ++i) converged_statement();
    store_registers();
    program_.name = name_;
    program_.threads = kThreadsOfRandom;
    program_.text = outside_ + ".visible .entry " + name_ +
                    "(.param .u64 inputs, .param .u64 results) {\n" + declarations() + body_ +
                    "ret;\n}\n";
    return std::move(program_);
  }

 private:
  // ---- text ----
  void line(const std::string& text) { body_ += text + ";\n"; }
  // Parts that are drawn are drawn in their order, with every compiler.
  void line(std::initializer_list<std::string> parts) {
    for (const std::string& part : parts) body_ += part;
    body_ += ";\n";
  }
  std::string label() { return "L" + number(labels_++); }
  void place(const std::string& name) { body_ += name + ":\n"; }
  std::string reg(const Pool& pool) {
    return std::string("%") + pool.prefix + number(random_.below(pool.count));
  }
  std::string reg(Letter letter) {
    return letter == 'p' || letter == 'q' ? predicate() : reg(pool_of(letter));
  }
  std::string predicate() { return "%p" + number(random_.below(kPredicates)); }
  std::string guard() {
    const char* const sign = random_.one_in(2) ? "@" : "@!";
    return sign + predicate() + " ";
  }

  std::string declarations() {
    std::string text;
    for (const Pool& pool : {kShortPool, kWordPool, kLongPool}) {
      text +=
          std::string(".reg ") + pool.type + " %" + pool.prefix + "<" + number(pool.count) + ">;\n";
    }
    text +=
        ".reg .pred %p<6>, %q;\n.reg .b64 %in, %out, %at, %u, %v;\n"
        ".reg .b32 %t, %w, %x, %lane, %c<4>, %s;\n.reg .b16 %y;\n"
        ".shared .align 16 .b8 shared[1024];\n.shared .align 8 .b8 cells[64];\n"
        ".local .align 8 .b8 local[64];\n";
    return text;
  }

  void load_registers() {
    line("ld.param.u64 %in, [inputs]");
    line("ld.param.u64 %out, [results]");
    line("mov.u32 %t, %tid.x");
    line("mov.u32 %lane, %laneid");
    const std::string letters[] = {"heec", "rrffEC", "ddg"};
    const Pool* const pools[] = {&kShortPool, &kWordPool, &kLongPool};
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t i = 0; i < pools[p]->count; ++i) {
        const Letter letter = random_.one_of(letters[p]);
        const std::size_t first = random_.below(kColumnLength - kThreadsOfRandom);
        line("mad.wide.u32 %at, %t, 8, %in");
        line(std::string("ld.global") + pools[p]->type + " %" + pools[p]->prefix + number(i) +
             ", [%at + " + number(column_offset(letter, random_.below(4)) + first * 8) + "]");
      }
    }
    for (std::size_t i = 0; i < kPredicates; ++i) {
      line({"setp.gt.s32 %p", number(i), ", ", reg(kWordPool), ", ", reg(kWordPool)});
    }
  }

  void store_registers() {
    line("mad.wide.u32 %at, %t, 8, %out");
    for (std::size_t i = 0; i < kShortPool.count; ++i) store("cvt.u64.u16", "%h" + number(i));
    for (std::size_t i = 0; i < kWordPool.count; ++i) store("cvt.u64.u32", "%r" + number(i));
    for (std::size_t i = 0; i < kLongPool.count; ++i) store("mov.b64", "%d" + number(i));
    line("mov.b32 %w, 0");
    for (std::size_t i = 0; i < kPredicates; ++i) {
      line("selp.b32 %x, " + number(1u << i) + ", 0, %p" + number(i));
      line("or.b32 %w, %w, %x");
    }
    store("cvt.u64.u32", "%w");
  }
  void store(const std::string& widening, const std::string& from) {
    line(widening + " %u, " + from);
    line("st.global.b64 [%at + " + number(program_.slots.size() * kThreadsOfRandom * 8) + "], %u");
    program_.slots.push_back({'d', from, false});
  }

  // ---- statements ----
  // At the top all threads execute the same: they may exchange values.
  void converged_statement() {
    switch (random_.below(12)) {
      case 0:
        return shuffle();
      case 1:
        return vote();
      case 2:
        return exchange();
      case 3:
        return atomics();
      case 4:
        return block_vote();
      case 5:
        return warp_reduction();
      default:
        return statement(0);
    }
  }

  void statements(std::size_t depth) {
    const std::size_t length = 1 + random_.below(4);
    for (std::size_t i = 0; i < length; ++i) statement(depth);
  }

  void statement(std::size_t depth) {
    const std::size_t kind = random_.below(24);
    if (depth < 3) {
      if (kind == 0 || kind == 1) return branch(depth);
      if (kind == 2) return loop(depth);
      if (kind == 3) return switch_of(depth);
    }
    switch (kind) {
      case 4:
        return carry();
      case 5:
        return pack();
      case 6:
        return local_memory();
      case 7:
        return load_somewhere();
      case 8:
        return call();
      case 9:
        return special_register();
      default:
        return computation(random_.one_in(5) ? guard() : "");
    }
  }

  // A register or, sometimes, a literal.
  std::string source(const Form& form, Letter letter) {
    const bool small_only = form.opcode() == "bfe" || form.opcode() == "bfi";
    const bool is_plain = letter == 'h' || letter == 'r' || letter == 'd';
    if (!is_plain || form.name.ends_with("x2") || !random_.one_in(8)) return reg(letter);
    const std::uint64_t small = random_.below(80);
    if (letter == 'h') return number(small);
    const std::uint64_t bits = small_only || random_.one_in(2) ? small : random_.bits();
    return number(letter == 'r' ? bits & 0x7fffffff : bits & 0x7fffffffffffffff);
  }

  void computation(const std::string& under) {
    const Form& form = forms_.choose(random_);
    const std::string& operands = form.operands;
    const bool divides = form.opcode() == "div" || form.opcode() == "rem";
    std::string text = under + form.name;
    const std::string to = reg(operands[0]);
    text += " " + to;
    if (operands[0] == 'q') {
      std::string second = predicate();
      while (second == to) second = predicate();
      text += "|" + second;
    }
    for (std::size_t i = 1; i < operands.size(); ++i) {
      std::string from = i == 1 ? reg(operands[i]) : source(form, operands[i]);
      if (divides && i == 2) from = nonzero(operands[i], from);
      if (form.opcode() == "lop3" && i == 4) from = number(random_.below(256));
      text += ", " + from;
    }
    line(text);
    settle(operands[0], to);
  }
  std::string nonzero(Letter letter, const std::string& from) {
    if (letter != 'h' && letter != 'r' && letter != 'd') return from;
    const std::string to = letter == 'h' ? "%y" : letter == 'r' ? "%x" : "%v";
    line(std::string("or") + register_type(letter) + " " + to + ", " + from + ", 1");
    return to;
  }
  // What the ISA leaves open of a result is made definite.
  void settle(Letter letter, const std::string& reg) {
    const auto without_nan = [&](const char* type, const char* bits, const char* nan) {
      line(std::string("setp.nan.") + type + " %q, " + reg + ", " + reg);
      line(std::string("selp.") + bits + " " + reg + ", " + nan + ", " + reg + ", %q");
    };
    if (letter == 'f') without_nan("f32", "b32", "0x7fffffff");
    if (letter == 'g') without_nan("f64", "b64", "0x7ff8000000000000");
    if (letter == 'e') without_nan("f16", "b16", "0x7fff");
    if (letter == 'c') without_nan("bf16", "b16", "0x7fff");
    if (letter == 'T') line("and.b32 " + reg + ", " + reg + ", 0xffffe000");
  }

  // ---- control flow ----
  void condition() {
    if (random_.one_in(2)) {
      line({"setp.lt.s32 ", predicate(), ", ", reg(kWordPool), ", ", reg(kWordPool)});
    }
  }
  void branch(std::size_t depth) {
    const std::string otherwise = label(), end = label();
    condition();
    line(guard() + "bra " + otherwise);
    statements(depth + 1);
    if (random_.one_in(2)) {
      place(otherwise);
      return;
    }
    line("bra " + end);
    place(otherwise);
    statements(depth + 1);
    place(end);
  }
  void loop(std::size_t depth) {
    const std::string counter = "%c" + number(depth), head = label(), end = label();
    const std::string bits = random_.one_in(2) ? "3" : "1";
    line("and.b32 " + counter + ", " + reg(kWordPool) + ", " + bits);
    place(head);
    statements(depth + 1);
    if (random_.one_in(3)) line(guard() + "bra " + end);
    line("sub.s32 " + counter + ", " + counter + ", 1");
    line("setp.ge.s32 %q, " + counter + ", 0");
    line("@%q bra " + head);
    place(end);
  }
  void switch_of(std::size_t depth) {
    const std::string table = label(), end = label();
    std::vector<std::string> targets;
    for (std::size_t i = 0; i < 4; ++i) targets.push_back(label());
    body_ += table + ": .branchtargets " + targets[0] + ", " + targets[1] + ", " + targets[2] +
             ", " + targets[3] + ";\n";
    line("and.b32 %s, " + reg(kWordPool) + ", 3");
    line("brx.idx %s, " + table);
    for (const std::string& target : targets) {
      place(target);
      statement(depth + 2);
      line("bra " + end);
    }
    place(end);
  }
  void call() {
    const std::string callee = name_ + "_f" + number(labels_++);
    const std::string factor = number(random_.below(1000)), distance = number(random_.below(32));
    outside_ += ".func (.param .b32 r) " + callee + "(.param .b32 a, .param .b64 b) {\n" +
                ".reg .b32 %x, %y;\n.reg .b64 %z;\n.reg .pred %p;\n"
                "ld.param.b32 %x, [a];\nld.param.b64 %z, [b];\n"
                "cvt.u32.u64 %y, %z;\nsetp.lt.s32 %p, %x, %y;\n@%p bra SMALL;\n"
                "mad.lo.s32 %x, %x, " +
                factor +
                ", %y;\nbra END;\n"
                "SMALL:\nxor.b32 %x, %x, %y;\nshf.l.wrap.b32 %x, %x, %y, " +
                distance + ";\nEND:\nst.param.b32 [r], %x;\nret;\n}\n";
    body_ += "{\n.param .b32 result;\n.param .b32 first;\n.param .b64 second;\n";
    line("st.param.b32 [first], " + reg(kWordPool));
    line("st.param.b64 [second], " + reg(kLongPool));
    line("call (result), " + callee + ", (first, second)");
    line("ld.param.b32 " + reg(kWordPool) + ", [result]");
    body_ += "}\n";
  }

  // ---- data within a thread ----
  void carry() {
    const bool adds = random_.one_in(2);
    const Pool& pool = random_.one_in(2) ? kWordPool : kLongPool;
    const std::string type = pool.prefix == 'r' ? "u32" : "u64";
    const std::string first = adds ? "add" : "sub", next = adds ? "addc" : "subc";
    const auto emit = [&](const std::string& name) {
      line({name, ".", type, " ", reg(pool), ", ", reg(pool), ", ", reg(pool)});
    };
    if (adds && random_.one_in(3)) {
      const auto product = [&](const std::string& name) {
        line({name, " ", reg(kWordPool), ", ", reg(kWordPool), ", ", reg(kWordPool), ", ",
              reg(kWordPool)});
      };
      product("mad.lo.cc.u32");
      if (random_.one_in(2)) product("madc.lo.cc.u32");
      return product("madc.hi.u32");
    }
    emit(first + ".cc");
    if (random_.one_in(2)) emit(next + ".cc");
    emit(next);
  }
  void pack() {
    switch (random_.below(5)) {
      case 0:
        return line(
            {"mov.b32 ", reg(kWordPool), ", {", reg(kShortPool), ", ", reg(kShortPool), "}"});
      case 1:
        return line({"mov.b64 ", reg(kLongPool), ", {", reg(kWordPool), ", ", reg(kWordPool), "}"});
      case 2:
        return line("mov.b32 {%h0, %h1}, " + reg(kWordPool));
      case 3:
        return line({"mov.b64 {", std::string(random_.one_in(3) ? "_" : "%r0"), ", %r1}, ",
                     reg(kLongPool)});
      default:
        return line("mov.b64 {%h2, %h3, %h4, %h5}, " + reg(kLongPool));
    }
  }
  void special_register() {
    static const std::vector<std::string> kNames = {
        "%tid.x",       "%ntid.x",      "%ctaid.x",     "%nctaid.x",    "%laneid", "%lanemask_lt",
        "%lanemask_le", "%lanemask_eq", "%lanemask_gt", "%lanemask_ge", "%tid.y"};
    line({"mov.u32 ", reg(kWordPool), ", ", random_.one_of(kNames)});
  }
  void local_memory() {
    line("and.b32 %x, " + reg(kWordPool) + ", 56");
    line("cvt.u64.u32 %u, %x");
    line("mov.u64 %v, local");
    line("add.s64 %v, %v, %u");
    line("st.local.b64 [%v], " + reg(kLongPool));
    line("xor.b32 %w, " + reg(kWordPool) + ", %x");
    line("st.local.b16 [%v + 2], " + reg(kShortPool));
    line({"ld.local.s8 ", reg(kWordPool), ", [%v + ", number(random_.below(8)), "]"});
    line("ld.local.v2.b32 {%r2, %r3}, [%v]");
  }
  void load_somewhere() {
    line("and.b32 %x, " + reg(kWordPool) + ", 1023");
    line("mul.wide.u32 %u, %x, 16");
    line("add.s64 %u, %u, %in");
    const std::string at = ", [%u + " + number(16 * random_.below(100)) + "]";
    switch (random_.below(6)) {
      case 0:
        return line("ld.global.nc.v4.b32 {%r4, %r5, %r6, %r7}" + at);
      case 1:
        return line("ld.global.v2.b64 {%d1, %d2}" + at);
      case 2:
        return line("ld.global.u8 " + reg(kWordPool) + at);
      case 3:
        return line("ld.global.s16 " + reg(kWordPool) + at);
      case 4:
        return line("ld.global.nc.b64 " + reg(kLongPool) + at);
      default:
        return line("ld.v2.b16 {%h0, %h1}" + at);
    }
  }

  // ---- between threads: only where all of them are ----
  void shuffle() {
    static const std::vector<std::string> kModes = {"idx", "up", "down", "bfly"};
    const std::string mode = random_.one_of(kModes);
    // The segment's mask in the upper bits, the clamp in the lower ones: 0 for up.
    const std::uint64_t segment = 32u >> random_.below(4);
    const std::uint64_t control = (32 - segment) << 8 | (mode == "up" ? 0 : 31);
    const std::string lane = random_.one_in(2) ? number(random_.below(32)) : reg(kWordPool);
    const std::string to = reg(kWordPool);
    line({"shfl.sync.", mode, ".b32 ", to, (random_.one_in(2) ? "|" + predicate() : ""), ", ",
          reg(kWordPool), ", ", lane, ", ", number(control), ", -1"});
  }
  void vote() {
    switch (random_.below(5)) {
      case 0:
        return line({"vote.sync.ballot.b32 ", reg(kWordPool), ", ", predicate(), ", -1"});
      case 1:
        return line({"vote.sync.any.pred ", predicate(), ", ", predicate(), ", -1"});
      case 2:
        return line({"vote.sync.all.pred ", predicate(), ", !", predicate(), ", -1"});
      case 3:
        return line({"match.any.sync.b32 ", reg(kWordPool), ", ", reg(kWordPool), ", -1"});
      default:
        return line({"match.all.sync.b64 ", reg(kWordPool), "|", predicate(), ", ", reg(kLongPool),
                     ", -1"});
    }
  }
  void warp_reduction() {
    static const std::vector<std::string> kOperations = {"add.s32", "add.u32", "min.s32",
                                                         "min.u32", "max.s32", "max.u32",
                                                         "and.b32", "or.b32",  "xor.b32"};
    line({"redux.sync.", random_.one_of(kOperations), " ", reg(kWordPool), ", ", reg(kWordPool),
          ", -1"});
  }
  void block_vote() {
    switch (random_.below(3)) {
      case 0:
        return line({"bar.red.popc.u32 ", reg(kWordPool), ", 0, ", predicate()});
      case 1:
        return line({"bar.red.and.pred ", predicate(), ", 0, ", predicate()});
      default:
        return line({"bar.red.or.pred ", predicate(), ", 1, !", predicate()});
    }
  }
  void exchange() {
    const std::uint64_t other = 1 + random_.below(kThreadsOfRandom - 1);
    line("mov.u32 %w, shared");
    line("mad.lo.u32 %x, %t, 16, %w");
    line("bar.sync 0");
    line({"st.shared.v2.b64 [%x], {", reg(kLongPool), ", ", reg(kLongPool), "}"});
    line("bar.sync 0");
    line("xor.b32 %s, %t, " + number(other));
    line("mad.lo.u32 %x, %s, 16, %w");
    line("ld.shared.b64 " + reg(kLongPool) + ", [%x + 8]");
    line({"ld.shared.b32 ", reg(kWordPool), ", [%x + ", number(4 * random_.below(4)), "]"});
    line({"ld.shared.u16 ", reg(kShortPool), ", [%x + ", number(2 * random_.below(8)), "]"});
    line("bar.sync 0");
  }
  void atomics() {
    static const std::vector<std::string> kOperations = {
        "add.u32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
        "add.u64", "min.s64", "max.u64", "and.b64", "or.b64",  "xor.b64", "inc.u32"};
    const std::string operation = random_.one_of(kOperations);
    const Pool& pool = operation.ends_with("64") ? kLongPool : kWordPool;
    const bool shared = random_.one_in(2) || cells_ == Program::kCells;
    if (shared) {
      line("mov.u32 %w, cells");
      line("and.b32 %x, %t, 7");
      line("mad.lo.u32 %x, %x, 8, %w");
      line("bar.sync 0");
      line("setp.lt.u32 %q, %t, 8");
      line("mov.b64 %u, " + number(random_.bits() >> 1));
      line("@%q st.shared.b64 [%x], %u");
      line("bar.sync 0");
    }
    const std::uint64_t cell = kCellsAt + (shared ? 0 : cells_++) * 8;
    const std::string from = shared ? "[%x]" : "[%out + " + number(cell) + "]";
    const std::string space = shared ? "shared" : "global";
    std::string value = reg(pool);
    if (operation == "inc.u32") value = number(5 + random_.below(50));
    line("red." + space + "." + operation + " " + from + ", " + value);
    line("bar.sync 0");
    line("ld." + space + pool.type + " " + reg(pool) + ", " + from);
    line("bar.sync 0");
  }
  // Behind the slots of the registers and the predicates.
  static constexpr std::uint64_t kCellsAt =
      (kShortPool.count + kWordPool.count + kLongPool.count + 1) * kThreadsOfRandom * 8;

  const FormChoice& forms_;
  Random random_;
  std::string name_;
  Program program_;
  std::string outside_, body_;
  std::size_t labels_ = 0;
  std::uint64_t cells_ = 0;
};

}  // namespace

std::vector<Program> random_programs(const std::vector<Form>& forms, std::uint64_t count) {
  const FormChoice choice(forms);
  std::vector<Program> programs;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    programs.push_back(Writer(choice, seed).write());
  }
  return programs;
}

}  // namespace krl::conformance
