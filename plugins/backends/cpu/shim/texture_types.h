#error "unsupported on cpu: textures"
