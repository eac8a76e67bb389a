#error "unsupported on cpu: the driver interface"
