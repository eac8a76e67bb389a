// Matrix instructions of one warp. Factors are small integers: every sum of their products is exact
// in every type, so that the order in which the hardware adds does not matter.
#include "tests/conformance/program.hpp"

namespace krl::conformance {
namespace {

constexpr std::uint32_t kWarp = 32;

// Registers of a fragment, and what is in them.
struct Fragment {
  std::string type;  // "f16": two in a register; "s8": any bits
  std::size_t count;
};
struct Product {
  std::string name;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  Fragment d, a, b, c;
};

bool is_double(const Fragment& fragment) { return fragment.type == "f64"; }
const char* register_of(const Fragment& fragment) { return is_double(fragment) ? ".b64" : ".b32"; }

class MatrixWriter {
 public:
  MatrixWriter() {
    body_ =
        ".reg .b64 %in, %out, %at, %u;\n.reg .b32 %t, %x, %y, %m;\n.reg .b16 %g, %h;\n"
        ".shared .align 128 .b8 shared[16384];\n"
        "ld.param.u64 %in, [inputs];\nld.param.u64 %out, [results];\nmov.u32 %t, %tid.x;\n"
        "mad.wide.u32 %in, %t, 8, %in;\nmad.wide.u32 %out, %t, 8, %out;\nmov.u32 %m, shared;\n";
  }

  void line(const std::string& text) { body_ += text + ";\n"; }

  // %x = a number from -8 to 7, another each time.
  void small_integer(const std::string& to) {
    line("ld.global.b32 " + to + ", [%in + " + std::to_string(column_offset('d', 2) + 8 * next_++) +
         "]");
    line("shl.b32 " + to + ", " + to + ", 28");
    line("shr.s32 " + to + ", " + to + ", 28");
  }
  void halves(const std::string& to, const std::string& type) {
    for (const char* half : {"%g", "%h"}) {
      small_integer("%x");
      line("cvt.rn.f32.s32 %y, %x");
      line("cvt.rn." + type + ".f32 " + half + ", %y");
    }
    line("mov.b32 " + to + ", {%g, %h}");
  }
  void bytes(const std::string& to, const std::string& type) {
    for (const char* pair : {"%g", "%h"}) {
      small_integer("%x");
      small_integer("%y");
      line("cvt.rn.f32.s32 %x, %x");
      line("cvt.rn.f32.s32 %y, %y");
      line("cvt.rn.satfinite." + type + "x2.f32 " + std::string(pair) + ", %x, %y");
    }
    line("mov.b32 " + to + ", {%g, %h}");
  }
  void value(const std::string& to, const std::string& type) {
    if (type == "f16" || type == "bf16") return halves(to, type);
    if (type == "e4m3" || type == "e5m2") return bytes(to, type);
    if (type == "f32" || type == "tf32") {
      small_integer("%x");
      return line("cvt.rn.f32.s32 " + to + ", %x");
    }
    if (type == "f64") {
      small_integer("%x");
      return line("cvt.rn.f64.s32 " + to + ", %x");
    }
    line("ld.global.b32 " + to + ", [%in + " + std::to_string(column_offset('d', 3) + 8 * next_++) +
         "]");
  }

  void declare(const std::string& prefix, const Fragment& fragment) {
    line(std::string(".reg ") + register_of(fragment) + " " + prefix + "<" +
         std::to_string(fragment.count) + ">");
  }
  static std::string list(const std::string& prefix, std::size_t count) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + prefix + std::to_string(i);
    }
    return text + "}";
  }
  void fill(const std::string& prefix, const Fragment& fragment) {
    declare(prefix, fragment);
    for (std::size_t i = 0; i < fragment.count; ++i) {
      value(prefix + std::to_string(i), fragment.type);
    }
  }
  void store(const std::string& reg, bool wide, const std::string& of) {
    if (!wide) line("cvt.u64.u32 %u, " + reg);
    line("st.global.b64 [%out + " + std::to_string(program_.slots.size() * kWarp * 8) + "], " +
         (wide ? reg : "%u"));
    program_.slots.push_back({'d', of, false});
  }
  void store_all(const std::string& prefix, const Fragment& fragment, const std::string& of) {
    for (std::size_t i = 0; i < fragment.count; ++i) {
      store(prefix + std::to_string(i), is_double(fragment), of);
    }
  }
  // Small integers of a type all over shared memory.
  void fill_shared(const std::string& type) {
    line(std::string(".reg ") + (type == "f64" ? ".b64" : ".b32") + " %fill");
    line("mad.lo.u32 %x, %t, 8, %m");
    for (std::size_t i = 0; i < 16; ++i) {
      value("%fill", type);
      const std::size_t step = type == "f64" ? 8 : 4;
      line("mad.lo.u32 %x, %t, " + std::to_string(step) + ", %m");
      for (std::size_t block = i; block * 32 * step < 8192; block += 16) {
        line(std::string("st.shared") + (step == 8 ? ".b64" : ".b32") + " [%x + " +
             std::to_string(block * 32 * step) + "], %fill");
      }
    }
    line("bar.sync 0");
  }

