#include "plugins/backends/nvrtc/compilation.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/compile/message_places.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"
#include "plugins/files/descriptor.hpp"

namespace krl::nvrtc {
using namespace evaluator;
using namespace compiled;
namespace {

constexpr char kHeadersEnd[] = "#pragma nv_hdrstop\n";

Program program_of(const Api& nvrtc, const std::string& source) {
  std::vector<const char*> names{kPreludeName}, contents{kPrelude};
  for (const char* name : kPreludeHeaders) {
    names.push_back(name);
    contents.push_back("");  // the prelude precedes everything
  }
  for (const StandardHeader& header : kStandardHeaders) {
    names.push_back(header.name);
    contents.push_back(header.content);
  }
  Program program = nullptr;
  nvrtc.require(nvrtc.create(&program, source.c_str(), kSourceFile, static_cast<int>(names.size()),
                             contents.data(), names.data()),
                "nvrtcCreateProgram");
  return program;
}

std::string log_of(const Api& nvrtc, Program program) {
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) != kSuccess || size <= 1) return {};
  std::string log(size, '\0');
  if (nvrtc.log(program, log.data()) != kSuccess) return {};
  log.resize(std::strlen(log.c_str()));
  return log;
}

// Empty if only PTX was asked for.
std::string cubin_of(const Api& nvrtc, Program program) {
  std::size_t size = 0;
  nvrtc.require(nvrtc.cubin_size(program, &size), "nvrtcGetCUBINSize");
  std::string cubin(size, '\0');
  if (size > 0) nvrtc.require(nvrtc.cubin(program, cubin.data()), "nvrtcGetCUBIN");
  return cubin;
}

std::string ptx_of(const Api& nvrtc, Program program) {
  std::size_t size = 0;  // includes the zero at its end
  nvrtc.require(nvrtc.ptx_size(program, &size), "nvrtcGetPTXSize");
  std::string ptx(size, '\0');
  nvrtc.require(nvrtc.ptx(program, ptx.data()), "nvrtcGetPTX");
  ptx.resize(std::strlen(ptx.c_str()));
  return ptx;
}

Status compile(const Api& nvrtc, Program program, const CompileRequest& request) {
  for (const std::string& kernel : request.kernels) {
    nvrtc.require(nvrtc.add_name(program, kernel.c_str()), "nvrtcAddNameExpression");
  }
  std::vector<const char*> options;
  for (const std::string& option : request.options) options.push_back(option.c_str());
  return nvrtc.compile(program, static_cast<int>(options.size()), options.data());
}

// Reads the messages as their reader will see them.
bool names_an_error(const std::string& messages) {
  return !first_error(parse_diagnostics(messages, kSourceFile)).empty();
}

// The messages about a rejected source. If NVRTC is to report what kernels use, it leaves out the
// errors of ptxas, such as too much shared memory; so it is asked again without.
std::string why_refused(Status status, const Api& nvrtc, CompileRequest request) {
  std::erase(request.options, kReportOption);
  const Program program = program_of(nvrtc, request.source);
  compile(nvrtc, program, request);
  const std::string messages = split_log(log_of(nvrtc, program)).messages;
  if (names_an_error(messages)) return messages;
  return std::string(kSourceFile) + ": error: " + nvrtc.error_string(status) + "\n";
}

// Returns the PTX that ptxas refused, empty if there is none: the same request for a virtual
// architecture.
std::string refused_ptx(const Api& nvrtc, CompileRequest request) {
  constexpr std::string_view kReal = "--gpu-architecture=sm_";
  std::erase(request.options, kReportOption);
  for (std::string& option : request.options) {
    if (option.starts_with(kReal)) {
      option = "--gpu-architecture=compute_" + option.substr(kReal.size());
    }
  }
  const Program program = program_of(nvrtc, request.source);
  return compile(nvrtc, program, request) == kSuccess ? ptx_of(nvrtc, program) : "";
}

// The messages about a rejected source, each with its line as far as one is known.
std::string with_places(std::string messages, const Api& nvrtc, const CompileRequest& request) {
  std::string_view source = request.source;  // begins at the candidate's first line
  const std::string before = request.preamble + kHeadersEnd;
  if (source.starts_with(before)) source.remove_prefix(source.find('\n', before.size()) + 1);
  messages = with_lines_of_launches(messages, source);
  if (!names_lines_of_ptx(messages)) return messages;
  return with_lines_of_ptx(messages, refused_ptx(nvrtc, request));
}

// Prepends the preamble; the source's lines keep their numbers.
std::string with_preamble(const std::string& preamble, const std::string& source) {
  return preamble + kHeadersEnd + "#line 1 \"" + kSourceFile + "\"\n" + source;
}

}  // namespace

void write(int descriptor, std::string_view bytes) {
  if (!files::write_all(descriptor, bytes)) throw Unusable("cannot write what was compiled");
}

bool precompile(const Api& nvrtc, const CompileRequest& request) {
  CompileRequest preamble{{}, request.preamble + kHeadersEnd, request.options, {}, 0};
  preamble.options.push_back(std::string("--create-pch=") + kPrecompiledFile);
  ::setenv("TMPDIR", ".", 1);  // applies to this process and its copies
  ::umask(0222);
  return compile(nvrtc, program_of(nvrtc, preamble.source), preamble) == kSuccess;
}

CompileRequest with_precompiled(CompileRequest request) {
  request.source = with_preamble(request.preamble, request.source);
  request.options.push_back(std::string("--use-pch=") + kPrecompiledFile);
  request.options.emplace_back("--pch-messages=false");
  return request;
}

Exit compile(const Api& nvrtc, const CompileRequest& request) {
  const Program program = program_of(nvrtc, request.source);
  const Status status = compile(nvrtc, program, request);
  SplitLog log = split_log(log_of(nvrtc, program));
  if (status != kSuccess) {
    if (!names_an_error(log.messages)) log.messages += why_refused(status, nvrtc, request);
    write(STDOUT_FILENO, with_places(std::move(log.messages), nvrtc, request));
    return kRefused;
  }
  write(STDOUT_FILENO, log.messages);
  CompiledModule module{cubin_of(nvrtc, program), ptx_of(nvrtc, program), log.report, {}};
  for (const std::string& kernel : request.kernels) {
    const char* mangled = nullptr;
    nvrtc.require(nvrtc.lowered_name(program, kernel.c_str(), &mangled), "nvrtcGetLoweredName");
    if (mangled == nullptr) {  // though it complained of nothing
      write(STDOUT_FILENO, std::string(kSourceFile) + ": error: " + kernel + " is not a kernel\n");
      return kRefused;
    }
    module.names.emplace_back(mangled);
  }
  write(kCompiledModuleDescriptor, to_bytes(module));
  return kCompiled;
}

}  // namespace krl::nvrtc
