#error "unsupported on cpu: surfaces"
