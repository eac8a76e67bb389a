#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::emulator {
namespace {

// What the shim turns into an error that starts with this phrase, or the compiler's words for a
// word that it forbids.
constexpr std::string_view kUnsupportedPhrase = "unsupported on cpu: ";
constexpr std::string_view kForbiddenPhrase = "attempt to use poisoned \"";

bool is_assembly(std::string_view word) {
  return word == "asm" || word == "__asm" || word == "__asm__";
}

// What decides the meaning of the shim and of a kernel, alike for both.
std::vector<std::string> language_flags() {
  return {
      "-std=c++17", "-fPIC", "-pipe",
      // -O1 compiles fastest and keeps loads where the source has them. Scalar replacement would
      // split a float4 access into four, and a sector counter would see four requests.
      "-O1", "-fno-tree-sra", "-w",
      // Line tables only, for the line of a fault.
      "-g1",
      // The hooks: one call per memory access, per basic block, per array index out of its bounds.
      "-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "--param",
      "tsan-instrument-func-entry-exit=0", "-fsanitize-coverage=trace-pc",
      "-fsanitize=bounds-strict",
      // CUDA's arithmetic: a * b + c is one rounding (nvcc's -fmad=true), nothing else is
      // reassociated.
      "-ffp-contract=fast", "-fexpensive-optimizations", "-mfma", "-mf16c", "-fwrapv",
      "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fno-math-errno",
      "-fno-trapping-math",
      // Only the shim is on the include path, and nothing is linked: what is undefined is the
      // emulator's to give or refuse.
      "-nostdinc", "-nostdinc++", "-nostdlib", "-fno-exceptions", "-fno-rtti",
      "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
      "-fstack-clash-protection", "-fcf-protection=none", "-fvisibility=hidden",
      // Shared memory is the module's thread-local storage; its address comes from the emulator's
      // __tls_get_addr.
      "-fno-extern-tls-init", "-ftls-model=global-dynamic",
      // Calls go through the global offset table, so that the emulator finds each kind of hook call
      // in the text.
      "-fno-plt",
      // Large copies stay calls: the compiler's own expansion of them would escape the hooks.
      "-mmemcpy-strategy=libcall:-1:align", "-mmemset-strategy=libcall:-1:align",
      // Messages short and bounded, no pictures.
      "-fdiagnostics-color=never", "-fno-diagnostics-show-caret", "-fmax-errors=20"};
}

}  // namespace

std::vector<std::string> compile_flags(const std::string& shim_directory) {
  std::vector<std::string> flags = language_flags();
  flags.insert(flags.end(),
               {"-x", "c++", "-", "-shared", "-include", "krl_device.h", "-I" + shim_directory,
                "-Wl,-z,noseparate-code", "-Wl,--build-id=none", "-Wl,--hash-style=sysv"});
  return flags;
}

std::vector<std::string> precompile_flags(const std::string& shim_directory) {
  std::vector<std::string> flags = language_flags();
  const std::string header = shim_directory + "/krl_device.h";
  flags.insert(flags.end(),
               {"-x", "c++-header", header, "-I" + shim_directory, "-o", header + ".gch"});
  return flags;
}

std::string module_source(std::string_view candidate, const std::vector<std::string>& kernels) {
  std::string source = "#line 1 \"kernel.cu\"\n";
  source += candidate;
  source += "\n#line 1 \"launch\"\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    source += "KRL_KERNEL(" + std::to_string(i) + ", " + kernels[i] + ")\n";
  }
  return source;
}

std::optional<std::string> unsupported_in_log(std::string_view compile_log) {
  if (const auto at = compile_log.find(kUnsupportedPhrase); at != std::string_view::npos) {
    const auto end = compile_log.find_first_of("\"\n", at);
    return std::string(compile_log.substr(at, end == std::string_view::npos ? end : end - at));
  }
  if (auto at = compile_log.find(kForbiddenPhrase); at != std::string_view::npos) {
    at += kForbiddenPhrase.size();
    const auto word = compile_log.substr(at, compile_log.find('"', at) - at);
    return std::string(kUnsupportedPhrase) +
           (is_assembly(word) ? "inline PTX" : "the word " + std::string(word));
  }
  return std::nullopt;
}

}  // namespace krl::emulator
