#error "unsupported on cpu: asynchronous barriers"
