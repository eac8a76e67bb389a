#error "unsupported on cpu: 8-bit floats (cuda_fp8.h)"
