#include "plugins/backends/triton/triton_front_end.hpp"

#include <fstream>
#include <regex>
#include <utility>

#include "plugins/backends/compiled/compute_capability.hpp"
#include "plugins/backends/evaluator/compile/warm_servers.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/process/search_path.hpp"

namespace krl::triton {
using namespace evaluator;
namespace fs = std::filesystem;
namespace {

constexpr const char* kScripts[] = {"server.py", "candidate.py", "translate.py"};

// The system's own, else the first on PATH. A script that starts another Python would not get far in
// the sandbox.
fs::path find_python(const std::string& name) {
  constexpr std::string_view kProgram = "\177ELF";
  std::vector<fs::path> folders = {"/usr/bin", "/usr/local/bin"};
  for (fs::path& folder : process::folders_on_path()) folders.push_back(std::move(folder));
  std::error_code error;
  for (const fs::path& folder : folders) {
    const fs::path file = fs::canonical(folder / name, error);
    std::string begin(kProgram.size(), '\0');
    if (!error && std::ifstream(file, std::ios::binary).read(begin.data(), kProgram.size()) &&
        begin == kProgram)
      return file;
  }
  return {};
}

WarmServerOptions server_options(const CompileSettings& settings, const TritonPackage& triton,
                                 const InstalledFiles& files) {
  const std::string scripts = files.shared_folder("triton");
  WarmServerOptions server;
  server.launcher = files.worker("kernelrl-sandbox");
  server.command = {triton.python.string(), "-I", "-S", "-B", scripts + "/" + kScripts[0],
                    triton.folder.string()};
  server.encoding = Encoding::kJson;
  server.time_limit = settings.compile_limit;
  server.rules.address_space_bytes = settings.memory_bytes;
  server.rules.cpu_seconds = settings.cpu_seconds();
  server.rules.readable =
      with_system_libraries({(triton.python.parent_path().parent_path() / "lib").string(),
                             triton.folder.string(), scripts});
  return server;
}

}  // namespace

std::optional<TritonPackage> find_triton(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "triton" / "__init__.py", error)) return std::nullopt;
  TritonPackage triton{fs::canonical(folder, error), "", {}, "python3"};
  const std::regex information(R"(triton-([0-9][^-]*)\.dist-info)"), tag(R"(Tag: cp3([0-9]+)-)");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::smatch found;
    if (!std::regex_match(name, found, information)) continue;
    triton.version = found[1];
    const std::string wheel = files::read_file_or_empty(entry.path() / "WHEEL");
    if (std::regex_search(wheel, found, tag)) triton.python_name = "python3." + found[1].str();
  }
  triton.python = find_python(triton.python_name);
  return triton;
}

FrontEnd triton_front_end(const CompileSettings& settings, const InstalledFiles& files) {
  FrontEnd front_end{"Triton", "", nullptr, ""};
  const fs::path folder = settings.triton.empty() ? fs::path(files.wheels()) : settings.triton;
  const auto triton = find_triton(folder);
  if (!triton) {
    front_end.missing =
        "Triton is not installed here: run scripts/setup.sh --triton, or set the "
        "backend's option triton to the folder that holds the package";
    return front_end;
  }
  front_end.name += " " + triton->version;
  if (triton->python.empty()) {
    front_end.missing = front_end.name + " in " + folder.string() + " needs " +
                        triton->python_name + ", which is not on PATH";
    return front_end;
  }
  const compiled::ComputeCapability target = compiled::require_arch(settings.arch);
  const std::string capability = std::to_string(10 * target.major + target.minor);
  const WarmServerOptions server = server_options(settings, *triton, files);
  files::Digest digest;
  digest.add(triton->version).add(triton->python_name).add(capability);
  digest.add(settings.memory_bytes).add(server.rules.cpu_seconds);
  for (const char* script : kScripts)
    digest.add(files::read_file_or_empty(files.shared_folder("triton") + "/" + script));
  front_end.identity = digest.hex();
  front_end.translate = [servers = std::make_shared<WarmServers>(server), capability](
                            std::string_view source, const std::vector<std::string>& kernels,
                            const Cancelled& cancelled) {
    return servers->compile({"", std::string(source), {capability}, kernels}, cancelled);
  };
  return front_end;
}

}  // namespace krl::triton
