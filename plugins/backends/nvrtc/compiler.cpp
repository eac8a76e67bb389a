// kernelrl-nvrtc: one compile by NVRTC, in a sandboxed process of its own.
//
//   kernelrl-nvrtc LIBNVRTC [OPTION…] --kernels [KERNEL…]
//   kernelrl-nvrtc LIBNVRTC --version
//
// Reads the source from 0, writes what the compiler says to 1, and the module (compiled_module.hpp)
// to kCompiledModuleDescriptor. KERNEL: names as launches write them, "scale<float, 4>". Ends with
// 0 if the source compiled, 1 if not, 2 if NVRTC itself cannot be used.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cuda/compiled_module.hpp"
#include "plugins/backends/cuda/descriptor_io.hpp"
#include "plugins/backends/cuda/resource_report.hpp"
#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"

namespace {

constexpr char kSourceName[] = "kernel.cu";
enum Exit { kCompiled = 0, kRefused = 1, kUnusable = 2 };

// The part of nvrtc.h that is used; stable since CUDA 12.
using Program = struct NvrtcProgram*;
using Status = int;
constexpr Status kSuccess = 0;

[[noreturn]] void unusable(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(kUnusable);
}

// NVRTC opens its built-in functions by their name alone, which the system finds only in a toolkit
// that is installed for it. Once they are open, by their path, the name is enough.
void open_builtins(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so.")) {
      ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
}

class Library {
 public:
  explicit Library(const char* path) : handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) unusable(::dlerror());
    load("nvrtcVersion", version);
    load("nvrtcCreateProgram", create);
    load("nvrtcAddNameExpression", add_name);
    load("nvrtcCompileProgram", compile);
    load("nvrtcGetProgramLogSize", log_size);
    load("nvrtcGetProgramLog", log);
    load("nvrtcGetCUBINSize", cubin_size);
    load("nvrtcGetCUBIN", cubin);
    load("nvrtcGetPTXSize", ptx_size);
    load("nvrtcGetPTX", ptx);
    load("nvrtcGetLoweredName", lowered_name);
    load("nvrtcGetErrorString", error_string);
  }

  Status (*version)(int* major, int* minor) = nullptr;
  Status (*create)(Program*, const char* source, const char* name, int n_headers,
                   const char* const* headers, const char* const* header_names) = nullptr;
  Status (*add_name)(Program, const char* expression) = nullptr;
  Status (*compile)(Program, int n_options, const char* const* options) = nullptr;
  Status (*log_size)(Program, std::size_t*) = nullptr;
  Status (*log)(Program, char*) = nullptr;
  Status (*cubin_size)(Program, std::size_t*) = nullptr;
  Status (*cubin)(Program, char*) = nullptr;
  Status (*ptx_size)(Program, std::size_t*) = nullptr;
  Status (*ptx)(Program, char*) = nullptr;
  Status (*lowered_name)(Program, const char* expression, const char** mangled) = nullptr;
  const char* (*error_string)(Status) = nullptr;

  void require(Status status, const char* what) const {
    if (status != kSuccess) unusable(std::string(what) + ": " + error_string(status));
  }

 private:
  template <class Function>
  void load(const char* name, Function& function) {
    void* symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) unusable(std::string("this NVRTC lacks ") + name);
    std::memcpy(&function, &symbol, sizeof symbol);
  }

  void* handle_;
};

void write(int descriptor, std::string_view bytes) {
  if (!krl::write_all(descriptor, bytes)) unusable("cannot write what was compiled");
}

// Some sources crash the compiler. That is the source's failure, so it must read like one.
extern "C" void say_that_the_compiler_crashed(int) {
  constexpr char kMessage[] = "kernel.cu: internal compiler error: NVRTC crashed\n";
  [[maybe_unused]] const ssize_t n = ::write(STDOUT_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(kRefused);
}

void catch_crashes() {
  static std::array<char, 1 << 16> stack;  // of the handler, as the crash may be a full stack
  const stack_t alternative = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = say_that_the_compiler_crashed;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    ::sigaction(signal, &action, nullptr);
  }
}

Program program_of(const Library& nvrtc, const std::string& source) {
  using namespace krl::nvrtc;
  constexpr std::size_t kHeaders = std::size(kPreludeHeaders) + 1;
  std::array<const char*, kHeaders> names{}, contents{};
  std::copy(std::begin(kPreludeHeaders), std::end(kPreludeHeaders), names.begin());
  names.back() = kPreludeName;
  contents.fill("");  // as the prelude is in front of everything
  contents.back() = kPrelude;
  Program program = nullptr;
  nvrtc.require(
      nvrtc.create(&program, source.c_str(), kSourceName, kHeaders, contents.data(), names.data()),
      "nvrtcCreateProgram");
  return program;
}

