#include "plugins/backends/docker/compile_script.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "plugins/backends/compiled/kernel_references.hpp"

namespace krl::docker {
using namespace compiled;
namespace {

constexpr std::string_view kReference = "kernelrl_kernel_";

// The next decimal number of `text`, which is cut off with the byte after it.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

// The parts of an output: their sizes, a line each, and all of them one after another.
template <std::size_t n>
std::optional<std::array<std::string_view, n>> split_parts(std::string_view output) {
  std::size_t sizes[n];
  for (std::size_t& size : sizes) {
    const auto number = take_number(output);
    if (!number) return std::nullopt;
    size = *number;
  }
  std::array<std::string_view, n> parts;
  for (std::size_t p = 0; p < n; ++p) {
    if (sizes[p] > output.size()) return std::nullopt;
    parts[p] = output.substr(0, sizes[p]);
    output.remove_prefix(sizes[p]);
  }
  return output.empty() ? std::optional(parts) : std::nullopt;
}

// Parses the lines that the script took out of the PTX; anything else among them is an error.
std::optional<std::vector<std::string>> read_names(std::string_view lines, std::size_t n_kernels) {
  DereferencedPtx taken = take_kernel_references(lines, n_kernels);
  const bool complete = std::find(taken.names.begin(), taken.names.end(), "") == taken.names.end();
  if (!complete || !taken.ptx.empty()) return std::nullopt;
  return std::move(taken.names);
}

}  // namespace

namespace {

// Takes the arguments and the input, and sets the limits of each program.
std::string begin_with(const std::string& input) {
  return R"sh(
seconds=$1 kib=$2 arch=$3
shift 3
bin=/usr/local/cuda/bin
cat > )sh" +
         input + R"sh( || exit
ulimit -v "$kib"
ulimit -St "$seconds"
ulimit -Ht "$((seconds + 1))"
)sh";
}

// From kernel.ptx, and the lines in `names`, to the parts of a module.
constexpr const char* kAssemble = R"sh(
$bin/ptxas -v -lineinfo -arch="$arch" -o kernel.cubin kernel.ptx > report 2>&1 || {
  code=$?
  cat report >&2
  exit "$code"
}
for part in kernel.cubin kernel.ptx report names; do wc -c < "$part"; done
cat kernel.cubin kernel.ptx report names
)sh";

}  // namespace

// The references are removed between nvcc and ptxas, which would give kernels whose address is
// taken more registers. To make the result independent of place and time, the folder's name is
// removed too, and the source, whose date ptxas would note.
const std::string kCompileScript = begin_with("kernel.cu") + R"sh(
reference='^\.global .* kernelrl_kernel_[0-9]* = '
$bin/nvcc -arch="$arch" -std=c++17 -lineinfo "$@" -ptx -o referenced.ptx kernel.cu >&2 || exit
grep "$reference" referenced.ptx > names
sed -e "/$reference/d" -e "/^[[:space:]]*\.file/s|$PWD/||" referenced.ptx > kernel.ptx
rm kernel.cu
)sh" + kAssemble;

const std::string kAssembleScript = begin_with("kernel.ptx") + ": > names\n" + kAssemble;

// nvcc links the files that it keeps; ptxas' report is among its errors. CUDA's runtime is in `lib`
// where the toolkit comes from wheels.
const std::string kLibraryScript = begin_with("kernel.cu") + R"sh(
$bin/nvcc -arch="$arch" -std=c++17 -lineinfo -Xptxas=-v --expt-relaxed-constexpr \
  -isystem=/usr/local/kernelrl/host "$@" --keep --keep-dir=. -shared -Xcompiler=-fPIC,-O1 \
  -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib -Xlinker=-z,defs -o kernel.so kernel.cu > log 2>&1
code=$?
cat log >&2
test "$code" -eq 0 || exit "$code"
for part in kernel.sm_*.cubin kernel.ptx kernel.so; do wc -c < "$part"; done
cat kernel.sm_*.cubin kernel.ptx kernel.so
)sh";

std::string with_kernel_references(std::string_view source,
                                   const std::vector<std::string>& kernels) {
  std::string text(source);
  text += "\n#line 1 \"launches\"\n";
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    text += "extern \"C\" __device__ const void* " + std::string(kReference) + std::to_string(k) +
            " = (const void*)&" + kernels[k] + ";\n";
  }
  return text;
}

std::optional<CompiledModule> read_module(std::string_view output, std::size_t n_kernels) {
  const auto parts = split_parts<4>(output);
  if (!parts) return std::nullopt;
  const auto& [cubin, ptx, report, lines] = *parts;
  auto names = read_names(lines, n_kernels);
  if (!names) return std::nullopt;
  return CompiledModule{std::string(cubin), std::string(ptx), std::string(report),
                        *std::move(names)};
}

std::optional<CompiledModule> read_library(std::string_view output) {
  const auto parts = split_parts<3>(output);
  if (!parts) return std::nullopt;
  const auto& [cubin, ptx, library] = *parts;
  return CompiledModule{std::string(cubin), std::string(ptx), "", {}, std::string(library)};
}

}  // namespace krl::docker
