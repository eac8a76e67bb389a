# Packages, by `cpack --config build/release/CPackConfig.cmake` with -G DEB or -G TZST: `kernelrl`, all that a machine without a
# GPU needs, and `kernelrl-gpu`, the CUDA parts of the wheels, in the same prefix.
set(CPACK_PACKAGE_NAME kernelrl)
set(CPACK_PACKAGE_VENDOR "the kernelrl authors")
set(CPACK_PACKAGE_CONTACT "the kernelrl authors <kernelrl@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Trains language models to write CUDA kernels, and judges kernels")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL Unspecified gpu)
set(CPACK_STRIP_FILES ON)

# The archive may be unpacked anywhere: bin/kernelrl finds the rest from where it lies.
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_UNSPECIFIED_FILE_NAME kernelrl-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_GPU_FILE_NAME kernelrl-gpu-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME kernelrl)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${KERNELRL_PYTHON_DEPS}/torch/lib ${KERNELRL_PYTHON_DEPS}/nvidia/cu13/lib)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "python3, ca-certificates")
set(CPACK_DEBIAN_GPU_PACKAGE_NAME kernelrl-gpu)
set(CPACK_DEBIAN_GPU_PACKAGE_DEPENDS "kernelrl (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_GPU_DESCRIPTION "The CUDA parts of libtorch and CUDA's compilers, for kernelrl on NVIDIA GPUs")
include(CPack)
