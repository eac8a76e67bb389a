#error "unsupported on cpu: cub"