  Program finish(std::size_t number) {
    program_.name = "matrices" + std::to_string(number);
    program_.threads = kWarp;
    program_.text = ".visible .entry " + program_.name +
                    "(.param .u64 inputs, .param .u64 results) {\n" + body_ + "ret;\n}\n";
    return std::move(program_);
  }

 private:
  Program program_;
  std::string body_;
  std::size_t next_ = 0;
};

std::vector<Product> products() {
  std::vector<Product> all;
  const auto add = [&](const std::string& shape, const std::string& d, const std::string& a,
                       const std::string& b, const std::string& c, std::size_t of_d,
                       std::size_t of_a, std::size_t of_b) {
    const std::size_t of_c = c == d ? of_d : c == "f16" ? of_d / 2 : of_d * 2;
    all.push_back({"mma.sync.aligned." + shape + ".row.col." + d + "." + a + "." + b + "." + c,
                   {d, of_d},
                   {a, of_a},
                   {b, of_b},
                   {c, of_c}});
  };
  for (const std::size_t k : {1u, 2u}) {
    const std::string shape = "m16n8k" + std::to_string(8 * k);
    add(shape, "f32", "f16", "f16", "f32", 4, 2 * k, k);
    add(shape, "f16", "f16", "f16", "f16", 2, 2 * k, k);
    add(shape, "f32", "bf16", "bf16", "f32", 4, 2 * k, k);
    add("m16n8k" + std::to_string(4 * k), "f32", "tf32", "tf32", "f32", 4, 2 * k, k);
    for (const char* a : {"s8", "u8"}) {
      for (const char* b : {"s8", "u8"}) {
        add("m16n8k" + std::to_string(16 * k), "s32", a, b, "s32", 4, 2 * k, k);
      }
    }
    for (const char* a : {"s4", "u4"}) {
      for (const char* b : {"s4", "u4"}) {
        add("m16n8k" + std::to_string(32 * k), "s32", a, b, "s32", 4, 2 * k, k);
      }
    }
  }
  add("m8n8k16", "s32", "s8", "u8", "s32", 2, 1, 1);
  add("m8n8k32", "s32", "u4", "s4", "s32", 2, 1, 1);
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) add("m16n8k32", "f32", a, b, "f32", 4, 4, 2);
  }
  add("m8n8k4", "f64", "f64", "f64", "f64", 2, 1, 1);
  add("m16n8k4", "f64", "f64", "f64", "f64", 4, 2, 1);
  add("m16n8k8", "f64", "f64", "f64", "f64", 4, 4, 2);
  add("m16n8k16", "f64", "f64", "f64", "f64", 4, 8, 4);
  return all;
}

Program product_program(const Product& product, std::size_t number) {
  MatrixWriter writer;
  writer.fill("%a", product.a);
  writer.fill("%b", product.b);
  writer.fill("%c", product.c);
  writer.declare("%d", product.d);
  writer.line(product.name + " " + MatrixWriter::list("%d", product.d.count) + ", " +
              MatrixWriter::list("%a", product.a.count) + ", " +
              MatrixWriter::list("%b", product.b.count) + ", " +
              MatrixWriter::list("%c", product.c.count));
  writer.store_all("%d", product.d, product.name);
  return writer.finish(number);
}

// ldmatrix of 1, 2 and 4 matrices, as they are and transposed; stmatrix; movmatrix.
Program transport_program(std::size_t number) {
  MatrixWriter writer;
  writer.fill_shared("f16");
  writer.line(".reg .b32 %a<4>");
  for (const char* transposed : {"", ".trans"}) {
    for (const std::size_t count : {1u, 2u, 4u}) {
      const std::string name =
          "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + transposed + ".shared.b16";
      writer.line("mad.lo.u32 %x, %t, 48, %m");
      writer.line(name + " " + MatrixWriter::list("%a", count) + ", [%x]");
      writer.store_all("%a", {"f16", count}, name);
      writer.line("mad.lo.u32 %x, %t, 16, %m");
      writer.line("bar.sync 0");
      writer.line("stmatrix.sync.aligned.m8n8.x" + std::to_string(count) + transposed +
                  ".shared.b16 [%x + 8192], " + MatrixWriter::list("%a", count));
      writer.line("bar.sync 0");
      writer.line("mad.lo.u32 %x, %t, " + std::to_string(4 * count) + ", %m");
      writer.line("ld.shared.b32 %y, [%x + 8192]");
      writer.store("%y", false, "stmatrix" + name.substr(8));
      writer.line("bar.sync 0");
    }
  }
  writer.line("movmatrix.sync.aligned.m8n8.trans.b16 %y, %a0");
  writer.store("%y", false, "movmatrix");
  return writer.finish(number);
}

struct WarpProduct {
  std::string shape, a_type, d_type;
  std::size_t of_a, of_b, of_d;
};