std::string log_of(const Library& nvrtc, Program program) {
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) != kSuccess || size <= 1) return {};
  std::string log(size, '\0');
  if (nvrtc.log(program, log.data()) != kSuccess) return {};
  log.resize(std::strlen(log.c_str()));
  return log;
}

std::string cubin_of(const Library& nvrtc, Program program) {
  std::size_t size = 0;
  nvrtc.require(nvrtc.cubin_size(program, &size), "nvrtcGetCUBINSize");
  std::string cubin(size, '\0');
  nvrtc.require(nvrtc.cubin(program, cubin.data()), "nvrtcGetCUBIN");
  return cubin;
}

std::string ptx_of(const Library& nvrtc, Program program) {
  std::size_t size = 0;  // with the zero at its end
  nvrtc.require(nvrtc.ptx_size(program, &size), "nvrtcGetPTXSize");
  std::string ptx(size, '\0');
  nvrtc.require(nvrtc.ptx(program, ptx.data()), "nvrtcGetPTX");
  ptx.resize(std::strlen(ptx.c_str()));
  return ptx;
}

using Words = std::vector<const char*>;  // of the command line

Status compile(const Library& nvrtc, Program program, const Words& options, const Words& kernels) {
  for (const char* kernel : kernels) {
    nvrtc.require(nvrtc.add_name(program, kernel), "nvrtcAddNameExpression");
  }
  return nvrtc.compile(program, static_cast<int>(options.size()), options.data());
}

// As whoever reads them will see it.
bool names_an_error(const std::string& messages) {
  return !krl::first_error(krl::parse_diagnostics(messages, kSourceName)).empty();
}

// What is said of a source that is refused. If NVRTC is to report what kernels use, it leaves out
// what ptxas finds wrong, as too much shared memory; so it is asked again without.
std::string why_refused(Status status, const Library& nvrtc, const std::string& source,
                        Words options, const Words& kernels) {
  std::erase_if(options, [](const char* option) { return option == krl::kReportOption; });
  const Program program = program_of(nvrtc, source);
  compile(nvrtc, program, options, kernels);
  const std::string messages = krl::split_log(log_of(nvrtc, program)).messages;
  if (names_an_error(messages)) return messages;
  return std::string(kSourceName) + ": error: " + nvrtc.error_string(status) + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) unusable("usage: kernelrl-nvrtc LIBNVRTC [OPTION…] --kernels [KERNEL…]");
  Words options, kernels;
  bool after_options = false;
  for (int i = 2; i < argc; ++i) {
    if (!after_options && std::strcmp(argv[i], "--kernels") == 0) {
      after_options = true;
    } else {
      (after_options ? kernels : options).push_back(argv[i]);
    }
  }
  open_builtins(std::filesystem::path(argv[1]).parent_path());
  const Library nvrtc(argv[1]);
  if (options.size() == 1 && std::strcmp(options[0], "--version") == 0) {
    int major = 0, minor = 0;
    nvrtc.require(nvrtc.version(&major, &minor), "nvrtcVersion");
    std::printf("%d.%d", major, minor);
    return kCompiled;
  }
  const std::string source = krl::read_all(STDIN_FILENO);
  catch_crashes();

  const Program program = program_of(nvrtc, source);
  const Status status = compile(nvrtc, program, options, kernels);
  const krl::SplitLog log = krl::split_log(log_of(nvrtc, program));
  write(STDOUT_FILENO, log.messages);
  if (status != kSuccess) {
    if (!names_an_error(log.messages)) {
      write(STDOUT_FILENO, why_refused(status, nvrtc, source, options, kernels));
    }
    return kRefused;
  }
  krl::CompiledModule module{cubin_of(nvrtc, program), ptx_of(nvrtc, program), log.report, {}};
  for (const char* kernel : kernels) {
    const char* mangled = nullptr;
    nvrtc.require(nvrtc.lowered_name(program, kernel, &mangled), "nvrtcGetLoweredName");
    module.names.emplace_back(mangled);
  }
  write(krl::kCompiledModuleDescriptor, krl::to_bytes(module));
  return kCompiled;
}
