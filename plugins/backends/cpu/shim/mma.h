#error "unsupported on cpu: tensor core operations (mma.h)"
