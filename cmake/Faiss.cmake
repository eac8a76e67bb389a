# FAISS, the index of retrieval: `kernelrl::faiss`. Debian's package file wants a BLAS, which must not come near libtorch
# (plugins/retrieval/index/faiss_blas.cpp has what the flat index refers to), and OpenMP of whatever compiler is used; the library is
# static, was built by g++ and needs that one's. So it is described here.
find_path(FAISS_INCLUDE faiss/IndexFlat.h REQUIRED)
find_library(FAISS_LIBRARY faiss REQUIRED)
add_library(kernelrl_faiss INTERFACE)
add_library(kernelrl::faiss ALIAS kernelrl_faiss)
target_include_directories(kernelrl_faiss SYSTEM INTERFACE ${FAISS_INCLUDE})
target_link_libraries(kernelrl_faiss INTERFACE ${FAISS_LIBRARY} kernelrl_faiss_blas -l:libgomp.so.1)
