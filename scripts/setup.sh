#!/usr/bin/env bash
# Installs what kernelrl needs on Debian 12: packages by apt, libtorch and NVRTC from pinned PyPI wheels into .deps/python.
# Only what is missing: once all is there, a call takes a moment, needs neither root nor a network. What an earlier call's
# options have brought stays. After --cuda or --gpu build again: the next build makes what was left out without them.
#
#   scripts/setup.sh           what building and running needs
#   scripts/setup.sh --cuda    nvcc as well, for the nvcc backend, if there is no CUDA toolkit; no GPU is needed
#   scripts/setup.sh --gpu     what the local policy needs to compute on a GPU: the rest of libtorch's libraries (3.5 GB), and --cuda
#   scripts/setup.sh --tests   what the tests need as well
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  cmake ninja-build g++
  libboost1.81-dev libboost-context1.81-dev libboost-coroutine1.81-dev
  libboost-filesystem1.81-dev libboost-program-options1.81-dev
  libexpected-dev libicu-dev libpcre2-dev libprotobuf-dev libseccomp-dev libspdlog-dev libssl-dev libtomlplusplus-dev nlohmann-json3-dev
  protobuf-compiler
  python3 python3-pip             # python3 only unpacks the wheels
)
test_packages=(
  clang                           # plugins of another compiler in one process
  docker.io                       # a daemon of the tests' own
  libgmock-dev libgtest-dev
)
# libtorch for the CPU, which names two small libraries of CUDA itself; NVRTC, which compiles kernels for the cpu and nvrtc
# backends, and the headers that kernels include. No GPU is needed.
wheels=(torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85)
# nvcc with all that it starts. Other versions of nvvm and crt do not fit this nvcc.
cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88)
# What libtorch_cuda links; the versions are those that torch 2.11.0 names.
gpu_wheels=(nvidia-cublas==13.1.0.3 nvidia-cudnn-cu13==9.19.0.56 nvidia-cufft==12.0.0.61 nvidia-cufile==1.15.1.6
  nvidia-curand==10.4.0.35 nvidia-cusolver==12.0.4.66 nvidia-cusparse==12.6.3.3 nvidia-cusparselt-cu13==0.8.0
  nvidia-nccl-cu13==2.28.9 nvidia-nvjitlink==13.0.88 nvidia-nvshmem-cu13==3.4.5)
# What these read in compiled code is held against what we read, and our tokens against this library's.
test_wheels=(nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37 tokenizers==0.23.3)
# llama.cpp's HTTP server, for tests/servers/llama_server.py; the wheel is one for every Python from 3.10 on.
llama_server_wheel=xllamacpp==2026.10.11549

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
    fail "neither root nor sudo; have somebody run: $*"
  fi
}

install_packages() {
  local installed missing=() package
  command -v dpkg-query > /dev/null || fail "needs Debian 12; elsewhere install the like of: ${packages[*]}"
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

# Wheels go to a folder beside and take their place when complete: an interrupted call is repeated by the next.
install_wheels() {
  local folder=.deps/python installed missing=() wheel
  local stamp=$folder/installed-wheels
  installed=" $(cat "$stamp" 2> /dev/null || true) "
  # What other calls have installed stays, in the version that is named above.
  for wheel in "${cuda_wheels[@]}" "${gpu_wheels[@]}" "${test_wheels[@]}"; do
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

# In a folder of its own: its 100 MB come and go without the rest.
install_llama_server() {
  local folder=.deps/llama_server
  [[ ! -e $folder/$llama_server_wheel ]] || return 0
  echo "Installing into $folder: $llama_server_wheel"
  rm -rf "$folder.partial"
  install_into "$folder.partial" "$llama_server_wheel"
  touch "$folder.partial/$llama_server_wheel"
  rm -rf "$folder"
  mv "$folder.partial" "$folder"
}

tests=
for option in "$@"; do
  case $option in
    --cuda) wheels+=("${cuda_wheels[@]}") ;;
    --gpu) wheels+=("${cuda_wheels[@]}" "${gpu_wheels[@]}") ;;
    --tests)
      packages+=("${test_packages[@]}") wheels+=("${cuda_wheels[@]}" "${test_wheels[@]}")
      tests=yes
      ;;
    *) fail "unknown option '$option'; known are --cuda, --gpu and --tests" ;;
  esac
done
install_packages
install_wheels
if [[ -n $tests ]]; then
  install_llama_server
  model=.deps/models/smollm2 # a real model, small
  [[ -f $model/model.safetensors && -f $model.gguf ]] || scripts/get_smollm2.sh "$model"
fi