// wmma, through shared memory: nobody knows what lies where in its fragments.
Program warp_program(const WarpProduct& product, const std::string& a_layout,
                     const std::string& b_layout, std::size_t number) {
  MatrixWriter writer;
  writer.fill_shared(product.a_type);
  const Fragment a{product.a_type, product.of_a}, b{product.a_type, product.of_b};
  const Fragment d{product.d_type, product.of_d};
  const std::string rest = product.shape + ".shared.";
  const auto load = [&](const std::string& part, const Fragment& fragment,
                        const std::string& layout, std::size_t offset) {
    writer.declare("%" + part, fragment);
    writer.line("add.u32 %x, %m, " + std::to_string(offset));
    writer.line("wmma.load." + part + ".sync.aligned." + layout + "." + rest + fragment.type + " " +
                MatrixWriter::list("%" + part, fragment.count) + ", [%x], 32");
  };
  load("a", a, a_layout, 0);
  load("b", b, b_layout, 512);
  writer.declare("%d", d);
  std::string zero = "{";
  for (std::size_t i = 0; i < d.count; ++i) {
    const std::string reg = "%e" + std::to_string(i);
    writer.line(std::string(".reg ") + register_of(d) + " " + reg);
    writer.line(std::string("mov") + register_of(d) + " " + reg + ", 0");
    zero += (i == 0 ? "" : ", ") + reg;
  }
  const std::string types = product.a_type == "f16" ? product.d_type + "." + product.d_type
                                                    : product.d_type + "." + product.a_type + "." +
                                                          product.a_type + "." + product.d_type;
  const std::string name = "wmma.mma.sync.aligned." + a_layout + "." + b_layout + "." +
                           product.shape + (product.d_type == "f64" ? ".rn." : ".") + types;
  writer.line(name + " " + MatrixWriter::list("%d", d.count) + ", " +
              MatrixWriter::list("%a", a.count) + ", " + MatrixWriter::list("%b", b.count) + ", " +
              zero + "}");
  writer.line("bar.sync 0");
  writer.line("add.u32 %x, %m, 8192");
  writer.line("wmma.store.d.sync.aligned.row." + rest + product.d_type + " [%x], " +
              MatrixWriter::list("%d", d.count) + ", 32");
  writer.line("bar.sync 0");
  // The stored matrix: what was not written is not read.
  const bool is_f64 = product.d_type == "f64";
  const std::size_t rows = is_f64 || product.shape == "m8n32k16" ? 8
                           : product.shape == "m32n8k16"         ? 32
                                                                 : 16;
  const std::size_t columns = is_f64 || product.shape == "m32n8k16" ? 8
                              : product.shape == "m8n32k16"         ? 32
                                                                    : 16;
  const std::size_t element = is_f64 ? 8 : product.d_type == "f16" ? 2 : 4;
  for (std::size_t i = 0; i < rows * columns * element / 4 / kWarp; ++i) {
    const std::size_t words = columns * element / 4, first = i * kWarp;
    writer.line("add.u32 %x, %t, " + std::to_string(first));
    writer.line("div.u32 %y, %x, " + std::to_string(words));
    writer.line("rem.u32 %x, %x, " + std::to_string(words));
    writer.line("mad.lo.u32 %y, %y, " + std::to_string(32 * element) + ", %m");
    writer.line("mad.lo.u32 %y, %x, 4, %y");
    writer.line("ld.shared.b32 %y, [%y + 8192]");
    writer.store("%y", false, name);
  }
  return writer.finish(number);
}

std::vector<WarpProduct> warp_products() {
  std::vector<WarpProduct> all;
  for (const char* shape : {"m16n16k16", "m32n8k16", "m8n32k16"}) {
    const std::string name = shape;
    const std::size_t of_a = name == "m32n8k16" ? 8 : name == "m8n32k16" ? 2 : 4;
    const std::size_t of_b = name == "m32n8k16" ? 2 : name == "m8n32k16" ? 8 : 4;
    all.push_back({name, "f16", "f32", 8, 8, 8});
    all.push_back({name, "f16", "f16", 8, 8, 4});
    all.push_back({name, "bf16", "f32", of_a, of_b, 8});
    all.push_back({name, "s8", "s32", of_a / 2, of_b / 2, 8});
    all.push_back({name, "u8", "s32", of_a / 2, of_b / 2, 8});
  }
  all.push_back({"m16n16k8", "tf32", "f32", 4, 4, 8});
  all.push_back({"m8n8k4", "f64", "f64", 1, 1, 2});
  return all;
}

}  // namespace

std::vector<Program> matrix_programs() {
  std::vector<Program> programs;
  for (const Product& product : products()) {
    programs.push_back(product_program(product, programs.size()));
  }
  programs.push_back(transport_program(programs.size()));
  for (const WarpProduct& product : warp_products()) {
    for (const char* a : {"row", "col"}) {
      for (const char* b : {"row", "col"}) {
        programs.push_back(warp_program(product, a, b, programs.size()));
      }
    }
  }
  return programs;
}

}  // namespace krl::conformance
